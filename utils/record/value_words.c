/* SPDX-License-Identifier: MIT */
/* Values as words of specs: see value.h. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "arch/arch.h"
#include "arch/callconv.h"
#include "utils/record/value.h"

#define WORD 8u
#define REGISTERS_MAX 2u		/* of one value */
#define STACK_WORDS_MAX 8191u
#define RETURN_BYTES 16u

/* Of the machine that programs run on. */
static const struct ftr_callconv *convention(void)
{
	return ftr_arch_host->callconv;
}

static void place_add(struct ftr_parameter *value, enum ftr_place_kind kind, unsigned nr,
		      uint32_t bytes)
{
	if (value->place_nr < FTR_PLACES_MAX)
		value->places[value->place_nr++] = (struct ftr_place){ kind, (uint16_t)nr, bytes };
}

static struct ftr_place natural_place(bool is_float, unsigned index, uint32_t bytes)
{
	unsigned registers_nr = is_float ? convention()->vector_nr : convention()->integer_nr;

	if (index <= registers_nr)
		return (struct ftr_place){ is_float ? FTR_PLACE_VECTOR : FTR_PLACE_INTEGER,
					   (uint16_t)(index - 1), bytes };
	return (struct ftr_place){ FTR_PLACE_STACK, (uint16_t)((index - registers_nr) * WORD),
				   bytes };
}

static int register_place(struct ftr_slice name, struct ftr_parameter *value, uint32_t *left)
{
	const struct ftr_register_name *known = convention()->registers;
	uint32_t bytes = *left < WORD ? *left : WORD;

	while (known->name != NULL && (strlen(known->name) != name.len ||
				       strncasecmp(known->name, name.s, name.len) != 0))
		known++;
	if (known->name == NULL || value->place_nr == REGISTERS_MAX)
		return -EINVAL;
	*left -= bytes;
	place_add(value, known->kind, known->nr, bytes);
	return 0;
}

static int stack_place(struct ftr_slice offset, struct ftr_parameter *value, uint32_t bytes)
{
	uint64_t words;

	if (ftr_slice_starts(offset, "+"))
		offset = ftr_slice_make(offset.s + 1, offset.len - 1);
	if (ftr_parse_u64(offset, 10, &words) < 0 || words == 0 || words > STACK_WORDS_MAX)
		return -EINVAL;
	place_add(value, FTR_PLACE_STACK, (unsigned)(words * WORD), bytes);
	return 0;
}

static int said_places(struct ftr_slice where, struct ftr_parameter *value, uint32_t bytes)
{
	struct ftr_slice name;
	int ret = 0;

	if (where.len >= 5 && strncasecmp(where.s, "stack", 5) == 0)
		return stack_place(ftr_slice_make(where.s + 5, where.len - 5), value, bytes);
	while (ret == 0 && ftr_slice_split(&where, '+', &name))
		ret = register_place(name, value, &bytes);
	return ret;
}

/* Of a struct's bytes, a word in each of two registers; more are on the stack, or pointed to. */
static void natural_places(const struct ftr_arg *arg, struct ftr_parameter *value, uint32_t bytes)
{
	if (arg->format == FTR_ARG_STRUCT && bytes > RETURN_BYTES) {
		value->is_pointed = convention()->passes_addresses;
		if (value->is_pointed)
			value->places[value->place_nr++] = natural_place(false, arg->index, WORD);
		else
			place_add(value, FTR_PLACE_STACK, WORD, bytes);
		return;
	}
	value->places[value->place_nr++] = natural_place(arg->is_float_reg, arg->index, bytes);
	if (arg->format != FTR_ARG_STRUCT || bytes <= WORD)
		return;
	value->places[0].bytes = WORD;
	value->places[value->place_nr++] = natural_place(arg->is_float_reg, arg->index + 1u,
							 bytes - WORD);
}

static void retval_places(const struct ftr_arg *arg, struct ftr_parameter *value, uint32_t bytes)
{
	bool is_address = arg->format == FTR_ARG_STRUCT && bytes > RETURN_BYTES;

	if (convention()->passes_addresses &&
	    (is_address || (arg->format == FTR_ARG_FLOAT && bytes > WORD))) {
		place_add(value, FTR_PLACE_NOWHERE, 0, bytes);
		return;
	}
	if (arg->format == FTR_ARG_FLOAT) {
		place_add(value, bytes > WORD ? FTR_PLACE_X87 : FTR_PLACE_VECTOR, 0, bytes);
		return;
	}
	value->is_pointed = is_address;
	place_add(value, FTR_PLACE_RETURN, 0, bytes < WORD ? bytes : WORD);
	if (bytes > WORD && !value->is_pointed)
		place_add(value, FTR_PLACE_RETURN, 1, bytes - WORD);
}

int ftr_value_of_spec(const struct uft_arg *spec, bool is_retval, struct ftr_parameter *value)
{
	const struct ftr_arg *arg = &spec->arg;
	uint32_t bytes = arg->size;
	int ret = 0;

	*value = (struct ftr_parameter){ .type = { .kind = FTR_TYPE_UNSIGNED, .bytes = bytes } };
	if (arg->format == FTR_ARG_STRING)
		value->type.kind = arg->type_name != NULL ? FTR_TYPE_STD_STRING : FTR_TYPE_STRING;
	if (is_retval)
		retval_places(arg, value, bytes);
	else if (arg->index == 0)
		ret = -EINVAL;
	else if (spec->where.len > 0)
		ret = said_places(spec->where, value, bytes);
	else
		natural_places(arg, value, bytes);
	return ret == 0 && value->place_nr == 0 ? -EINVAL : ret;
}

/* "i32", "s", "e:color", "t16:mix"; with @is_fparg only the bits of a number. */
static void put_format(const struct ftr_parameter *value, const char *enum_name, bool is_fparg,
		       struct ftr_strbuf *text)
{
	static const char letters[] = {
		[FTR_TYPE_NONE] = 'd',	   [FTR_TYPE_SIGNED] = 'i',	[FTR_TYPE_UNSIGNED] = 'u',
		[FTR_TYPE_CHAR] = 'c',	   [FTR_TYPE_FLOAT] = 'f',	[FTR_TYPE_POINTER] = 'p',
		[FTR_TYPE_STRING] = 's',   [FTR_TYPE_STD_STRING] = 'S', [FTR_TYPE_ENUM] = 'e',
		[FTR_TYPE_OPAQUE] = 't',   [FTR_TYPE_TEXT] = 's',	[FTR_TYPE_SHAPE] = 't',
	};
	uint32_t bytes = ftr_value_bytes(value);

	ftr_strbuf_putc(text, '/');
	if (!is_fparg)
		ftr_strbuf_putc(text, letters[value->type.kind]);
	switch (value->type.kind) {
	case FTR_TYPE_SIGNED:
	case FTR_TYPE_UNSIGNED:
	case FTR_TYPE_FLOAT:
		ftr_strbuf_printf(text, "%u", bytes * 8);
		break;
	case FTR_TYPE_OPAQUE:
	case FTR_TYPE_SHAPE:
		ftr_strbuf_printf(text, "%u", bytes);
		if (value->type.name != NULL && value->type.name[0] != '\0')
			ftr_strbuf_printf(text, ":%s", value->type.name);
		break;
	case FTR_TYPE_ENUM:
		ftr_strbuf_printf(text, ":%s", enum_name);
		break;
	default:
		break;
	}
}

static const char *register_name(const struct ftr_place *place)
{
	const struct ftr_register_name *known = convention()->registers;

	while (known->name != NULL && (known->kind != place->kind || known->nr != place->nr))
		known++;
	return known->name;
}

/* Where it is, unless that is where its number says. */
static void put_places(const struct ftr_parameter *value, const struct ftr_place *natural,
		       struct ftr_strbuf *text)
{
	const struct ftr_place *place = value->places;
	unsigned i;

	if (place->kind == FTR_PLACE_NOWHERE ||
	    (value->place_nr == 1 && place->kind == natural->kind && place->nr == natural->nr))
		return;
	if (place->kind == FTR_PLACE_STACK) {
		ftr_strbuf_printf(text, "%%stack+%u", place->nr / WORD);
		return;
	}
	for (i = 0; i < value->place_nr; i++) {
		const char *name = register_name(&value->places[i]);

		if (name != NULL)
			ftr_strbuf_printf(text, "%c%s", i == 0 ? '%' : '+', name);
	}
}

void ftr_value_arg_words(const struct ftr_parameter *value, struct ftr_value_counters *counters,
			 const char *enum_name, struct ftr_strbuf *text)
{
	bool is_float = value->type.kind == FTR_TYPE_FLOAT;
	unsigned index = is_float ? ++counters->floats : ++counters->integers;
	struct ftr_place natural = natural_place(is_float, index, 0);

	if (text->len > 0)
		ftr_strbuf_putc(text, ',');
	ftr_strbuf_printf(text, is_float ? "fparg%u" : "arg%u", index);
	put_format(value, enum_name, is_float, text);
	if (value->type.kind != FTR_TYPE_TEXT)	/* which has no place of its own */
		put_places(value, &natural, text);
}

void ftr_value_retval_words(const struct ftr_parameter *value, const char *enum_name,
			    struct ftr_strbuf *text)
{
	ftr_strbuf_puts(text, "retval");
	put_format(value, enum_name, false, text);
}

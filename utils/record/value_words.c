/* SPDX-License-Identifier: MIT */
/* Values as words of specs: see value.h. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "arch/callconv.h"
#include "utils/record/value.h"

#define WORD 8u				/* of a payload */
#define REGISTERS_MAX 2u		/* of one value */
#define STACK_WORDS_MAX 8191u
#define RETURN_WORDS 2u

static void place_add(struct ftr_parameter *value, enum ftr_place_kind kind, unsigned nr,
		      uint32_t bytes)
{
	if (value->place_nr < FTR_PLACES_MAX)
		value->places[value->place_nr++] = (struct ftr_place){ kind, (uint16_t)nr, bytes };
}

static struct ftr_place natural_place(const struct ftr_callconv *convention, bool is_float,
				      unsigned index, uint32_t bytes)
{
	unsigned registers_nr = is_float ? convention->vector_nr : convention->integer_nr;

	if (index <= registers_nr)
		return (struct ftr_place){ is_float ? FTR_PLACE_VECTOR : FTR_PLACE_INTEGER,
					   (uint16_t)(index - 1), bytes };
	return (struct ftr_place){ FTR_PLACE_STACK,
				   (uint16_t)((index - registers_nr) * convention->word_bytes),
				   bytes };
}

static int register_place(const struct ftr_callconv *convention, struct ftr_slice name,
			  struct ftr_parameter *value, uint32_t *left)
{
	const struct ftr_register_name *known = convention->registers;
	uint32_t bytes = *left < convention->word_bytes ? *left : convention->word_bytes;

	while (known->name != NULL && (strlen(known->name) != name.len ||
				       strncasecmp(known->name, name.s, name.len) != 0))
		known++;
	if (known->name == NULL || value->place_nr == REGISTERS_MAX)
		return -EINVAL;
	*left -= bytes;
	place_add(value, known->kind, known->nr, bytes);
	return 0;
}

static int stack_place(const struct ftr_callconv *convention, struct ftr_slice offset,
		       struct ftr_parameter *value, uint32_t bytes)
{
	uint64_t words;

	if (ftr_slice_starts(offset, "+"))
		offset = ftr_slice_make(offset.s + 1, offset.len - 1);
	if (ftr_parse_u64(offset, 10, &words) < 0 || words == 0 || words > STACK_WORDS_MAX)
		return -EINVAL;
	place_add(value, FTR_PLACE_STACK, (unsigned)(words * convention->word_bytes), bytes);
	return 0;
}

static int said_places(const struct ftr_callconv *convention, struct ftr_slice where,
		       struct ftr_parameter *value, uint32_t bytes)
{
	struct ftr_slice name;
	int ret = 0;

	if (where.len >= 5 && strncasecmp(where.s, "stack", 5) == 0)
		return stack_place(convention, ftr_slice_make(where.s + 5, where.len - 5), value,
				   bytes);
	while (ret == 0 && ftr_slice_split(&where, '+', &name))
		ret = register_place(convention, name, value, &bytes);
	return ret;
}

/*
 * Of a struct's bytes, a word in each of two registers; more are on the stack, or pointed to.  A
 * long double beside vector registers is in none of them: where, other arguments say.
 */
static int natural_places(const struct ftr_callconv *convention, const struct ftr_arg *arg,
			   struct ftr_parameter *value, uint32_t bytes)
{
	unsigned word = convention->word_bytes;

	if (arg->format == FTR_ARG_STRUCT && bytes > RETURN_WORDS * word &&
	    convention->integer_nr > 0) {
		value->is_pointed = convention->passes_addresses;
		if (value->is_pointed)
			value->places[value->place_nr++] = natural_place(convention, false,
									 arg->index, word);
		else
			place_add(value, FTR_PLACE_STACK, word, bytes);
		return 0;
	}
	if (arg->is_float_reg && bytes > WORD && convention->vector_nr > 0)
		return -EINVAL;
	if (arg->shape != NULL && arg->index == convention->integer_nr) {	/* no half of it */
		value->places[value->place_nr++] = natural_place(convention, false,
								 arg->index + 1u, bytes);
		return 0;
	}
	value->places[value->place_nr++] = natural_place(convention, arg->is_float_reg, arg->index,
							 bytes);
	if (arg->format != FTR_ARG_STRUCT || bytes <= word || convention->integer_nr == 0)
		return 0;
	value->places[0].bytes = word;
	value->places[value->place_nr++] = natural_place(convention, arg->is_float_reg,
							 arg->index + 1u, bytes - word);
	return 0;
}

static void float_retval_place(const struct ftr_callconv *convention, struct ftr_parameter *value,
			       uint32_t bytes)
{
	bool is_x87 = bytes > WORD || convention->vector_nr == 0;

	if (convention->passes_addresses && bytes > WORD)
		place_add(value, FTR_PLACE_NOWHERE, 0, bytes);
	else
		place_add(value, is_x87 ? FTR_PLACE_X87 : FTR_PLACE_VECTOR, 0, bytes);
}

static void retval_places(const struct ftr_callconv *convention, const struct ftr_arg *arg,
			  struct ftr_parameter *value, uint32_t bytes)
{
	unsigned word = convention->word_bytes;
	bool is_address = arg->format == FTR_ARG_STRUCT &&
			  (bytes > RETURN_WORDS * word || convention->integer_nr == 0);

	if (arg->format == FTR_ARG_FLOAT) {
		float_retval_place(convention, value, bytes);
		return;
	}
	value->is_pointed = is_address;
	if (convention->passes_addresses && is_address) {
		place_add(value, FTR_PLACE_RESULT, 0, word);
		return;
	}
	place_add(value, FTR_PLACE_RETURN, 0, bytes < word ? bytes : word);
	if (bytes > word && !value->is_pointed)
		place_add(value, FTR_PLACE_RETURN, 1, bytes - word);
}

/*
 * What a value has in the program: that of a machine of 32 bits is a word, whatever room it has in
 * a payload, unless its size is said.
 */
static uint32_t bytes_of(const struct ftr_callconv *convention, const struct uft_arg *spec)
{
	const struct ftr_arg *arg = &spec->arg;
	size_t type_len = spec->word.len - spec->where.len;

	if (arg->size <= convention->word_bytes || arg->format == FTR_ARG_FLOAT ||
	    arg->format == FTR_ARG_STRUCT)
		return arg->size;
	if (memmem(spec->word.s, type_len, "64", 2) != NULL)
		return arg->size;
	return convention->word_bytes;
}

/* What is in front of it in the payload where it has more room there than in the program. */
static enum ftr_type_kind kind_of(const struct ftr_arg *arg)
{
	switch (arg->format) {
	case FTR_ARG_STRING:
		return arg->type_name != NULL ? FTR_TYPE_STD_STRING : FTR_TYPE_STRING;
	case FTR_ARG_AUTO:
	case FTR_ARG_SIGNED:
	case FTR_ARG_ENUM:
		return FTR_TYPE_SIGNED;
	default:
		return FTR_TYPE_UNSIGNED;
	}
}

int ftr_value_of_spec(const struct ftr_callconv *convention, const struct uft_arg *spec,
		      bool is_retval, struct ftr_parameter *value)
{
	const struct ftr_arg *arg = &spec->arg;
	uint32_t bytes = bytes_of(convention, spec);
	int ret = 0;

	*value = (struct ftr_parameter){ .type = { .kind = kind_of(arg), .bytes = arg->size } };
	if (is_retval)
		retval_places(convention, arg, value, bytes);
	else if (arg->index == 0)
		ret = -EINVAL;
	else if (spec->where.len > 0)
		ret = said_places(convention, spec->where, value, bytes);
	else
		ret = natural_places(convention, arg, value, bytes);
	return ret == 0 && value->place_nr == 0 ? -EINVAL : ret;
}

void ftr_value_next_on_stack(const struct ftr_callconv *convention, struct ftr_parameter *value,
			     uint32_t *stack_bytes)
{
	unsigned word = convention->word_bytes;
	uint32_t bytes = value->places[0].bytes;

	if (convention->integer_nr > 0 || value->place_nr != 1 ||
	    value->places[0].kind != FTR_PLACE_STACK)
		return;
	value->places[0].nr = (uint16_t)(word + *stack_bytes);
	*stack_bytes += bytes > word ? (bytes + word - 1) / word * word : word;
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

static const char *register_name(const struct ftr_callconv *convention,
				 const struct ftr_place *place)
{
	const struct ftr_register_name *known = convention->registers;

	while (known->name != NULL && (known->kind != place->kind || known->nr != place->nr))
		known++;
	return known->name;
}

/* Where it is, unless that is where its number says. */
static void put_places(const struct ftr_callconv *convention, const struct ftr_parameter *value,
		       const struct ftr_place *natural, struct ftr_strbuf *text)
{
	const struct ftr_place *place = value->places;
	unsigned i;

	if (place->kind == FTR_PLACE_NOWHERE ||
	    (value->place_nr == 1 && place->kind == natural->kind && place->nr == natural->nr))
		return;
	if (place->kind == FTR_PLACE_STACK) {
		ftr_strbuf_printf(text, "%%stack+%u", place->nr / convention->word_bytes);
		return;
	}
	for (i = 0; i < value->place_nr; i++) {
		const char *name = register_name(convention, &value->places[i]);

		if (name != NULL)
			ftr_strbuf_printf(text, "%c%s", i == 0 ? '%' : '+', name);
	}
}

void ftr_value_arg_words(const struct ftr_parameter *value, struct ftr_value_counters *counters,
			 const char *enum_name, struct ftr_strbuf *text)
{
	bool is_float = value->type.kind == FTR_TYPE_FLOAT;
	unsigned index = is_float ? ++counters->floats : ++counters->integers;
	struct ftr_place natural = natural_place(counters->convention, is_float, index, 0);

	if (text->len > 0)
		ftr_strbuf_putc(text, ',');
	ftr_strbuf_printf(text, is_float ? "fparg%u" : "arg%u", index);
	put_format(value, enum_name, is_float, text);
	if (value->type.kind != FTR_TYPE_TEXT)	/* which has no place of its own */
		put_places(counters->convention, value, &natural, text);
}

void ftr_value_retval_words(const struct ftr_parameter *value, const char *enum_name,
			    struct ftr_strbuf *text)
{
	ftr_strbuf_puts(text, "retval");
	put_format(value, enum_name, false, text);
}

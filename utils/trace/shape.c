/* SPDX-License-Identifier: MIT */
/* See shape.h.  Words come from a file: nothing in them leads beyond the bytes there are. */
#include "utils/trace/shape.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/trace/args.h"

#define NESTING_MAX 24
#define NODES_MAX 1000
#define NUMBER_MAX 65535
#define WORD 8u
#define COUNT_BYTES 4u			/* in front of what a pointer leads to */
#define ELEMENTS_SHOWN 16u

enum kind { SCALAR, CHARS, TEXT, STRUCT, ARRAY, POINTER };

struct ftr_shape {
	enum kind kind;
	struct ftr_arg scalar;		/* of SCALAR: its format, size, values */
	uint8_t bit, bit_nr;		/* of a bit field */
	uint32_t at, to;		/* of TEXT, POINTER */
	uint32_t nr, bytes;		/* of CHARS, TEXT, ARRAY, POINTER */
	const struct ftr_shape *inner;	/* of ARRAY, POINTER; of STRUCT its first member */

	/* As a member. */
	const char *name;		/* "" = none */
	uint32_t offset;
	const struct ftr_shape *next;
};

/* Words. */

struct parser {
	struct ftr_slice left;
	struct ftr_arena *arena;
	ftr_shape_enum_fn *find_enum;
	const void *arg;
	unsigned nesting, nr;
};

static int parse(struct parser *self, struct ftr_shape *shape);

static bool take(struct parser *self, char c)
{
	if (self->left.len == 0 || self->left.s[0] != c)
		return false;
	self->left = ftr_slice_make(self->left.s + 1, self->left.len - 1);
	return true;
}

static struct ftr_slice take_until(struct parser *self, const char *ends)
{
	struct ftr_slice taken = ftr_slice_make(self->left.s, 0);

	while (taken.len < self->left.len && strchr(ends, taken.s[taken.len]) == NULL)
		taken.len++;
	self->left = ftr_slice_make(taken.s + taken.len, self->left.len - taken.len);
	return taken;
}

static bool take_number(struct parser *self, uint32_t *number)
{
	size_t digits = 0;
	uint64_t value;

	while (digits < self->left.len && self->left.s[digits] >= '0' &&
	       self->left.s[digits] <= '9')
		digits++;
	if (ftr_parse_u64(ftr_slice_make(self->left.s, digits), 10, &value) < 0 ||
	    value > NUMBER_MAX)
		return false;
	self->left = ftr_slice_make(self->left.s + digits, self->left.len - digits);
	*number = (uint32_t)value;
	return true;
}

static struct ftr_shape *shape_new(struct parser *self)
{
	struct ftr_shape *shape = ftr_arena_alloc(self->arena, sizeof(*shape));

	if (shape != NULL)
		*shape = (struct ftr_shape){ .name = "" };
	return shape;
}

static int parse_inner(struct parser *self, struct ftr_shape *shape)
{
	struct ftr_shape *inner = shape_new(self);

	shape->inner = inner;
	return inner == NULL ? -ENOMEM : parse(self, inner);
}

static int parse_member(struct parser *self, struct ftr_shape *member)
{
	struct ftr_slice name = take_until(self, ":,}");

	member->name = ftr_arena_strndup(self->arena, name.s, name.len);
	if (member->name == NULL)
		return -ENOMEM;
	if (!take(self, ':') || !take_number(self, &member->offset) || !take(self, ':'))
		return -EINVAL;
	return parse(self, member);
}

static int parse_struct(struct parser *self, struct ftr_shape *shape)
{
	const struct ftr_shape **end = &shape->inner;

	shape->kind = STRUCT;
	if (take(self, '}'))
		return 0;
	do {
		struct ftr_shape *member = shape_new(self);
		int ret = member == NULL ? -ENOMEM : parse_member(self, member);

		if (ret < 0)
			return ret;
		*end = member;
		end = &member->next;
	} while (take(self, ','));
	return take(self, '}') ? 0 : -EINVAL;
}

static int parse_array(struct parser *self, struct ftr_shape *shape)
{
	shape->kind = ARRAY;
	if (!take_number(self, &shape->nr) || !take(self, 'x') ||
	    !take_number(self, &shape->bytes) || !take(self, ']'))
		return -EINVAL;
	return parse_inner(self, shape);
}

static int parse_pointer(struct parser *self, struct ftr_shape *shape)
{
	shape->kind = POINTER;
	if (!take_number(self, &shape->bytes) || !take(self, '>') || !take_number(self, &shape->to))
		return -EINVAL;
	return parse_inner(self, shape);
}

static int parse_text(struct parser *self, struct ftr_shape *shape)
{
	shape->kind = TEXT;
	return take_number(self, &shape->at) && take(self, '>') && take_number(self, &shape->to) &&
			       take(self, '+') && take_number(self, &shape->nr) ? 0 : -EINVAL;
}

static bool take_bits(struct parser *self, struct ftr_shape *shape)
{
	uint32_t bit, nr;

	if (!take(self, '.'))
		return true;
	if (!take_number(self, &bit) || !take(self, '+') || !take_number(self, &nr) || nr == 0 ||
	    bit + nr > 64)
		return false;
	shape->bit = (uint8_t)bit;
	shape->bit_nr = (uint8_t)nr;
	return true;
}

static int parse_scalar(struct parser *self, struct ftr_shape *shape)
{
	static const struct {
		char letter;
		enum ftr_arg_format format;
	} letters[] = {
		{ 'i', FTR_ARG_SIGNED }, { 'u', FTR_ARG_UNSIGNED }, { 'x', FTR_ARG_HEX },
		{ 'c', FTR_ARG_CHAR },	 { 'f', FTR_ARG_FLOAT },    { 'b', FTR_ARG_BOOL },
		{ 'p', FTR_ARG_POINTER }, { 'e', FTR_ARG_ENUM },    { 't', FTR_ARG_STRUCT },
	};
	struct ftr_arg *arg = &shape->scalar;
	uint32_t size;
	size_t i = 0;

	while (i < sizeof(letters) / sizeof(letters[0]) && !take(self, letters[i].letter))
		i++;
	if (i == sizeof(letters) / sizeof(letters[0]) || !take_number(self, &size))
		return -EINVAL;
	arg->format = letters[i].format;
	if (arg->format != FTR_ARG_STRUCT && (size % 8 != 0 || size == 0 || size > 80))
		return -EINVAL;
	arg->size = (uint16_t)(arg->format == FTR_ARG_STRUCT ? size : size / 8);
	if (arg->format == FTR_ARG_ENUM && take(self, ':'))
		arg->values = self->find_enum(self->arg, take_until(self, ".,}"));
	return take_bits(self, shape) ? 0 : -EINVAL;
}

static int parse(struct parser *self, struct ftr_shape *shape)
{
	int ret;

	if (self->nesting == NESTING_MAX || self->nr++ == NODES_MAX)
		return -EINVAL;
	self->nesting++;
	if (take(self, '{')) {
		ret = parse_struct(self, shape);
	} else if (take(self, '[')) {
		ret = parse_array(self, shape);
	} else if (take(self, '*')) {
		ret = parse_pointer(self, shape);
	} else if (take(self, 's')) {
		ret = parse_text(self, shape);
	} else if (take(self, 'a')) {
		shape->kind = CHARS;
		ret = take_number(self, &shape->nr) ? 0 : -EINVAL;
	} else {
		ret = parse_scalar(self, shape);
	}
	self->nesting--;
	return ret;
}

int ftr_shape_parse(const struct ftr_shape **out, struct ftr_slice words, struct ftr_arena *arena,
		    ftr_shape_enum_fn *find_enum, const void *arg)
{
	struct parser parser = { .left = words, .arena = arena, .find_enum = find_enum,
				 .arg = arg };
	struct ftr_shape *shape = shape_new(&parser);
	int ret = shape == NULL ? -ENOMEM : parse(&parser, shape);

	if (ret == 0 && parser.left.len > 0)
		ret = -EINVAL;
	if (ret == 0)
		*out = shape;
	return ret;
}

/* Text. */

struct printer {
	const uint8_t *bytes;
	size_t len;
	struct ftr_trace *trace;
	struct ftr_session *session;
	struct ftr_strbuf *text;
};

static void put(struct printer *self, const struct ftr_shape *shape, size_t base, size_t end);

static void put_cut(struct printer *self)
{
	ftr_strbuf_puts(self->text, "...");
}

static void put_scalar(struct printer *self, const struct ftr_shape *shape, size_t base)
{
	struct ftr_value value = { .arg = &shape->scalar };

	ftr_value_decode(&value, self->bytes + base, shape->scalar.size, false);
	ftr_value_format(&value, self->trace, self->session, self->text);
}

/* Of a bit field, the bytes that its bits are in. */
static size_t bits_bytes(const struct ftr_shape *shape)
{
	return (shape->bit + shape->bit_nr + 7u) / 8;
}

static void put_bits(struct printer *self, const struct ftr_shape *shape, size_t base)
{
	uint64_t bits = ftr_get_unsigned(self->bytes + base, bits_bytes(shape), false);
	unsigned unused = 64u - shape->bit_nr;
	struct ftr_value value = { .arg = &shape->scalar };

	bits = bits >> shape->bit << unused;
	if (shape->scalar.format == FTR_ARG_SIGNED)
		value.i = (int64_t)bits >> unused;
	else
		value.u = bits >> unused;
	ftr_value_format(&value, self->trace, self->session, self->text);
}

static void put_chars(struct printer *self, size_t at, size_t nr)
{
	ftr_strbuf_putc(self->text, '"');
	for (size_t i = 0; i < nr && self->bytes[at + i] != '\0'; i++)
		ftr_value_put_byte(self->text, self->bytes[at + i]);
	ftr_strbuf_putc(self->text, '"');
}

static void put_text(struct printer *self, const struct ftr_shape *shape, size_t base)
{
	if (ftr_get_unsigned(self->bytes + base + shape->at, WORD, false) == 0)
		ftr_strbuf_puts(self->text, "NULL");
	else if (base + shape->to + shape->nr > self->len)
		put_cut(self);
	else
		put_chars(self, base + shape->to, shape->nr);
}

static void put_struct(struct printer *self, const struct ftr_shape *shape, size_t base, size_t end)
{
	const struct ftr_shape *member;

	ftr_strbuf_putc(self->text, '{');
	for (member = shape->inner; member != NULL; member = member->next) {
		if (member != shape->inner)
			ftr_strbuf_puts(self->text, ", ");
		if (base + member->offset >= end) {	/* nor those behind it */
			put_cut(self);
			break;
		}
		if (member->name[0] != '\0')
			ftr_strbuf_printf(self->text, ".%s = ", member->name);
		put(self, member, base + member->offset, end);
	}
	ftr_strbuf_putc(self->text, '}');
}

static void put_array(struct printer *self, const struct ftr_shape *shape, size_t base, size_t end)
{
	ftr_strbuf_putc(self->text, '{');
	for (uint32_t i = 0; i < shape->nr; i++) {
		size_t at = base + (size_t)i * shape->bytes;

		if (i > 0)
			ftr_strbuf_puts(self->text, ", ");
		if (at >= end || i == ELEMENTS_SHOWN) {
			put_cut(self);
			break;
		}
		put(self, shape->inner, at, end);
	}
	ftr_strbuf_putc(self->text, '}');
}

static void put_pointer(struct printer *self, const struct ftr_shape *shape, size_t base)
{
	uint64_t pointer = ftr_get_unsigned(self->bytes + base, WORD, false);
	size_t at = base + shape->to;
	uint32_t have;

	if (at + COUNT_BYTES + shape->bytes > self->len) {
		put_cut(self);
		return;
	}
	have = (uint32_t)ftr_get_unsigned(self->bytes + at, COUNT_BYTES, false);
	if (have == 0 || pointer == 0) {
		ftr_strbuf_printf(self->text, "%#llx", (unsigned long long)pointer);
		return;
	}
	ftr_strbuf_putc(self->text, '&');
	at += COUNT_BYTES;
	put(self, shape->inner, at, at + (have < shape->bytes ? have : shape->bytes));
}

/* That have to be there before @end; structs and arrays look for themselves. */
static size_t needed_bytes(const struct ftr_shape *shape)
{
	switch (shape->kind) {
	case SCALAR:
		return shape->bit_nr > 0 ? bits_bytes(shape) : shape->scalar.size;
	case CHARS:
		return shape->nr;
	case TEXT:
		return shape->at + WORD;
	case POINTER:
		return WORD;
	default:
		return 0;
	}
}

static void put(struct printer *self, const struct ftr_shape *shape, size_t base, size_t end)
{
	if (base > end || needed_bytes(shape) > end - base) {
		put_cut(self);
		return;
	}
	switch (shape->kind) {
	case SCALAR:
		if (shape->bit_nr > 0)
			put_bits(self, shape, base);
		else
			put_scalar(self, shape, base);
		break;
	case CHARS:
		put_chars(self, base, shape->nr);
		break;
	case TEXT:
		put_text(self, shape, base);
		break;
	case STRUCT:
		put_struct(self, shape, base, end);
		break;
	case ARRAY:
		put_array(self, shape, base, end);
		break;
	case POINTER:
		put_pointer(self, shape, base);
		break;
	}
}

void ftr_shape_format(const struct ftr_shape *shape, const uint8_t *bytes, size_t len,
		      struct ftr_trace *trace, struct ftr_session *session, struct ftr_strbuf *text)
{
	struct printer printer = { .bytes = bytes, .len = len, .trace = trace,
				   .session = session, .text = text };

	put(&printer, shape, 0, len);
}

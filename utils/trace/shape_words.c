/* SPDX-License-Identifier: MIT */
/* The words of shapes: see shape.h. */
#include <errno.h>
#include <string.h>

#include "utils/trace/shape_node.h"

#define NESTING_MAX 24
#define NODES_MAX 1000
#define NUMBER_MAX 65535
#define WIDE_BITS 128

struct parser {
	struct ftr_slice all, left;
	const struct ftr_shape_enum **enums_end;
	struct ftr_arena *arena;
	ftr_shape_enum_fn *find_enum;
	const void *arg;
	unsigned nesting, nr;
	bool points_to_code;
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

/* Members or cases up to the brace. */
static int parse_all(struct parser *self, struct ftr_shape *shape,
		     int (*parse_one)(struct parser *self, struct ftr_shape *one))
{
	const struct ftr_shape **end = &shape->inner;

	if (take(self, '}'))
		return 0;
	do {
		struct ftr_shape *one = shape_new(self);
		int ret = -ENOMEM;

		if (one != NULL && self->nr++ < NODES_MAX)
			ret = parse_one(self, one);
		else if (one != NULL)
			ret = -EINVAL;
		if (ret < 0)
			return ret;
		*end = one;
		end = &one->next;
	} while (take(self, ','));
	return take(self, '}') ? 0 : -EINVAL;
}

static int parse_struct(struct parser *self, struct ftr_shape *shape)
{
	shape->kind = FTR_SHAPE_STRUCT;
	return parse_all(self, shape, parse_member);
}

static int parse_array(struct parser *self, struct ftr_shape *shape)
{
	shape->kind = FTR_SHAPE_ARRAY;
	if (!take_number(self, &shape->nr) || !take(self, 'x') ||
	    !take_number(self, &shape->bytes) || !take(self, ']'))
		return -EINVAL;
	return parse_inner(self, shape);
}

static int parse_pointer(struct parser *self, struct ftr_shape *shape)
{
	shape->kind = FTR_SHAPE_POINTER;
	if (!take_number(self, &shape->bytes) || !take(self, '>') || !take_number(self, &shape->to))
		return -EINVAL;
	return parse_inner(self, shape);
}

static int parse_text(struct parser *self, struct ftr_shape *shape)
{
	shape->kind = FTR_SHAPE_TEXT;
	shape->has_pointer = take_number(self, &shape->at);
	return take(self, '>') && take_number(self, &shape->to) &&
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

static int take_enum(struct parser *self, struct ftr_arg *arg)
{
	struct ftr_slice name = take_until(self, ".,}");
	struct ftr_shape_enum *there = ftr_arena_alloc(self->arena, sizeof(*there));

	if (there == NULL)
		return -ENOMEM;
	arg->values = self->find_enum(self->arg, name);
	*there = (struct ftr_shape_enum){ .at = (size_t)(name.s - self->all.s), .len = name.len,
					  .values = arg->values };
	*self->enums_end = there;
	self->enums_end = &there->next;
	return 0;
}

/* "z128": two floats of 4, 8, 12 or 16 bytes. */
static int parse_complex(struct parser *self, struct ftr_shape *shape)
{
	uint32_t bits;

	if (!take_number(self, &bits) || bits % 64 != 0 || bits == 0 || bits > 4 * 64)
		return -EINVAL;
	shape->kind = FTR_SHAPE_COMPLEX;
	shape->bytes = bits / 8;
	return 0;
}

static bool is_integer(enum ftr_arg_format format)
{
	return format == FTR_ARG_SIGNED || format == FTR_ARG_UNSIGNED || format == FTR_ARG_HEX;
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
	if (is_integer(arg->format) && size == WIDE_BITS) {
		shape->kind = FTR_SHAPE_WIDE;
		shape->bytes = size / 8;
		return 0;
	}
	if (arg->format != FTR_ARG_STRUCT && (size % 8 != 0 || size == 0 || size > 80))
		return -EINVAL;
	arg->size = (uint16_t)(arg->format == FTR_ARG_STRUCT ? size : size / 8);
	if (arg->format == FTR_ARG_ENUM && take(self, ':') && take_enum(self, arg) < 0)
		return -ENOMEM;
	if (!take_bits(self, shape))
		return -EINVAL;
	self->points_to_code |= arg->format == FTR_ARG_POINTER;
	return 0;
}

/* "@8i32" */
static int parse_part(struct parser *self, struct ftr_shape *shape)
{
	shape->kind = FTR_SHAPE_PART;
	return take_number(self, &shape->at) ? parse_inner(self, shape) : -EINVAL;
}

/* "=8+72.8*1-40.8*1": up to an "@", which is left. */
static int parse_sum(struct parser *self, struct ftr_shape *shape)
{
	struct ftr_shape_sum *sum = ftr_arena_alloc(self->arena, sizeof(*sum));

	if (sum == NULL)
		return -ENOMEM;
	*sum = (struct ftr_shape_sum){ .nr = 0 };
	shape->sum = sum;
	if (!take_number(self, &sum->divisor) || sum->divisor == 0)
		return -EINVAL;
	while (self->left.len > 0 && self->left.s[0] != '@') {
		struct ftr_shape_term *term = &sum->v[sum->nr];

		if (sum->nr++ == FTR_SHAPE_TERMS_MAX)
			return -EINVAL;
		term->is_minus = take(self, '-');
		if ((!term->is_minus && !take(self, '+')) || !take_number(self, &term->at) ||
		    !take(self, '.') || !take_number(self, &term->bytes) || term->bytes == 0 ||
		    term->bytes > FTR_SHAPE_WORD || !take(self, '*') ||
		    !take_number(self, &term->factor))
			return -EINVAL;
	}
	return 0;
}

static int parse_list_number(struct parser *self, struct ftr_shape *shape)
{
	if (take(self, '?')) {
		shape->number = FTR_SHAPE_OPEN;
		return 0;
	}
	if (take(self, '=')) {
		int ret = parse_sum(self, shape);

		shape->number = FTR_SHAPE_SUM;
		return ret == 0 && !take(self, '@') ? -EINVAL : ret;
	}
	if (!take_number(self, &shape->length))
		return -EINVAL;
	if (take(self, '-'))
		shape->number = FTR_SHAPE_ENDS;
	else if (!take(self, '@'))
		return -EINVAL;
	return 0;
}

/* One shape for each bit of a byte. */
static int bits_make(struct parser *self, struct ftr_shape *shape)
{
	const struct ftr_shape *inner = shape->inner;

	if (inner->kind != FTR_SHAPE_SCALAR || inner->scalar.size != 1 || inner->bit_nr > 0)
		return -EINVAL;
	shape->inner = NULL;
	for (uint8_t bit = FTR_SHAPE_BITS; bit-- > 0;) {
		struct ftr_shape *one = shape_new(self);

		if (one == NULL)
			return -ENOMEM;
		*one = *inner;
		one->bit = bit;
		one->bit_nr = 1;
		one->next = shape->inner;
		shape->inner = one;
	}
	return 0;
}

/* "n8-0x4>24+64i32" */
static int parse_list(struct parser *self, struct ftr_shape *shape)
{
	int ret = parse_list_number(self, shape);
	bool is_bits;

	shape->kind = FTR_SHAPE_LIST;
	if (ret < 0)
		return ret;
	if (!take_number(self, &shape->at) || !take(self, 'x') ||
	    !take_number(self, &shape->bytes) || !take(self, '>') ||
	    !take_number(self, &shape->to) || !take(self, '+') || !take_number(self, &shape->nr))
		return -EINVAL;
	is_bits = shape->bytes == 0 && shape->nr > 0;
	if (shape->bytes == 0 &&
	    (shape->number == FTR_SHAPE_ENDS || shape->number == FTR_SHAPE_OPEN))
		return -EINVAL;
	ret = parse_inner(self, shape);
	return ret == 0 && is_bits ? bits_make(self, shape) : ret;
}

static int parse_case(struct parser *self, struct ftr_shape *one)
{
	struct ftr_slice value = take_until(self, "=,}"), name;

	one->is_default = value.len == 0;
	if ((!one->is_default && ftr_parse_u64(value, 10, &one->value) < 0) || !take(self, '='))
		return -EINVAL;
	name = take_until(self, ":,}");
	one->name = ftr_arena_strndup(self->arena, name.s, name.len);
	if (one->name == NULL)
		return -ENOMEM;
	one->is_name_only = !take(self, ':');
	if (one->is_name_only)
		return 0;
	return take_number(self, &one->offset) && take(self, ':') ? parse(self, one) : -EINVAL;
}

/* "|0+4{0=None,1=Some:0:{__0:4:i32}}" */
static int parse_variant(struct parser *self, struct ftr_shape *shape)
{
	shape->kind = FTR_SHAPE_VARIANT;
	if (!take_number(self, &shape->at) || !take(self, '+') ||
	    !take_number(self, &shape->bytes) || shape->bytes == 0 ||
	    shape->bytes > FTR_SHAPE_WORD || !take(self, '{'))
		return -EINVAL;
	return parse_all(self, shape, parse_case);
}

static int parse(struct parser *self, struct ftr_shape *shape)
{
	int ret;

	if (self->nesting == NESTING_MAX || self->nr++ >= NODES_MAX)
		return -EINVAL;
	self->nesting++;
	if (take(self, '{')) {
		ret = parse_struct(self, shape);
	} else if (take(self, '[')) {
		ret = parse_array(self, shape);
	} else if (take(self, '*')) {
		ret = parse_pointer(self, shape);
	} else if (take(self, '@')) {
		ret = parse_part(self, shape);
	} else if (take(self, 'n')) {
		ret = parse_list(self, shape);
	} else if (take(self, '|')) {
		ret = parse_variant(self, shape);
	} else if (take(self, 's')) {
		ret = parse_text(self, shape);
	} else if (take(self, 'z')) {
		ret = parse_complex(self, shape);
	} else if (take(self, 'a')) {
		shape->kind = FTR_SHAPE_CHARS;
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
	char *copy = ftr_arena_strndup(arena, words.s, words.len);
	struct parser parser = { .arena = arena, .find_enum = find_enum, .arg = arg };
	struct ftr_shape *shape = shape_new(&parser);
	int ret;

	if (copy == NULL || shape == NULL)
		return -ENOMEM;
	parser.all = parser.left = shape->words = ftr_slice_make(copy, words.len);
	parser.enums_end = &shape->enums;
	ret = parse(&parser, shape);
	shape->points_to_code = parser.points_to_code;
	if (ret == 0 && parser.left.len > 0)
		ret = -EINVAL;
	if (ret == 0)
		*out = shape;
	return ret;
}

int ftr_shape_words(const struct ftr_shape *shape, ftr_shape_enum_name_fn *enum_name, void *arg,
		    struct ftr_strbuf *words)
{
	const struct ftr_shape_enum *one;
	size_t done = 0;

	for (one = shape->enums; one != NULL; one = one->next) {
		const char *name = one->values == NULL ? "" : enum_name(arg, one->values);

		if (name == NULL)
			return -ENOMEM;
		ftr_strbuf_put(words, shape->words.s + done, one->at - done);
		ftr_strbuf_puts(words, name);
		done = one->at + one->len;
	}
	ftr_strbuf_put(words, shape->words.s + done, shape->words.len - done);
	return words->failed ? -ENOMEM : 0;
}

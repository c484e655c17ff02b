/* SPDX-License-Identifier: MIT */
/* Parsing argument specs and enumerations. */
#include "utils/format/uftrace/spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/err.h"
#include "utils/trace/shape_node.h"

#define ARG_INDEX_MAX 100
#define STRUCT_BYTES_MAX 1024
#define WIDE_BITS 128

static const struct {
	char letter;
	enum ftr_arg_format format;
	uint8_t size;		/* bytes when none are given; 0 = a long */
} letters[] = {
	{ 'd', FTR_ARG_AUTO,	 0 },
	{ 'i', FTR_ARG_SIGNED,	 0 },
	{ 'u', FTR_ARG_UNSIGNED, 0 },
	{ 'x', FTR_ARG_HEX,	 0 },
	{ 'o', FTR_ARG_OCTAL,	 0 },
	{ 's', FTR_ARG_STRING,	 0 },
	{ 'S', FTR_ARG_STRING,	 0 },
	{ 'c', FTR_ARG_CHAR,	 1 },
	{ 'f', FTR_ARG_FLOAT,	 8 },
	{ 'p', FTR_ARG_POINTER,	 0 },
	{ 'e', FTR_ARG_ENUM,	 0 },
	{ 't', FTR_ARG_STRUCT,	 0 },
};

/*
 * Integers of 128 bits: to uftrace, which has no such size, structs whose name is none of C's.
 */
static const struct ftr_shape wide[] = {
	{ .kind = FTR_SHAPE_WIDE, .scalar = { .format = FTR_ARG_SIGNED }, .bytes = WIDE_BITS / 8,
	  .name = "128i", .words = { "i128", 4 } },
	{ .kind = FTR_SHAPE_WIDE, .scalar = { .format = FTR_ARG_UNSIGNED }, .bytes = WIDE_BITS / 8,
	  .name = "128u", .words = { "u128", 4 } },
	{ .kind = FTR_SHAPE_WIDE, .scalar = { .format = FTR_ARG_HEX }, .bytes = WIDE_BITS / 8,
	  .name = "128x", .words = { "x128", 4 } },
};

static bool wide_make(struct ftr_arg *arg)
{
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
		if (wide[i].scalar.format != arg->format)
			continue;
		arg->format = FTR_ARG_STRUCT;
		arg->size = WIDE_BITS / 8;
		arg->type_name = wide[i].name;
		arg->shape = &wide[i];
		return true;
	}
	return false;
}

static bool take_number(struct ftr_slice *text, uint64_t *number)
{
	size_t len = 0;
	struct ftr_slice digits;

	while (len < text->len && text->s[len] >= '0' && text->s[len] <= '9')
		len++;
	digits = ftr_slice_make(text->s, len);
	if (len == 0 || ftr_parse_u64(digits, 10, number) < 0)
		return false;
	text->s += len;
	text->len -= len;
	return true;
}

/* Sizes are bits, except a struct's: bytes, 0 of an empty one. */
static bool size_is_valid(const struct ftr_arg *arg, uint64_t bits, bool is_strict)
{
	if (arg->format == FTR_ARG_STRUCT)
		return bits <= STRUCT_BYTES_MAX;
	if (is_strict && arg->format == FTR_ARG_FLOAT && bits < 32)
		return false;
	return bits == 8 || bits == 16 || bits == 32 || bits == 64 ||
	       (bits == 80 && arg->format == FTR_ARG_FLOAT);
}

static int type_name(struct ftr_arg *arg, struct ftr_slice name,
		     const struct uft_spec_reader *reader)
{
	if (name.len == 0)
		return 0;
	arg->type_name = ftr_arena_strndup(reader->arena, name.s, name.len);
	if (arg->type_name == NULL)
		return -ENOMEM;
	for (int i = 0; i < 2 && arg->format == FTR_ARG_ENUM && arg->values == NULL; i++) {
		if (reader->enums[i] != NULL)
			arg->values = uft_enums_find(reader->enums[i], name);
	}
	for (int i = 0; i < 2 && arg->format == FTR_ARG_STRUCT && arg->shape == NULL; i++) {
		if (reader->enums[i] != NULL)
			arg->shape = uft_shape_find(reader->enums[i], name);
	}
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
		if (arg->format == FTR_ARG_STRUCT && arg->size == WIDE_BITS / 8 &&
		    strcmp(arg->type_name, wide[i].name) == 0)
			arg->shape = &wide[i];
	}
	return 0;
}

static int wrong(struct uft_layout *layout, const char *at, const char *what)
{
	layout->wrong = what;
	layout->wrong_at = at;
	return -EINVAL;
}

/* What users are to say of a format, and files may leave out; NULL: nothing is missing. */
static const char *format_lacks(const struct ftr_arg *arg, char letter, struct ftr_slice name,
				bool has_size)
{
	if (arg->is_float_reg && arg->format != FTR_ARG_FLOAT)
		return "a floating-point argument has a size alone: 32, 64 or 80";
	if (letter == 'e' && name.len < 2)
		return "an enumeration has a name: e:NAME";
	if (letter == 't' && (!has_size || arg->size == 0))
		return "a struct has a size in bytes: t16, t16:NAME";
	return NULL;
}

/* What follows the slash: "i32", "64" (of a float), "e:color", "t8:pt". */
static int format_parse(struct uft_layout *layout, struct ftr_arg *arg, struct ftr_slice text,
			const struct uft_spec_reader *reader)
{
	const char *size_at, *lacks;
	bool has_size;
	uint64_t number;
	char letter = text.len > 0 ? text.s[0] : '\0';
	size_t row;

	for (row = 0; row < sizeof(letters) / sizeof(letters[0]); row++) {
		if (text.len > 0 && letters[row].letter == text.s[0])
			break;
	}
	if (row < sizeof(letters) / sizeof(letters[0])) {
		arg->format = letters[row].format;
		arg->size = letters[row].size != 0 ? letters[row].size : reader->is_32 ? 4 : 8;
		if (text.s[0] == 'S')
			arg->type_name = "std::string";
		text.s++;
		text.len--;
	} else if (!arg->is_float_reg) {
		return wrong(layout, text.s, "a format is one of d i u x o s S c f p e t");
	}
	size_at = text.s;
	has_size = take_number(&text, &number);
	if (has_size && number == WIDE_BITS && wide_make(arg))
		return text.len == 0 ? 0 : wrong(layout, text.s, "nothing like this belongs to it");
	if (has_size) {
		if (!size_is_valid(arg, number, reader->is_strict))
			return wrong(layout, size_at, arg->format == FTR_ARG_STRUCT ?
				     "a struct has at most 1024 bytes" :
				     "a size is 8, 16, 32 or 64 bits, of i, u and x also 128, of a "
				     "floating-point number 32, 64 or 80");
		arg->size = (uint16_t)(arg->format == FTR_ARG_STRUCT ? number : number / 8);
	}
	lacks = reader->is_strict ? format_lacks(arg, letter, text, has_size) : NULL;
	if (lacks != NULL)
		return wrong(layout, size_at, lacks);
	if (text.len > 0 && text.s[0] == ':')
		return type_name(arg, ftr_slice_make(text.s + 1, text.len - 1), reader);
	return text.len == 0 ? 0 : wrong(layout, text.s, "nothing like this belongs to a format");
}

/* "arg3", "fparg1", "retval".  -ENOENT: another word. */
static int place_parse(struct ftr_arg *arg, struct ftr_slice place, enum uft_spec_kind *kind)
{
	uint64_t index;

	*kind = UFT_SPEC_RETVAL;
	if (ftr_slice_eq(place, "retval"))
		return 0;
	*kind = UFT_SPEC_ARGS;
	arg->is_float_reg = ftr_slice_starts(place, "fparg");
	if (!arg->is_float_reg && !ftr_slice_starts(place, "arg"))
		return -ENOENT;
	place.s += arg->is_float_reg ? 5 : 3;
	place.len -= arg->is_float_reg ? 5 : 3;
	if (!take_number(&place, &index) || place.len > 0 || index > ARG_INDEX_MAX)
		return -ENOENT;
	arg->index = (uint8_t)index;
	if (arg->is_float_reg) {
		arg->format = FTR_ARG_FLOAT;
		arg->size = 8;
	}
	return 0;
}

static int layout_put(struct uft_layout *layout, const struct uft_arg *one)
{
	for (size_t i = 0; i < layout->args.nr; i++) {
		struct uft_arg *there = &layout->args.v[i];

		if (there->arg.index == one->arg.index &&
		    there->arg.is_float_reg == one->arg.is_float_reg) {
			if (one->is_exact || !there->is_exact)
				*there = *one;
			return 0;
		}
	}
	return ftr_vec_push(&layout->args, *one);
}

static int word_add(struct uft_layout *layout, struct ftr_slice word, enum uft_spec_kind wanted,
		    bool is_exact, const struct uft_spec_reader *reader)
{
	struct uft_arg one = { .is_exact = is_exact, .word = word };
	struct ftr_slice place, rest, text = word;
	enum uft_spec_kind kind;
	bool has_format;
	int ret;

	one.arg = (struct ftr_arg){ .format = FTR_ARG_AUTO, .size = reader->is_32 ? 4 : 8 };
	ftr_slice_split(&text, '%', &rest);
	one.where = text;
	if (reader->is_strict && text.len == 0 && rest.len < word.len)
		return wrong(layout, word.s + word.len, "a register or stack+N is expected here");
	has_format = reader->is_strict && rest.len > 0 && memchr(rest.s, '/', rest.len) != NULL;
	ftr_slice_split(&rest, '/', &place);
	ret = place_parse(&one.arg, place, &kind);
	if (ret == -ENOENT && reader->is_strict)
		return wrong(layout, word.s, "a value is arg1 to arg100, fparg1 to fparg100 or "
			     "retval");
	if (ret == -ENOENT)		/* a module's name, another action */
		return 0;
	if (kind != wanted)
		return 0;
	if (has_format || rest.len > 0)
		ret = format_parse(layout, &one.arg, rest, reader);
	return ret < 0 ? ret : layout_put(layout, &one);
}

int uft_layout_add(struct uft_layout *layout, struct ftr_slice words, enum uft_spec_kind kind,
		   bool is_exact, const struct uft_spec_reader *reader)
{
	struct ftr_slice word;
	int ret = 0;

	while (ret != -ENOMEM && ftr_slice_split(&words, ',', &word)) {
		int one = word_add(layout, ftr_slice_trim(word), kind, is_exact, reader);

		if (one < 0)
			ret = one;
	}
	return ret;
}

const struct ftr_argspec *uft_layout_finish(struct uft_layout *layout, struct ftr_arena *arena)
{
	size_t bytes = layout->args.nr * sizeof(struct ftr_arg);
	struct ftr_argspec *spec = NULL;

	if (layout->args.nr > 0)
		spec = ftr_arena_alloc(arena, sizeof(*spec) + bytes);
	if (spec != NULL) {
		spec->nr = (uint16_t)layout->args.nr;
		for (size_t i = 0; i < layout->args.nr; i++)
			spec->args[i] = layout->args.v[i].arg;
	}
	ftr_vec_fini(&layout->args);
	return spec;
}

const struct ftr_arg_enum *uft_enums_find(const struct uft_enums *enums, struct ftr_slice name)
{
	const struct ftr_arg_enum *found;

	found = ftr_hashmap_find(&enums->by_name, ftr_hash_bytes(name.s, name.len));
	return found != NULL && ftr_slice_eq(name, found->name) ? found : NULL;
}

typedef FTR_VEC(struct ftr_arg_enumerator) enumerator_vec;

/* The greatest first; of equal ones the last. */
static int enumerator_compare(const void *a, const void *b)
{
	const struct ftr_arg_enumerator *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return 0;
}

static int number_parse(struct ftr_slice text, int64_t *value)
{
	bool is_negative = text.len > 0 && text.s[0] == '-';
	unsigned base = 10;
	uint64_t number;

	if (is_negative)
		text = ftr_slice_make(text.s + 1, text.len - 1);
	if (ftr_slice_starts(text, "0x") || ftr_slice_starts(text, "0X")) {
		text = ftr_slice_make(text.s + 2, text.len - 2);
		base = 16;
	} else if (text.len > 1 && text.s[0] == '0') {
		base = 8;
	}
	if (ftr_parse_u64(text, base, &number) < 0)
		return -EINVAL;
	*value = (int64_t)(is_negative ? 0 - number : number);
	return 0;
}

/* "NAME" or "NAME = NUMBER". */
static int enumerator_parse(enumerator_vec *values, struct ftr_slice text, int64_t *next,
			    struct ftr_arena *arena)
{
	struct ftr_arg_enumerator one;
	struct ftr_slice name;

	ftr_slice_split(&text, '=', &name);
	name = ftr_slice_trim(name);
	text = ftr_slice_trim(text);
	if (name.len == 0 || (text.len > 0 && number_parse(text, next) < 0))
		return -EINVAL;
	one.name = ftr_arena_strndup(arena, name.s, name.len);
	if (one.name == NULL)
		return -ENOMEM;
	one.value = *next;
	*next = (int64_t)((uint64_t)*next + 1);
	return ftr_vec_push(values, one);
}

static int enum_finish(struct uft_enums *enums, struct ftr_slice name, enumerator_vec *values,
		       struct ftr_arena *arena)
{
	struct ftr_arg_enum *made = ftr_arena_alloc(arena, sizeof(*made));
	struct ftr_arg_enumerator *kept;

	kept = ftr_arena_alloc(arena, (values->nr + 1) * sizeof(*kept));
	if (made == NULL || kept == NULL)
		return -ENOMEM;
	/* Reversed first: the sort keeps the order of equal ones. */
	for (size_t i = 0; i < values->nr; i++)
		kept[i] = values->v[values->nr - 1 - i];
	qsort(kept, values->nr, sizeof(*kept), enumerator_compare);
	made->name = ftr_arena_strndup(arena, name.s, name.len);
	made->values = kept;
	made->nr = (uint32_t)values->nr;
	if (made->name == NULL)
		return -ENOMEM;
	return ftr_hashmap_set(&enums->by_name, ftr_hash_bytes(name.s, name.len), made);
}

/* "enum NAME { A, B = 4, }". */
static int enum_parse(struct uft_enums *enums, struct ftr_slice text, struct ftr_arena *arena)
{
	struct ftr_slice head, body, word;
	enumerator_vec values = { 0 };
	int64_t next = 0;
	int ret = 0;

	if (!ftr_slice_starts(text, "enum ") || memchr(text.s, '{', text.len) == NULL)
		return -EINVAL;
	text = ftr_slice_make(text.s + 5, text.len - 5);
	ftr_slice_split(&text, '{', &head);
	ftr_slice_split(&text, '}', &body);
	head = ftr_slice_trim(head);
	while (ret == 0 && ftr_slice_split(&body, ',', &word)) {
		if (ftr_slice_trim(word).len > 0)	/* a comma may end the list */
			ret = enumerator_parse(&values, word, &next, arena);
	}
	if (ret == 0)
		ret = head.len == 0 ? -EINVAL : enum_finish(enums, head, &values, arena);
	ftr_vec_fini(&values);
	return ret;
}

int uft_enums_parse(struct uft_enums *enums, struct ftr_slice text, struct ftr_arena *arena,
		    struct ftr_diag *diag, const char *where)
{
	struct ftr_slice one;
	int ret = 0;

	while (ret != -ENOMEM && ftr_slice_split(&text, ';', &one)) {
		one = ftr_slice_trim(one);
		ret = one.len == 0 ? 0 : enum_parse(enums, one, arena);
		if (ret == -EINVAL)
			ftr_diag_warn(diag, "%s: damaged enumeration is ignored: %.*s", where,
				      one.len > 60 ? 60 : (int)one.len, one.s);
	}
	return ret == -ENOMEM ? ret : 0;
}

struct uft_shape {
	const char *name;
	const struct ftr_shape *shape;
};

static const struct ftr_arg_enum *enum_of(const void *arg, struct ftr_slice name)
{
	return uft_enums_find(arg, name);
}

int uft_shape_parse(struct uft_enums *enums, struct ftr_slice text, struct ftr_arena *arena)
{
	struct uft_shape *made = ftr_arena_alloc(arena, sizeof(*made));
	struct ftr_slice name;
	int ret;

	ftr_slice_split(&text, ' ', &name);
	if (made == NULL)
		return -ENOMEM;
	made->name = ftr_arena_strndup(arena, name.s, name.len);
	if (made->name == NULL)
		return -ENOMEM;
	ret = name.len == 0 ? -EINVAL :
	      ftr_shape_parse(&made->shape, text, arena, enum_of, enums);
	return ret < 0 ? ret : ftr_hashmap_set(&enums->shapes, ftr_hash_bytes(name.s, name.len),
					       made);
}

const struct ftr_shape *uft_shape_find(const struct uft_enums *enums, struct ftr_slice name)
{
	const struct uft_shape *found;

	found = ftr_hashmap_find(&enums->shapes, ftr_hash_bytes(name.s, name.len));
	return found != NULL && ftr_slice_eq(name, found->name) ? found->shape : NULL;
}

/* SPDX-License-Identifier: MIT */
/* Paths into values: see value_path.h.  Shapes come from a file, like the bytes. */
#include "utils/trace/value_path.h"

#include <string.h>

#include "utils/base/bytes.h"
#include "utils/trace/shape_node.h"

#define INDEX_MAX 65535u		/* no payload has so many elements */

/* A place in a value. */
struct place {
	const struct ftr_shape *shape;
	const uint8_t *bytes;		/* of the whole value */
	size_t len;
	size_t base, end;		/* in it: what stands here was recorded up to the end */
	bool is_whole;			/* all of what the last pointer leads to */
};

/* "name", "0" */
static size_t name_len(const char *s)
{
	static const char inside[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_$";

	return strspn(s, inside);
}

/* Behind the "[": up to behind the "]". */
static bool index_parse(struct ftr_value_step *step, const char *s, size_t *len)
{
	size_t digits = strspn(s, "0123456789");
	uint64_t index;

	if (ftr_parse_u64(ftr_slice_make(s, digits), 10, &index) < 0 || index > INDEX_MAX ||
	    s[digits] != ']')
		return false;
	step->index = (uint32_t)index;
	*len = digits + 1;
	return true;
}

static bool name_parse(struct ftr_value_step *step, const char *s, size_t *len)
{
	*len = name_len(s);
	step->name = ftr_slice_make(s, *len);
	return *len > 0;
}

const char *ftr_value_path_parse(struct ftr_value_path *path, const char *text, size_t *len)
{
	path->nr = 0;
	for (*len = 0;; path->nr++) {
		const char *s = text + *len;
		bool is_index = s[0] == '[', is_far = s[0] == '-' && s[1] == '>';
		struct ftr_value_step step = { .index = 0 };
		size_t taken;

		if (!is_index && !is_far && s[0] != '.')
			return NULL;
		if (path->nr == FTR_VALUE_PATH_MAX)
			return "values are not recorded as deep as this";
		*len += is_far ? 2 : 1;
		s = text + *len;
		if (is_index && !index_parse(&step, s, &taken))
			return "an index is expected here, like [3]";
		if (!is_index && !name_parse(&step, s, &taken))
			return "a member's name is expected here";
		path->steps[path->nr] = step;
		*len += taken;
	}
}

/* To what the pointer here leads to. */
static bool follow(struct place *place)
{
	const struct ftr_shape *shape = place->shape;
	size_t at = place->base + shape->to;
	uint32_t have;

	if (at + FTR_SHAPE_COUNT_BYTES + shape->bytes > place->len)
		return false;
	have = (uint32_t)ftr_get_unsigned(place->bytes + at, FTR_SHAPE_COUNT_BYTES, false);
	if (have == 0)
		return false;
	place->base = at + FTR_SHAPE_COUNT_BYTES;
	place->end = place->base + (have < shape->bytes ? have : shape->bytes);
	place->is_whole = have >= shape->bytes;
	place->shape = shape->inner;
	return true;
}

/* The view of a container that a user sees. */
static void pass_parts(struct place *place)
{
	while (place->shape->kind == FTR_SHAPE_PART) {
		place->base += place->shape->at;
		place->shape = place->shape->inner;
	}
}

static bool is_there(const struct place *place)
{
	return place->base <= place->end &&
	       ftr_shape_needed_bytes(place->shape) <= place->end - place->base;
}

/* Through pointers, to what has members. */
static bool pass_pointers(struct place *place)
{
	for (;;) {
		pass_parts(place);
		if (!is_there(place))
			return false;
		if (place->shape->kind != FTR_SHAPE_POINTER)
			return true;
		if (!follow(place))
			return false;
	}
}

static bool name_is(const struct ftr_shape *member, struct ftr_slice name)
{
	bool is_number = name.s[0] >= '0' && name.s[0] <= '9';
	const char *own = member->name;

	if (is_number && own[0] == '_' && own[1] == '_')	/* of a tuple: __0 */
		own += 2;
	return ftr_slice_eq(name, own);
}

/* A member of it, or of its members without names. */
static bool find_member(struct place *place, struct ftr_slice name)
{
	const struct ftr_shape *member;

	for (member = place->shape->inner; member != NULL; member = member->next) {
		struct place inner = *place;

		inner.shape = member;
		inner.base += member->offset;
		if (name_is(member, name)) {
			*place = inner;
			return true;
		}
		if (member->name[0] == '\0' && member->kind == FTR_SHAPE_STRUCT &&
		    find_member(&inner, name)) {
			*place = inner;
			return true;
		}
	}
	return false;
}

/* The alternative that it is, if it has this name, and a value. */
static bool find_case(struct place *place, struct ftr_slice name)
{
	const struct ftr_shape *found = ftr_shape_case(place->shape, place->bytes + place->base);

	if (found == NULL || found->is_name_only || !ftr_slice_eq(name, found->name))
		return false;
	place->base += found->offset;
	place->shape = found;
	return true;
}

static bool find_element(struct place *place, uint32_t index)
{
	const struct ftr_shape *shape = place->shape;
	struct ftr_shape_elements elements;

	if (shape->kind == FTR_SHAPE_ARRAY) {
		if (index >= shape->nr)
			return false;
		place->base += (size_t)index * shape->bytes;
		place->shape = shape->inner;
		return true;
	}
	if (shape->kind != FTR_SHAPE_LIST ||
	    !ftr_shape_elements(shape, place->bytes, place->len, place->base, &elements))
		return false;
	place->end = elements.end;
	place->shape = ftr_shape_element(shape, &elements, index, &place->base);
	return place->shape != NULL;
}

/* A pointer to one is its own first element; one to several leads to all of them. */
static bool step_index(struct place *place, uint32_t index)
{
	bool is_pointer;

	pass_parts(place);
	is_pointer = place->shape->kind == FTR_SHAPE_POINTER;
	if (!pass_pointers(place))
		return false;
	if (place->shape->kind == FTR_SHAPE_ARRAY || place->shape->kind == FTR_SHAPE_LIST)
		return find_element(place, index);
	return is_pointer && index == 0;
}

static bool step_name(struct place *place, struct ftr_slice name)
{
	if (!pass_pointers(place))
		return false;
	if (place->shape->kind == FTR_SHAPE_STRUCT)
		return find_member(place, name);
	return place->shape->kind == FTR_SHAPE_VARIANT && find_case(place, name);
}

/* Values. */

static bool value_number(struct ftr_arg *type, struct ftr_value *value, enum ftr_arg_format format,
			 uint64_t number)
{
	*type = (struct ftr_arg){ .format = format, .size = sizeof(number) };
	value->u = number;
	return true;
}

static bool value_text(struct ftr_arg *type, struct ftr_value *value, const uint8_t *bytes,
		       size_t max)
{
	*type = (struct ftr_arg){ .format = FTR_ARG_STRING };
	value->str.s = (const char *)bytes;
	value->str.len = (uint16_t)strnlen(value->str.s, max);
	return true;
}

/* The characters at a pointer, unless that is NULL. */
static bool value_far_text(struct ftr_arg *type, struct ftr_value *value, const struct place *place)
{
	const struct ftr_shape *shape = place->shape;
	const uint8_t *here = place->bytes + place->base;

	if (shape->has_pointer &&
	    ftr_get_unsigned(here + shape->at, FTR_SHAPE_WORD, false) == 0) {
		*type = (struct ftr_arg){ .format = FTR_ARG_WORD };
		value->str.s = "NULL";
		value->str.len = 4;
		return true;
	}
	return place->base + shape->to + shape->nr <= place->len &&
	       value_text(type, value, here + shape->to, shape->nr);
}

/* Structs and the like, which have a text alone. */
static bool value_whole(struct ftr_arg *type, struct ftr_value *value, const struct place *place)
{
	size_t len = place->len - place->base;

	if (!place->is_whole || len > UINT16_MAX)
		return false;
	*type = (struct ftr_arg){ .format = FTR_ARG_STRUCT, .shape = place->shape };
	value->str.s = (const char *)place->bytes + place->base;
	value->str.len = (uint16_t)len;
	return true;
}

static bool value_of(struct place *place, struct ftr_arg *type, struct ftr_value *value)
{
	const struct ftr_shape *shape;
	const uint8_t *here;

	pass_parts(place);
	if (!is_there(place))
		return false;
	shape = place->shape;
	here = place->bytes + place->base;
	value->arg = type;
	switch (shape->kind) {
	case FTR_SHAPE_SCALAR:
		*type = shape->scalar;
		ftr_shape_scalar(shape, here, value);
		return true;
	case FTR_SHAPE_WIDE:
		return ftr_shape_narrow(shape, here, type, value) ||
		       value_whole(type, value, place);
	case FTR_SHAPE_CHARS:
		return value_text(type, value, here, shape->nr);
	case FTR_SHAPE_TEXT:
		return value_far_text(type, value, place);
	case FTR_SHAPE_POINTER:
		return value_number(type, value, FTR_ARG_HEX,
				    ftr_get_unsigned(here, FTR_SHAPE_WORD, false));
	default:
		return value_whole(type, value, place);
	}
}

/* What a container's users call its size. */
static bool value_size(struct place *place, struct ftr_arg *type, struct ftr_value *value)
{
	struct ftr_shape_elements elements;

	value->arg = type;
	return pass_pointers(place) && place->shape->kind == FTR_SHAPE_LIST &&
	       ftr_shape_elements(place->shape, place->bytes, place->len, place->base, &elements) &&
	       (elements.nr < UINT64_MAX || place->shape->number != FTR_SHAPE_OPEN) &&
	       value_number(type, value, FTR_ARG_UNSIGNED, elements.nr);
}

static bool step_take(struct place *place, const struct ftr_value_step *step)
{
	return step->name.s == NULL ? step_index(place, step->index) :
				      step_name(place, step->name);
}

bool ftr_value_path_find(const struct ftr_value_path *path, const struct ftr_value *from,
			 struct ftr_arg *type, struct ftr_value *value)
{
	struct place place;
	unsigned i;

	if (from->arg->format != FTR_ARG_STRUCT || from->arg->shape == NULL)
		return false;
	place = (struct place){ .shape = from->arg->shape, .len = from->str.len,
				.bytes = (const uint8_t *)from->str.s, .end = from->str.len,
				.is_whole = true };
	for (i = 0; i < path->nr; i++) {
		struct place before = place;

		if (step_take(&place, &path->steps[i]))
			continue;
		return i + 1 == path->nr && path->steps[i].name.s != NULL &&
		       ftr_slice_eq(path->steps[i].name, "size") &&
		       value_size(&before, type, value);
	}
	return value_of(&place, type, value);
}

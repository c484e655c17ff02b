/* SPDX-License-Identifier: MIT */
/* Values as programs: see value.h. */
#include <assert.h>
#include <errno.h>

#include "utils/proto/record.h"
#include "utils/record/value.h"

#define PAYLOAD_ALIGN 8u
#define PAYLOAD_BYTES_MAX (FTR_PAYLOAD_MAX / PAYLOAD_ALIGN * PAYLOAD_ALIGN)
#define WORD 8u
#define ENUM_BYTES 8u			/* in the payload, whatever it has in the program */
#define X87_BYTES 10u
#define LIBCXX_BYTES 24u		/* of its std::string */
#define OPAQUE_BYTES_MAX 128u		/* no view shows what is in them */

static const uint8_t wheres[] = {
	[FTR_PLACE_NOWHERE] = FTR_VALUE_NOWHERE, [FTR_PLACE_INTEGER] = FTR_VALUE_INTEGER,
	[FTR_PLACE_VECTOR] = FTR_VALUE_VECTOR,	 [FTR_PLACE_STACK] = FTR_VALUE_STACK,
	[FTR_PLACE_RETURN] = FTR_VALUE_RETURN,	 [FTR_PLACE_X87] = FTR_VALUE_X87,
	[FTR_PLACE_AT] = FTR_VALUE_AT,		 [FTR_PLACE_RESULT] = FTR_VALUE_RESULT,
};

static bool is_string(enum ftr_value_what what)
{
	return what == FTR_VALUE_STRING || what == FTR_VALUE_STD_STRING;
}

static enum ftr_value_what what_of(const struct ftr_parameter *value)
{
	if (value->type.kind == FTR_TYPE_STRING || value->type.kind == FTR_TYPE_TEXT)
		return FTR_VALUE_STRING;
	if (value->type.kind == FTR_TYPE_STD_STRING)
		return FTR_VALUE_STD_STRING;
	return value->is_pointed ? FTR_VALUE_POINTED : FTR_VALUE_BYTES;
}

uint32_t ftr_value_bytes(const struct ftr_parameter *value)
{
	uint32_t bytes = value->type.bytes;

	switch (value->type.kind) {
	case FTR_TYPE_ENUM:
		return ENUM_BYTES;
	case FTR_TYPE_FLOAT:
		return bytes > X87_BYTES ? X87_BYTES : bytes;
	case FTR_TYPE_OPAQUE:
		return bytes > OPAQUE_BYTES_MAX ? OPAQUE_BYTES_MAX : bytes;
	default:
		return bytes;
	}
}

static uint32_t aligned(uint32_t bytes)
{
	return (bytes + FTR_VALUE_ALIGN - 1) / FTR_VALUE_ALIGN * FTR_VALUE_ALIGN;
}

int ftr_value_program_begin(struct ftr_value_programs *programs)
{
	int ret = 0;

	if (programs->ops.nr == 0)		/* that of all functions without one */
		ret = ftr_vec_push(&programs->ops, (struct ftr_value_op){ 0 });
	programs->first = (uint32_t)programs->ops.nr;
	programs->bytes = 0;
	return ret;
}

int ftr_value_op_add(struct ftr_value_programs *programs, enum ftr_value_what what,
		     const struct ftr_place *place, uint32_t bytes, bool is_last)
{
	struct ftr_value_op op = {
		.what = (uint8_t)what,
		.where = wheres[place->kind],
		.flags = is_last ? 0 : FTR_VALUE_JOINED,
		.nr = place->nr,
		.bytes = (uint16_t)bytes,
	};

	return ftr_vec_push(&programs->ops, op);
}

/* May it be below 0, in the bytes that it has? */
static bool is_signed(const struct ftr_type *type)
{
	bool has_minus = type->kind == FTR_TYPE_SIGNED;

	for (uint32_t i = 0; type->kind == FTR_TYPE_ENUM && type->values != NULL &&
	     i < type->values->nr && !has_minus; i++)
		has_minus = type->values->values[i].value < 0;
	return has_minus;
}

/* The pieces of a value; what they do not have is zeros, or all of its sign. */
static int pieces_add(struct ftr_value_programs *programs, const struct ftr_parameter *value,
		      uint32_t bytes)
{
	static const struct ftr_place nowhere = { 0 };
	enum ftr_value_what rest = is_signed(&value->type) ? FTR_VALUE_SIGN : FTR_VALUE_BYTES;
	uint32_t i;

	for (i = 0; i < value->place_nr && bytes > 0; i++) {
		uint32_t part = value->places[i].bytes < bytes ? value->places[i].bytes : bytes;
		int ret;

		bytes -= part;
		ret = part == 0 ? 0 : ftr_value_op_add(programs, FTR_VALUE_BYTES,
						       &value->places[i], part, bytes == 0);
		if (ret < 0)
			return ret;
	}
	return bytes == 0 ? 0 : ftr_value_op_add(programs, rest, &nowhere, bytes, true);
}

struct ftr_place ftr_value_word_place(const struct ftr_parameter *value, uint32_t offset)
{
	static const struct ftr_place nowhere = { 0 };
	uint32_t i, at = 0;

	for (i = 0; i + 1 < value->place_nr && offset >= at + value->places[i].bytes; i++)
		at += value->places[i].bytes;
	if (value->places[i].kind == FTR_PLACE_STACK) {
		struct ftr_place place = value->places[i];

		place.nr = (uint16_t)(place.nr + offset - at);
		return place;
	}
	return offset == at || value->is_pointed ? value->places[i] : nowhere;
}

/* The number of characters first, then the pointer to them. */
static int text_add(struct ftr_value_programs *programs, const struct ftr_parameter *value)
{
	const struct ftr_text_parts *text = &value->type.text;
	struct ftr_place length = ftr_value_word_place(value, text->length);
	struct ftr_place pointer = ftr_value_word_place(value, text->pointer);
	uint32_t near_bytes = text->length > text->pointer ? text->length : text->pointer;
	int ret = 0;

	if (text->is_followed || value->is_pointed) {
		length = (struct ftr_place){ FTR_PLACE_AT, (uint16_t)text->length, WORD };
		pointer = (struct ftr_place){ FTR_PLACE_AT, (uint16_t)text->pointer, WORD };
		ret = ftr_value_op_add(programs, FTR_VALUE_FOLLOW, &value->places[0],
				       near_bytes + WORD, false);
	}
	if (ret == 0)
		ret = ftr_value_op_add(programs, FTR_VALUE_COUNT, &length, 0, false);
	return ret < 0 ? ret : ftr_value_op_add(programs, FTR_VALUE_STRING, &pointer, 0, true);
}

/* The object says in its bits where its characters are. */
static int libcxx_add(struct ftr_value_programs *programs, const struct ftr_parameter *value)
{
	static const struct ftr_place object = { FTR_PLACE_AT, 0, WORD };
	int ret = ftr_value_op_add(programs, FTR_VALUE_FOLLOW, &value->places[0], LIBCXX_BYTES,
				   false);

	if (ret == 0)
		ret = ftr_value_op_add(programs, FTR_VALUE_LIBCXX, &object, 0, false);
	return ret < 0 ? ret : ftr_value_op_add(programs, FTR_VALUE_STRING, &object, 0, true);
}

int ftr_value_program_add(struct ftr_value_programs *programs, const struct ftr_parameter *value)
{
	enum ftr_value_what what = what_of(value);
	uint32_t bytes = is_string(what) ? 0 : ftr_value_bytes(value);
	uint32_t need = is_string(what) ? FTR_VALUE_ALIGN : aligned(bytes);

	assert(value->place_nr > 0);
	if (need > PAYLOAD_BYTES_MAX - programs->bytes)
		return -E2BIG;
	programs->bytes += need;
	if (value->type.kind == FTR_TYPE_TEXT)
		return text_add(programs, value);
	if (value->type.kind == FTR_TYPE_STD_STRING && value->type.text.is_libcxx)
		return libcxx_add(programs, value);
	if (what == FTR_VALUE_BYTES)
		return pieces_add(programs, value, bytes);
	return ftr_value_op_add(programs, what, &value->places[0], bytes, true);
}

int ftr_value_program_join(struct ftr_value_programs *programs,
			   const struct ftr_value_programs *made, uint32_t bytes)
{
	size_t i;
	int ret = 0;

	if (aligned(bytes) > PAYLOAD_BYTES_MAX - programs->bytes)
		return -E2BIG;
	programs->bytes += aligned(bytes);
	for (i = 0; ret == 0 && i < made->ops.nr; i++)
		ret = ftr_vec_push(&programs->ops, made->ops.v[i]);
	programs->ops.v[programs->ops.nr - 1].flags &= (uint8_t)~FTR_VALUE_JOINED;
	return ret;
}

/* At least, and without padding. */
static uint32_t made_bytes(const struct ftr_value_op *op)
{
	switch (op->what) {
	case FTR_VALUE_STRING:
	case FTR_VALUE_STD_STRING:
		return FTR_VALUE_ALIGN;
	case FTR_VALUE_COUNT:
	case FTR_VALUE_FOLLOW:
	case FTR_VALUE_NODE:
	case FTR_VALUE_LIBCXX:
		return 0;
	case FTR_VALUE_BLOCK:
	case FTR_VALUE_NODES:
	case FTR_VALUE_PIECES:
		return FTR_VALUE_COUNT_BYTES + op->bytes;
	default:
		return op->bytes;
	}
}

/* Strings are told what comes behind them. */
int ftr_value_program_end(struct ftr_value_programs *programs, uint32_t *index)
{
	uint32_t behind = 0, part = 0, i;

	*index = 0;
	if (programs->ops.nr == programs->first)
		return 0;
	for (i = (uint32_t)programs->ops.nr; i-- > programs->first;) {
		struct ftr_value_op *op = &programs->ops.v[i];

		if ((op->flags & FTR_VALUE_JOINED) == 0) {	/* the last piece of a value */
			behind += aligned(part);
			part = 0;
		}
		part += made_bytes(op);
		if (is_string(op->what))
			op->bytes = (uint16_t)behind;
	}
	*index = programs->first;
	return ftr_vec_push(&programs->ops, (struct ftr_value_op){ 0 });
}

/* SPDX-License-Identifier: MIT */
/* What the words of a shape are made into (utils/trace/shape_words.c), to read values by. */
#ifndef FTR_TRACE_SHAPE_NODE_H
#define FTR_TRACE_SHAPE_NODE_H

#include "utils/trace/args.h"
#include "utils/trace/shape.h"

#define FTR_SHAPE_WORD 8u
#define FTR_SHAPE_COUNT_BYTES 4u	/* in front of what a pointer leads to */

enum ftr_shape_kind {
	FTR_SHAPE_SCALAR,
	FTR_SHAPE_CHARS,
	FTR_SHAPE_TEXT,
	FTR_SHAPE_STRUCT,
	FTR_SHAPE_ARRAY,
	FTR_SHAPE_POINTER,
	FTR_SHAPE_PART,
	FTR_SHAPE_LIST,
	FTR_SHAPE_VARIANT,
};

struct ftr_shape {
	enum ftr_shape_kind kind;
	struct ftr_arg scalar;		/* of SCALAR: its format, size, values */
	uint8_t bit, bit_nr;		/* of a bit field */
	uint32_t at, to;		/* of TEXT, POINTER, PART, LIST; VARIANT: what decides */
	uint32_t nr, bytes;		/* of CHARS, TEXT, ARRAY, POINTER, LIST; VARIANT: bytes */
	uint32_t length;		/* of LIST: where its number of elements, or its end, is */
	bool is_ends;			/* of LIST: its end */
	const struct ftr_shape *inner;	/* of STRUCT, VARIANT the first; else what is in it */

	/* As a member of a struct, or a case of a variant, which may be nothing but a name. */
	const char *name;		/* "" = none */
	uint32_t offset;
	uint64_t value;
	bool is_default, is_name_only;
	const struct ftr_shape *next;
};

/* That have to be there of a value; structs, arrays and parts look for themselves. */
size_t ftr_shape_needed_bytes(const struct ftr_shape *shape);

/* What the SCALAR at @bytes is, a bit field or not; value->arg is that of @shape, or like it. */
void ftr_shape_scalar(const struct ftr_shape *shape, const uint8_t *bytes, struct ftr_value *value);

/* How many elements the LIST at @bytes has; false: unknown. */
bool ftr_shape_list_nr(const struct ftr_shape *shape, const uint8_t *bytes, uint64_t *nr);

/* The case of the VARIANT at @bytes; NULL = none that is known. */
const struct ftr_shape *ftr_shape_case(const struct ftr_shape *shape, const uint8_t *bytes);

#endif /* FTR_TRACE_SHAPE_NODE_H */

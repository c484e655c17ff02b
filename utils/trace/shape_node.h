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
	FTR_SHAPE_WIDE,			/* an integer of 16 bytes, of the scalar's format */
	FTR_SHAPE_COMPLEX,		/* of bytes */
	FTR_SHAPE_CHARS,
	FTR_SHAPE_TEXT,
	FTR_SHAPE_STRUCT,
	FTR_SHAPE_ARRAY,
	FTR_SHAPE_POINTER,
	FTR_SHAPE_PART,
	FTR_SHAPE_LIST,
	FTR_SHAPE_VARIANT,
};

/* How it is known how many elements a LIST has. */
enum ftr_shape_number {
	FTR_SHAPE_LENGTH,		/* a member says so */
	FTR_SHAPE_ENDS,			/* a member points behind the last */
	FTR_SHAPE_OPEN,			/* by its last element, if that was copied */
	FTR_SHAPE_SUM,
};

#define FTR_SHAPE_TERMS_MAX 6u
#define FTR_SHAPE_ENDED 0x80000000u	/* of an OPEN one: in how many bytes there are */
#define FTR_SHAPE_BITS 8u		/* that a byte has: so many shapes there are of one */

struct ftr_shape_sum {
	uint32_t divisor, nr;
	struct ftr_shape_term {
		uint32_t at, bytes, factor;
		bool is_minus;
	} v[FTR_SHAPE_TERMS_MAX];
};

/* Of a LIST whose header is there: what is known of its elements. */
struct ftr_shape_elements {
	uint64_t nr;			/* UINT64_MAX: not known, but more than there are copies */
	size_t at, end;			/* copies of the first of them, in the value */
};

/* Where the words of a shape name an enumeration. */
struct ftr_shape_enum {
	size_t at, len;			/* of the name, in the words */
	const struct ftr_arg_enum *values;	/* (nullable: it was not found) */
	const struct ftr_shape_enum *next;	/* (nullable) further on */
};

struct ftr_shape {
	enum ftr_shape_kind kind;
	struct ftr_arg scalar;		/* of SCALAR: its format, size, values */
	uint8_t bit, bit_nr;		/* of a bit field */
	uint32_t at, to;		/* of TEXT, POINTER, PART, LIST; VARIANT: what decides */
	/* Of CHARS, TEXT, ARRAY, POINTER, LIST; VARIANT, WIDE, COMPLEX: bytes. */
	uint32_t nr, bytes;
	uint32_t length;		/* of LIST: where its number of elements, or its end, is */
	enum ftr_shape_number number;	/* of LIST */
	bool has_pointer;		/* of TEXT: one that may be NULL */
	const struct ftr_shape_sum *sum;	/* of LIST, by SUM */
	const struct ftr_shape *inner;	/* of STRUCT, VARIANT, bits the first; else what is in it */

	/* As a member of a struct, or a case of a variant, which may be nothing but a name. */
	const char *name;		/* "" = none */
	uint32_t offset;
	uint64_t value;
	bool is_default, is_name_only;
	const struct ftr_shape *next;

	/* Of the outermost. */
	struct ftr_slice words;
	const struct ftr_shape_enum *enums;	/* (nullable) */
	bool points_to_code;			/* perhaps: it has such a scalar */
};

/* That have to be there of a value; structs, arrays and parts look for themselves. */
size_t ftr_shape_needed_bytes(const struct ftr_shape *shape);

/* What the SCALAR at @bytes is, a bit field or not; value->arg is that of @shape, or like it. */
void ftr_shape_scalar(const struct ftr_shape *shape, const uint8_t *bytes, struct ftr_value *value);

/* The WIDE integer at @bytes, if it is one of 64 bits as well: *value, of the type *type. */
bool ftr_shape_narrow(const struct ftr_shape *shape, const uint8_t *bytes, struct ftr_arg *type,
		      struct ftr_value *value);

/* The elements of the LIST at @base of a value of @len @bytes; false: it is none. */
bool ftr_shape_elements(const struct ftr_shape *shape, const uint8_t *bytes, size_t len,
			size_t base, struct ftr_shape_elements *elements);

/* The element @index, and where it is; NULL: it was not copied. */
const struct ftr_shape *ftr_shape_element(const struct ftr_shape *shape,
					  const struct ftr_shape_elements *elements,
					  uint64_t index, size_t *at);

/* The case of the VARIANT at @bytes; NULL = none that is known. */
const struct ftr_shape *ftr_shape_case(const struct ftr_shape *shape, const uint8_t *bytes);

#endif /* FTR_TRACE_SHAPE_NODE_H */

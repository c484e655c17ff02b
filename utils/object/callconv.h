/* SPDX-License-Identifier: MIT */
/* Where a calling convention puts arguments and return values. */
#ifndef FTR_OBJECT_CALLCONV_H
#define FTR_OBJECT_CALLCONV_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/object/signature.h"

/* What a value is made of, for the convention. */
enum ftr_leaf_kind {
	FTR_LEAF_INTEGER,
	FTR_LEAF_FLOAT,		/* of at most 8 bytes */
	FTR_LEAF_X87,		/* long double */
	FTR_LEAF_VECTOR,	/* of more than 8 bytes, in one vector register */
};

struct ftr_leaf {
	enum ftr_leaf_kind kind;
	uint32_t offset, bytes;
};

#define FTR_LEAVES_MAX 64

struct ftr_leaves {
	uint32_t bytes, align;	/* of the whole */
	bool is_by_reference;	/* no trivial C++ object: its address is passed */
	bool is_memory;		/* too large for registers, or misaligned */
	uint32_t visited;	/* types, while it is filled */
	uint32_t nr;
	struct ftr_leaf v[FTR_LEAVES_MAX];
};

/* Registers and stack that are taken by the arguments so far; all zero at first. */
struct ftr_callconv {
	unsigned integers, vectors;
	uint32_t stack_bytes;
};

/*
 * System V ABI for x86-64, 3.2.3: the places of the next argument, and of the return value, which
 * has to come first: it may take a register of the arguments.
 */
void ftr_callconv_argument(struct ftr_callconv *state, const struct ftr_leaves *leaves,
			   struct ftr_parameter *param);
void ftr_callconv_retval(struct ftr_callconv *state, const struct ftr_leaves *leaves,
			 struct ftr_parameter *param);

#endif /* FTR_OBJECT_CALLCONV_H */

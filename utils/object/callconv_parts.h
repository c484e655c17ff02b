/* SPDX-License-Identifier: MIT */
/* Values whose scalars are passed one by one, by a convention for whole values. */
#ifndef FTR_OBJECT_CALLCONV_PARTS_H
#define FTR_OBJECT_CALLCONV_PARTS_H

#include "arch/callconv.h"

/* callconv->argument() of @leaves, which may be apart. */
void ftr_callconv_argument(const struct ftr_callconv *callconv, struct ftr_callconv_state *state,
			   const struct ftr_leaves *leaves, struct ftr_places *places);

/* The same of callconv->retval(). */
void ftr_callconv_retval(const struct ftr_callconv *callconv, struct ftr_callconv_state *state,
			 const struct ftr_leaves *leaves, struct ftr_places *places);

/*
 * Are a value's leaves @a, in whatever registers are left, where @b are, as an argument, or where
 * @is_retval?
 */
bool ftr_callconv_is_same(const struct ftr_callconv *callconv, const struct ftr_leaves *a,
			  const struct ftr_leaves *b, bool is_retval);

#endif /* FTR_OBJECT_CALLCONV_PARTS_H */

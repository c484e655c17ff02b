/* SPDX-License-Identifier: MIT */
/*
 * A growable array:
 *
 *	FTR_VEC(struct thing) things = { 0 };
 *	if (ftr_vec_push(&things, thing) < 0) ... -ENOMEM
 *	for (size_t i = 0; i < things.nr; i++) use(&things.v[i]);
 *	ftr_vec_fini(&things);
 *
 * or a table by small numbers, which are the places of what they number:
 *
 *	if (ftr_vec_reach(&things, id) < 0) ... -ENOMEM
 *	things.v[id] = thing;
 *
 * Whatever adds elements may move the others: keep indices, not pointers.
 */
#ifndef FTR_BASE_VEC_H
#define FTR_BASE_VEC_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define FTR_VEC(type) struct { type *v; size_t nr; size_t cap; }

int ftr_vec_grow(void **v, size_t *cap, size_t need, size_t elem_bytes);
int ftr_vec_zeros(void **v, size_t *nr, size_t *cap, size_t index, size_t elem_bytes);

#define ftr_vec_reserve(vec, need) \
	((need) <= (vec)->cap ?    \
		 0 :               \
		 ftr_vec_grow((void **)&(vec)->v, &(vec)->cap, (need), sizeof(*(vec)->v)))
#define ftr_vec_push(vec, value) \
	(ftr_vec_reserve(vec, (vec)->nr + 1) < 0 ? -ENOMEM : ((vec)->v[(vec)->nr++] = (value), 0))
/* At least @need elements, or one at @index: new ones are zeros.  0 or -ENOMEM. */
#define ftr_vec_extend(vec, need) \
	((need) <= (vec)->nr ? 0 : ftr_vec_zeros_(vec, (size_t)(need) - 1))
#define ftr_vec_reach(vec, index) \
	((index) < (vec)->nr ? 0 : ftr_vec_zeros_(vec, (size_t)(index)))
#define ftr_vec_zeros_(vec, index) \
	ftr_vec_zeros((void **)&(vec)->v, &(vec)->nr, &(vec)->cap, (index), sizeof(*(vec)->v))
#define ftr_vec_fini(vec) \
	do { free((vec)->v); (vec)->v = NULL; (vec)->nr = (vec)->cap = 0; } while (0)

/* Sort @nr numbers, such as the tids or descriptors of a vector, the least first. */
void ftr_vec_sort_int32(int32_t *v, size_t nr);

#endif /* FTR_BASE_VEC_H */

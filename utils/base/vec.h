/* SPDX-License-Identifier: MIT */
/*
 * A growable array:
 *
 *	FTR_VEC(struct thing) things = { 0 };
 *	if (ftr_vec_push(&things, thing) < 0) ... -ENOMEM
 *	for (size_t i = 0; i < things.nr; i++) use(&things.v[i]);
 *	ftr_vec_fini(&things);
 *
 * Pushing may move the elements: keep indices, not pointers.
 */
#ifndef FTR_BASE_VEC_H
#define FTR_BASE_VEC_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define FTR_VEC(type) struct { type *v; size_t nr; size_t cap; }

int ftr_vec_grow(void **v, size_t *cap, size_t need, size_t elem_bytes);

#define ftr_vec_reserve(vec, need) \
	((need) <= (vec)->cap ?    \
		 0 :               \
		 ftr_vec_grow((void **)&(vec)->v, &(vec)->cap, (need), sizeof(*(vec)->v)))
#define ftr_vec_push(vec, value) \
	(ftr_vec_reserve(vec, (vec)->nr + 1) < 0 ? -ENOMEM : ((vec)->v[(vec)->nr++] = (value), 0))
#define ftr_vec_fini(vec) \
	do { free((vec)->v); (vec)->v = NULL; (vec)->nr = (vec)->cap = 0; } while (0)

/* Sort @nr numbers, such as the tids or descriptors of a vector, the least first. */
void ftr_vec_sort_int32(int32_t *v, size_t nr);

#endif /* FTR_BASE_VEC_H */

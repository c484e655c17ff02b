/* SPDX-License-Identifier: MIT */
/* Growing of arrays, and their order. */
#include "utils/base/vec.h"

#include <string.h>

int ftr_vec_grow(void **v, size_t *cap, size_t need, size_t elem_bytes)
{
	size_t larger = *cap < 8 ? 8 : *cap + *cap / 2;
	void *array;

	if (larger < need)
		larger = need;
	if (larger > SIZE_MAX / 2 / elem_bytes)
		return -ENOMEM;
	memcpy(&array, v, sizeof(array));	/* *v is a pointer of some other type */
	array = realloc(array, larger * elem_bytes);
	if (array == NULL)
		return -ENOMEM;
	memcpy(v, &array, sizeof(array));
	*cap = larger;
	return 0;
}

int ftr_vec_zeros(void **v, size_t *nr, size_t *cap, size_t index, size_t elem_bytes)
{
	char *array;

	if (index == SIZE_MAX)
		return -ENOMEM;
	if (index >= *cap && ftr_vec_grow(v, cap, index + 1, elem_bytes) < 0)
		return -ENOMEM;
	memcpy(&array, v, sizeof(array));
	memset(array + *nr * elem_bytes, 0, (index + 1 - *nr) * elem_bytes);
	*nr = index + 1;
	return 0;
}

static int compare_int32(const void *a, const void *b)
{
	int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;

	return left < right ? -1 : left > right;
}

void ftr_vec_sort_int32(int32_t *v, size_t nr)
{
	if (nr > 1)
		qsort(v, nr, sizeof(*v), compare_int32);
}

/* SPDX-License-Identifier: MIT */
/* The sums of functions in a minute. */
#include "utils/export/rows_sums.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/base/bits.h"
#include "utils/trace/func.h"

#define MINUTE_NS UINT64_C(60000000000)

uint64_t rows_sums_minute(uint64_t time_ns)
{
	return time_ns - time_ns % MINUTE_NS;
}

static struct rows_func_sums *sums_of(struct rows_sums *sums, const struct ftr_func *func)
{
	struct rows_func_sums *found = ftr_hashmap_find(&sums->by_func, func->id);

	if (found != NULL)
		return found;
	found = calloc(1, sizeof(*found));
	if (found == NULL || ftr_vec_push(&sums->funcs, found) < 0) {
		free(found);
		return NULL;
	}
	found->func = func;
	return ftr_hashmap_set(&sums->by_func, func->id, found) < 0 ? NULL : found;
}

int rows_sums_add(struct rows_sums *sums, const struct ftr_func *func, unsigned bucket,
		  const struct ftr_call_sum *more)
{
	struct rows_func_sums *of = sums_of(sums, func);

	if (of == NULL)
		return -ENOMEM;
	of->used |= FTR_BIT64(bucket);
	of->buckets[bucket].calls += more->calls;
	of->buckets[bucket].total_ns += more->total_ns;
	of->buckets[bucket].self_ns += more->self_ns;
	of->buckets[bucket].nested_ns += more->nested_ns;
	of->buckets[bucket].outermost_ns += more->outermost_ns;
	return 0;
}

void rows_sums_restart(struct rows_sums *sums, uint64_t minute_ns)
{
	rows_sums_fini(sums);
	sums->minute_ns = minute_ns;
}

void rows_sums_fini(struct rows_sums *sums)
{
	for (size_t i = 0; i < sums->funcs.nr; i++)
		free(sums->funcs.v[i]);
	ftr_vec_fini(&sums->funcs);
	ftr_hashmap_fini(&sums->by_func);
}

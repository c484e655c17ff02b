/* SPDX-License-Identifier: MIT */
/*
 * The sums of functions, for each minute and each octave of durations (doc/rows.md, table sums):
 * sums of parts of a trace, added, are the sums of the whole.
 */
#ifndef FTR_EXPORT_ROWS_SUMS_H
#define FTR_EXPORT_ROWS_SUMS_H

#include <stdint.h>

#include "utils/base/hashmap.h"
#include "utils/base/vec.h"
#include "utils/trace/summary.h"

struct ftr_func;

struct rows_func_sums {
	const struct ftr_func *func;
	uint64_t used;		/* bit o: octave o has calls */
	struct ftr_call_sum buckets[FTR_SUMMARY_OCTAVES];
};

/* All zero = empty; memory is that of the functions of one minute. */
struct rows_sums {
	uint64_t minute_ns;			/* when the minute began */
	struct ftr_hashmap by_func;
	FTR_VEC(struct rows_func_sums *) funcs;	/* (owned), in the order of their first ends */
};

/* The minute that @time_ns lies in. */
uint64_t rows_sums_minute(uint64_t time_ns);

/* Calls of @octave that ended in the minute of @sums.  0 or -ENOMEM. */
int  rows_sums_add(struct rows_sums *sums, const struct ftr_func *func, unsigned octave,
		   const struct ftr_call_sum *more);
/* Empty it, for the minute that begins at @minute_ns. */
void rows_sums_restart(struct rows_sums *sums, uint64_t minute_ns);
void rows_sums_fini(struct rows_sums *sums);

#endif /* FTR_EXPORT_ROWS_SUMS_H */

/* SPDX-License-Identifier: MIT */
/*
 * Functions in several runs of two sides, as data: the median of each side, how sure it is, and
 * what changed more than chance and a threshold explain.
 */
#ifndef FTR_ANALYSIS_COMPARE_H
#define FTR_ANALYSIS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/strpool.h"
#include "utils/base/vec.h"

struct ftr_func_stat;
struct ftr_stats;

/* What is compared: a number of each function in each run. */
struct ftr_compare_by {
	const char *name;	/* "total-avg" */
	bool is_time;		/* nanoseconds, else a count */
	double (*value)(const struct ftr_func_stat *stat);
};

extern const struct ftr_compare_by ftr_compare_bys[];	/* ends with a row of zeros */

enum ftr_compare_side {
	FTR_COMPARE_BASE,
	FTR_COMPARE_OTHER,
	FTR_COMPARE_SIDES
};

enum ftr_compare_verdict {
	FTR_COMPARE_SAME,	/* the difference is below the threshold, or may be chance */
	FTR_COMPARE_WORSE,	/* the other side has more */
	FTR_COMPARE_BETTER,
};

/*
 * Of one side's runs.  The true median lies within low..high with a confidence of 95 % at least;
 * less than six runs cannot tell so much: then these are the least and the most.
 */
struct ftr_compare_runs {
	FTR_VEC(double) values;	/* of each run; sorted when finished */
	double median, low, high;
};

struct ftr_compare_row {
	const char *name;
	uint32_t name_len;
	struct ftr_compare_runs runs[FTR_COMPARE_SIDES];
	double delta;		/* of the medians: other less base */
	double percent;		/* of the base; INFINITY where that is 0 */
	enum ftr_compare_verdict verdict;
};

struct ftr_compare {
	const struct ftr_compare_by *by;
	struct ftr_strpool names;
	FTR_VEC(struct ftr_compare_row) rows;	/* by name id; finished: most changed first */
	size_t run_nr[FTR_COMPARE_SIDES];
	size_t worse_nr, better_nr;
};

/* What is no change: up to @percent of the base, or where both medians are below @least. */
struct ftr_compare_threshold {
	double percent;
	double least;
};

void ftr_compare_init(struct ftr_compare *compare, const struct ftr_compare_by *by);
void ftr_compare_fini(struct ftr_compare *compare);
/* Add a run to a side; a function that it has not called counts 0.  0 or -ENOMEM. */
int  ftr_compare_add(struct ftr_compare *compare, enum ftr_compare_side side,
		     const struct ftr_stats *stats);
/* Once, when all runs are there.  0 or -ENOMEM. */
int  ftr_compare_finish(struct ftr_compare *compare, const struct ftr_compare_threshold *threshold);

/* How sure the intervals of @nr runs are, 0..1. */
double ftr_compare_confidence(size_t nr);

#endif /* FTR_ANALYSIS_COMPARE_H */

/* SPDX-License-Identifier: MIT */
/*
 * What functions did in the last interval, and since the beginning, of the rows of a summary that
 * is being made.  Functions are known by their names, as the trace that explains them may be read
 * anew.
 */
#ifndef FTR_ANALYSIS_RATES_H
#define FTR_ANALYSIS_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/strpool.h"
#include "utils/base/vec.h"

struct ftr_summary_row;

struct ftr_rate_sums {
	uint64_t calls, total_ns, self_ns;	/* total without calls within calls of the same */
};

struct ftr_rate {
	const char *name;
	struct ftr_rate_sums now, all;
};

struct ftr_rates {
	struct ftr_strpool names;		/* ids are indices of rows */
	FTR_VEC(struct ftr_rate) rows;		/* (owned) */
	uint64_t begin_ns;			/* of the interval; 0 = none has begun */
	uint64_t interval_nr;			/* that have begun */
};

enum ftr_rate_key {
	FTR_RATE_SELF,
	FTR_RATE_TOTAL,
	FTR_RATE_CALLS,
	FTR_RATE_AVG,
	FTR_RATE_NAME,
	FTR_RATE_KEYS
};

void ftr_rates_init(struct ftr_rates *rates);
void ftr_rates_fini(struct ftr_rates *rates);

/* An interval begins, unless it is the one that goes on. */
void ftr_rates_begin(struct ftr_rates *rates, uint64_t begin_ns);
/* Calls of a function in this interval.  0 or -ENOMEM. */
int  ftr_rates_add(struct ftr_rates *rates, const char *name, const struct ftr_summary_row *row);

/*
 * Those that were called in this interval, or with @is_all ever, in the order of the key: largest
 * first, names by their letters.  An array of *nr (owned, by free), or NULL: out of memory.
 */
const struct ftr_rate **ftr_rates_sorted(const struct ftr_rates *rates, enum ftr_rate_key key,
					 bool is_all, size_t *nr);

static inline const struct ftr_rate_sums *ftr_rate_sums_of(const struct ftr_rate *rate, bool is_all)
{
	return is_all ? &rate->all : &rate->now;
}

#endif /* FTR_ANALYSIS_RATES_H */

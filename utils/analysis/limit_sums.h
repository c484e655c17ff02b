/* SPDX-License-Identifier: MIT */
/* What a trace is summed up to for limits: its calls, and what they weigh where a limit asks. */
#ifndef FTR_ANALYSIS_LIMIT_SUMS_H
#define FTR_ANALYSIS_LIMIT_SUMS_H

#include <stdbool.h>

#include "utils/analysis/limit.h"
#include "utils/analysis/weight_sums.h"

struct ftr_sink;

struct ftr_limit_sums {
	struct ftr_sink *sinks[FTR_WEIGHTS];	/* (owned) of what is asked, else NULL */
	struct ftr_sink *tee;			/* (owned) NULL: that of times is all */
	struct ftr_weight_sums weights[FTR_WEIGHTS];
};

/*
 * Does any of @limits ask what happened in calls?  The stream of the sink then has to be ordered by
 * time, with the events outside of calls.
 */
bool ftr_limits_weigh(const struct ftr_limits *limits);

/*
 * 0 or -ENOMEM; ftr_limit_sums_fini() in either case.  @err is the sinks', as their own contracts
 * say: the end of one by weight fails where the trace has nothing of it.
 */
int  ftr_limit_sums_init(struct ftr_limit_sums *sums, const struct ftr_limits *limits,
			 struct ftr_err *err);
void ftr_limit_sums_fini(struct ftr_limit_sums *sums);

/* For the pump; it stays @sums'. */
struct ftr_sink *ftr_limit_sums_sink(const struct ftr_limit_sums *sums);

/* Once after the pump: what *limited says is @sums'.  0 or -ENOMEM. */
int  ftr_limit_sums_get(struct ftr_limit_sums *sums, struct ftr_limited *limited);

#endif /* FTR_ANALYSIS_LIMIT_SUMS_H */

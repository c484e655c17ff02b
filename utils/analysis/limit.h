/* SPDX-License-Identifier: MIT */
/* Limits that a program is to keep: how many calls of functions, how long, how much memory. */
#ifndef FTR_ANALYSIS_LIMIT_H
#define FTR_ANALYSIS_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/analysis/weight.h"
#include "utils/base/err.h"
#include "utils/base/vec.h"
#include "utils/trace/pattern.h"

struct ftr_func_stat;
struct ftr_stats;
struct ftr_weight_sums;

enum ftr_limit_unit {
	FTR_LIMIT_TIME,		/* ns */
	FTR_LIMIT_COUNT,
	FTR_LIMIT_SIZE,		/* bytes */
};

/* What is limited; a row's option is --NAME=FUNC=LIMIT. */
struct ftr_limit_kind {
	const char *name;	/* "max-total" */
	const char *what;	/* "total time" */
	enum ftr_limit_unit unit;
	enum ftr_weight_by by;	/* what happened in the calls; FTR_WEIGHT_TIME: of the calls */
	uint64_t (*value)(const struct ftr_func_stat *stat);	/* these, with details */
	bool may_be_uncalled;	/* is it kept where there is nothing that it limits? */
};

extern const struct ftr_limit_kind ftr_limit_kinds[];	/* ends with a row of zeros */

struct ftr_limit {
	const struct ftr_limit_kind *kind;
	struct ftr_pattern *funcs;	/* (owned) each of them has to keep it */
	uint64_t most;
};

struct ftr_limits {
	FTR_VEC(struct ftr_limit) v;
};

/* @text: "FUNC=10ms", "FUNC=100".  0, -EINVAL or -ENOMEM; the text does not name the option. */
int  ftr_limits_add(struct ftr_limits *limits, const char *kind, const char *text,
		    enum ftr_match match, struct ftr_err *err);
void ftr_limits_fini(struct ftr_limits *limits);

/* What limits are checked against: these, where @limits have any of them. */
struct ftr_limited {
	const struct ftr_stats *stats;				/* always, with details */
	const struct ftr_weight_sums *weights[FTR_WEIGHTS];	/* by enum ftr_weight_by */
};

/* How a function keeps a limit, or, @func NULL, that no function of its pattern was called. */
struct ftr_limit_result {
	const struct ftr_limit *limit;
	const char *func;
	uint64_t value;
	bool is_kept;
};

typedef void ftr_limit_fn(void *arg, const struct ftr_limit_result *result);

/* In the order of the limits.  How many are not kept, or -ENOMEM. */
int ftr_limits_check(const struct ftr_limits *limits, const struct ftr_limited *limited,
		     ftr_limit_fn *result, void *arg);

#endif /* FTR_ANALYSIS_LIMIT_H */

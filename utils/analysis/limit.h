/* SPDX-License-Identifier: MIT */
/* Limits that a program is to keep: of the calls of functions, how many and how long. */
#ifndef FTR_ANALYSIS_LIMIT_H
#define FTR_ANALYSIS_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/vec.h"
#include "utils/trace/pattern.h"

struct ftr_func_stat;
struct ftr_stats;

/* What is limited; a row's option is --NAME=FUNC=LIMIT. */
struct ftr_limit_kind {
	const char *name;	/* "max-total" */
	const char *what;	/* "total time" */
	bool is_time;		/* ns, else a count */
	uint64_t (*value)(const struct ftr_func_stat *stat);	/* of statistics with details */
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

/* How a function keeps a limit, or, @stat NULL, that no function of its pattern was called. */
struct ftr_limit_result {
	const struct ftr_limit *limit;
	const struct ftr_func_stat *stat;
	uint64_t value;
	bool is_kept;	/* a limit of times is not, where there is nothing that it limits */
};

typedef void ftr_limit_fn(void *arg, const struct ftr_limit_result *result);

/* In the order of the limits.  How many are not kept, or -ENOMEM. */
int ftr_limits_check(const struct ftr_limits *limits, const struct ftr_stats *stats,
		     ftr_limit_fn *result, void *arg);

#endif /* FTR_ANALYSIS_LIMIT_H */

/* SPDX-License-Identifier: MIT */
/* Statistics as a table, as uftrace report prints them. */
#ifndef FTR_VIEW_REPORT_H
#define FTR_VIEW_REPORT_H

#include <stdbool.h>

#include "utils/base/err.h"
#include "utils/base/ostream.h"

struct ftr_stats;
struct ftr_syscalls;

struct ftr_report_opts {
	const char *fields;	/* -f (nullable) */
	const char *sort;	/* -s (nullable) */
	bool avg_total;		/* average, least and most of the total times */
	bool avg_self;
	bool use_color;
};

/* -EINVAL: a wrong field or sort key; -ENOMEM. */
int ftr_report_print(const struct ftr_stats *stats, const struct ftr_report_opts *opts,
		     struct ftr_ostream *out, struct ftr_err *err);
/* @by: what the rows are, enum ftr_syscalls_by. */
int ftr_report_print_syscalls(const struct ftr_syscalls *sums, int by, const struct ftr_report_opts *opts,
			      struct ftr_ostream *out, struct ftr_err *err);
int ftr_report_print_tasks(const struct ftr_stats *stats, const struct ftr_report_opts *opts,
			   struct ftr_ostream *out, struct ftr_err *err);

#endif /* FTR_VIEW_REPORT_H */

/* SPDX-License-Identifier: MIT */
/* Statistics as a table, as uftrace report prints them. */
#ifndef FTR_VIEW_REPORT_H
#define FTR_VIEW_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/analysis/value_sums.h"
#include "utils/base/err.h"
#include "utils/base/ostream.h"

struct ftr_stats;
struct ftr_sums;
struct ftr_trace;

struct ftr_report_opts {
	const char *fields;	/* -f (nullable) */
	const char *sort;	/* -s (nullable) */
	bool avg_total;		/* average, least, most and deviation of total times */
	bool avg_self;
	bool use_color;
	const struct ftr_trace *srcline_of;	/* (nullable) show where its functions are */
	uint32_t call_cost_ns;	/* note which functions take about as long; 0 = do not */
	const char *diff_policy;	/* (nullable) of ftr_report_print_diff, words with commas */
	uint64_t
		diff_column; /* what it sorts by: 0 the base, 1 the other one, 2 their difference */
};

/* The values whose ranges -f or -s name, as "arg1-min" does; nr 0 = none. */
#define FTR_REPORT_RANGE_BYTES 64
struct ftr_report_ranges {
	unsigned nr;
	struct ftr_value_name names[FTR_VALUE_RANGES_MAX];	/* of texts */
	char texts[FTR_VALUE_RANGES_MAX + 1][FTR_REPORT_RANGE_BYTES];
};
/* 0 or -E2BIG. */
int ftr_report_ranges_find(struct ftr_report_ranges *ranges, const struct ftr_report_opts *opts,
			   struct ftr_err *err);

/* One of two that are compared. */
struct ftr_report_trace {
	const char *path;
	const char *cmdline;		/* (nullable) that recorded it */
	const struct ftr_stats *stats;
};

/* FTR_STATS_* that the columns and sort keys of a report of functions need; 0 if one is wrong. */
unsigned ftr_report_needs(const struct ftr_report_opts *opts);
/* -EINVAL: a wrong field or sort key; -ENOMEM. */
int ftr_report_print(const struct ftr_stats *stats, const struct ftr_report_opts *opts,
		     struct ftr_ostream *out, struct ftr_err *err);
/* The same as comma-separated values (RFC 4180): fields by their names, times in nanoseconds. */
int ftr_report_print_csv(const struct ftr_stats *stats, const struct ftr_report_opts *opts,
			 struct ftr_ostream *out, struct ftr_err *err);
/* The same as lines of JSON (utils/view/json.h). */
int ftr_report_print_json(const struct ftr_stats *stats, const struct ftr_report_opts *opts,
			  struct ftr_ostream *out, struct ftr_err *err);
/* @by: what the rows are, enum ftr_sums_by. */
int ftr_report_print_sums(const struct ftr_sums *sums, int by,
			      const struct ftr_report_opts *opts, struct ftr_ostream *out,
			      struct ftr_err *err);
int ftr_report_print_tasks(const struct ftr_stats *stats, const struct ftr_report_opts *opts,
			   struct ftr_ostream *out, struct ftr_err *err);
/* -EINVAL: also a wrong policy, a field that has no difference. */
int ftr_report_check_diff(const struct ftr_report_opts *opts, struct ftr_err *err);
int ftr_report_print_diff(const struct ftr_report_trace traces[2],
			  const struct ftr_report_opts *opts, struct ftr_ostream *out,
			  struct ftr_err *err);

#endif /* FTR_VIEW_REPORT_H */

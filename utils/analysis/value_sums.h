/* SPDX-License-Identifier: MIT */
/* Calls added up by function and one of their values: an argument, or what they returned. */
#ifndef FTR_ANALYSIS_VALUE_SUMS_H
#define FTR_ANALYSIS_VALUE_SUMS_H

#include <stdbool.h>

#include "utils/analysis/sums.h"
#include "utils/trace/sink.h"
#include "utils/trace/value_path.h"

/* Which value of a call. */
struct ftr_value_name {
	const char *text;	/* (borrowed) */
	bool is_retval;
	bool is_float;		/* fpargN */
	unsigned nr;		/* of an argument, from 1 */
	struct ftr_value_path path;
};

/* "arg1", "fparg2", "retval", "arg1->name".  False: it is none.  Keeps @text. */
bool ftr_value_name_parse(struct ftr_value_name *name, const char *text);

/*
 * A sink for a stream in which each task is ordered by time.  Calls without the value are left out;
 * a call inside of one of the same function and argument adds nothing to the total time.  NULL =
 * out of memory.
 */
struct ftr_sink *ftr_value_sums_new(const struct ftr_value_name *name, struct ftr_err *err);
/* A row for each function that has any of the @nr values as a number, and their ranges. */
struct ftr_sink *ftr_value_ranges_new(const struct ftr_value_name *names, unsigned nr,
				      struct ftr_err *err);
/* What it has added up so far; valid as long as the sink. */
const struct ftr_sums *ftr_value_sums_get(const struct ftr_sink *sink);

#endif /* FTR_ANALYSIS_VALUE_SUMS_H */

/* SPDX-License-Identifier: MIT */
/*
 * threshold: leaves out calls that are not worth it: that take less than a time, with all that
 * happens in them; that lead to none of the functions asked for; where there are no rules, whose
 * functions are small, these alone.
 *
 * Their time counts as their caller's own.  A call that did not return stays: how long it takes is
 * not known. An ENTRY waits until its call is known to be worth it, so at most what happens
 * within that time is held back, less what is left out.
 */
#ifndef FTR_TRACE_THRESHOLD_H
#define FTR_TRACE_THRESHOLD_H

#include <stdbool.h>

struct ftr_pipeline_options;
struct ftr_source;

/* Is there anything to leave out? */
bool ftr_threshold_is_needed(const struct ftr_pipeline_options *options);

/* ... by one time, and nothing else? */
bool ftr_threshold_is_time_alone(const struct ftr_pipeline_options *options);

/*
 * Wrap @inner, which went through calls and is ordered by time, and take it over (also on failure).
 * What @options borrow lives for as long as the source.  NULL = out of memory.
 */
struct ftr_source *ftr_threshold_new(struct ftr_source *inner,
				     const struct ftr_pipeline_options *options);

#endif /* FTR_TRACE_THRESHOLD_H */

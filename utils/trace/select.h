/* SPDX-License-Identifier: MIT */
/* select: leaves out events by what they are: their task, depth or kind.  Depth stays exact. */
#ifndef FTR_TRACE_SELECT_H
#define FTR_TRACE_SELECT_H

#include <stdbool.h>

struct ftr_pipeline_options;
struct ftr_source;

/* Is there anything to leave out? */
bool ftr_select_is_needed(const struct ftr_pipeline_options *options);

/*
 * Wrap @inner, which went through calls, and take it over (also on failure); @options->tids is borrowed
 * for as long as the source lives.  NULL = out of memory.
 */
struct ftr_source *ftr_select_new(struct ftr_source *inner,
				  const struct ftr_pipeline_options *options);

#endif /* FTR_TRACE_SELECT_H */

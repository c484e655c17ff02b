/* SPDX-License-Identifier: MIT */
/*
 * threshold: leaves out calls that take less than a time, with all that happens in them.
 *
 * Their time counts as their caller's own.  A call that did not return stays: how long it takes is
 * not known. An ENTRY waits until its call is known to be long enough, so at most what happens
 * within that time is held back, less what is left out.
 */
#ifndef FTR_TRACE_THRESHOLD_H
#define FTR_TRACE_THRESHOLD_H

#include <stdint.h>

struct ftr_source;

/*
 * Wrap @inner, which went through calls and is ordered by time, and take it over (also on failure).
 */
struct ftr_source *ftr_threshold_new(struct ftr_source *inner, uint64_t threshold_ns);

#endif /* FTR_TRACE_THRESHOLD_H */

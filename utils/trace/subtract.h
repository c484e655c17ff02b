/* SPDX-License-Identifier: MIT */
/*
 * subtract: a task's time without what tracing took of it.  Each call of the program shortens the
 * time of all that follows it, so that durations of calls, and of those around them, are right.
 */
#ifndef FTR_TRACE_SUBTRACT_H
#define FTR_TRACE_SUBTRACT_H

#include <stdint.h>

struct ftr_source;

/*
 * Wrap @inner, a source as a reader makes it, and take it over (also on failure).  @call_ns is
 * taken off each call, @caller_ns off its caller, but never more than there is.  NULL = out of
 * memory.
 */
struct ftr_source *ftr_subtract_new(struct ftr_source *inner, uint32_t call_ns, uint32_t caller_ns);

#endif /* FTR_TRACE_SUBTRACT_H */

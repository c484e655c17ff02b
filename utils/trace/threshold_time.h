/* SPDX-License-Identifier: MIT */
/*
 * threshold_time: threshold.h for one task and one time, the same for all calls.  What is left out
 * is then whole subtrees, so depths stay as they are, and batches are decided where they lie: only
 * what happened within the time before the end of a batch is kept back.
 */
#ifndef FTR_TRACE_THRESHOLD_TIME_H
#define FTR_TRACE_THRESHOLD_TIME_H

#include <stdint.h>

struct ftr_source;

/*
 * Wrap @inner, the events of one task that went through calls, and take it over (also on failure).
 * NULL = out of memory.
 */
struct ftr_source *ftr_threshold_time_new(struct ftr_source *inner, uint64_t threshold_ns);

#endif /* FTR_TRACE_THRESHOLD_TIME_H */

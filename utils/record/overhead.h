/* SPDX-License-Identifier: MIT */
/* How much of a call's time is the tracer's, by the quickest calls of a recording. */
#ifndef FTR_RECORD_OVERHEAD_H
#define FTR_RECORD_OVERHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Tracing a call takes at most *call_ns of its own time, and *caller_ns of its caller's.  @dirfd:
 * the data directory, @tids: its tasks.  False: nothing in it is quick enough to tell.
 */
bool ftr_overhead_measure(int dirfd, const int32_t *tids, size_t nr, uint32_t *call_ns,
			  uint32_t *caller_ns);

#endif /* FTR_RECORD_OVERHEAD_H */

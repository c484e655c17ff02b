/* SPDX-License-Identifier: MIT */
/*
 * Sums of calls instead of calls, as ftr record --summary keeps them: a row for each function and
 * interval.  A trace that has them has no calls; the pump hands the rows to sinks that can add them
 * up.  doc/adr/0068-summary.md
 */
#ifndef FTR_TRACE_SUMMARY_H
#define FTR_TRACE_SUMMARY_H

#include <stdint.h>

#include "utils/base/err.h"

struct ftr_func;

/* Octave o holds calls that took 2^o ns and more, less than 2^(o+1); 0 also those of 0 ns. */
#define FTR_SUMMARY_OCTAVES 64u

/* Of some calls of a function. */
struct ftr_call_sum {
	uint64_t calls, total_ns, self_ns;
	uint64_t nested_ns;	/* of total_ns: of calls within another of the function */
	uint64_t outermost_ns;	/* of total_ns: of calls that no traced one made */
};

/* Of the times of some calls. */
struct ftr_time_span {
	uint64_t min_ns, max_ns;
	double	 squares;	/* sum of the squared times, ns^2 */
};

/* The calls of a function that ended in an interval. */
struct ftr_summary_row {
	const struct ftr_func *func;
	uint64_t begin_ns;	/* of the interval */
	uint64_t calls;
	struct ftr_time_span total, self;
	uint64_t used;		/* bit o: there are calls in octave o; the others' sums are stale */
	struct ftr_call_sum octaves[FTR_SUMMARY_OCTAVES];
};

/* The rows of a trace, in the order of their intervals; owned by the trace's reader. */
struct ftr_summary {
	uint64_t interval_ns;
	uint64_t from_ns, to_ns;	/* intervals that lie in it, even in part, are shown */
	/* The next row, valid until the next call.  1, 0 at the end, or -errno, described. */
	int (*next)(struct ftr_summary *self, const struct ftr_summary_row **row,
		    struct ftr_err *err);
	/* From the first one on again. */
	void (*rewind)(struct ftr_summary *self);
};

static inline unsigned ftr_summary_octave(uint64_t ns)
{
	return ns == 0 ? 0 : 63u - (unsigned)__builtin_clzll(ns);
}

#endif /* FTR_TRACE_SUMMARY_H */

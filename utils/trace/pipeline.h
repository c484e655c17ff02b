/* SPDX-License-Identifier: MIT */
/* From an opened trace to the one stream that a command pumps: calls, filters, merge. */
#ifndef FTR_TRACE_PIPELINE_H
#define FTR_TRACE_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"

struct ftr_rule_plans;
struct ftr_seek;
struct ftr_source;
struct ftr_trace;
struct ftr_watch;

/* All zero = everything, in order of time. */
struct ftr_pipeline_options {
	const int32_t *tids;	/* (borrowed) only these tasks; tid_nr = 0: all */
	size_t   tid_nr;
	uint64_t from_ns;	/* only events not before, 0 = from the start */
	uint64_t to_ns;		/* only events not after, 0 = to the end */
	bool     from_is_elapsed;	/* counted from trace->first_ns */
	bool     to_is_elapsed;
	uint32_t depth_max;	/* only calls less deep, 0 = all */
	uint64_t threshold_ns;	/* only calls that take so long, 0 = all */
	struct ftr_rule_plans *plans;	/* (borrowed, nullable: no rules) */
	uint64_t size_bytes;	/* only functions of such a size, 0 = all */
	bool     starts_off;	/* nothing before a rule's trace_on; only with plans */
	bool     has_backtraces;	/* where rules ask for them: MESSAGEs before calls */
	bool     has_stack_calls;	/* stacks as calls: see stacks.h */
	bool     no_libcall;	/* without calls of library functions (type P) */
	bool     no_event;	/* without POINT and MESSAGE */
	bool     no_callsite;	/* without the events of -T FUNC@callsite */
	bool     no_sched;	/* without sched-in, sched-out */
	bool     no_preempt;	/* without those of tasks that were pre-empted */
	bool     event_full;	/* with perf and kernel events outside of any call */
	bool     kernel_full;	/* with kernel functions outside of user functions */
	bool     kernel_only;	/* only functions and events of the kernel */
	uint32_t call_cost_ns;	/* tracing took so much of each call: subtract it */
	uint32_t caller_cost_ns;	/* and of its caller */
	struct ftr_watch *watch;	/* (borrowed, nullable) told how far reading is */
	/*
	 * Where there are neither a range nor rules, what is outside of these times need not come,
	 * but for the ENTRYs of calls that are open then, whose child_ns may lack what came before.
	 * seen_to_ns 0 = all comes.
	 */
	uint64_t seen_from_ns, seen_to_ns;
	bool     no_index;	/* read from the start, and all tasks */
	bool     is_unordered;	/* task after task instead of merged: enough for sums */
};

/* 0, or -ESRCH when the trace has none of the tids. */
int ftr_trace_tids_check(const struct ftr_trace *trace, const struct ftr_pipeline_options *options,
			 struct ftr_err *err);

/*
 * From where on a range has to be read, for ftr_source_seek(); false where from the start.  The
 * pipeline does that by itself: this is for who reads the sources without one.
 */
bool ftr_pipeline_seek(const struct ftr_trace *trace, const struct ftr_pipeline_options *options,
		       struct ftr_seek *seek);

/*
 * Takes over trace->sources, so once per trace.  The source must be freed before the trace.
 * 0 or -errno (-ENOMEM; -ESRCH: none of the tids exists).
 */
int ftr_trace_pipeline(struct ftr_trace *trace, const struct ftr_pipeline_options *options,
		       struct ftr_source **out, struct ftr_err *err);

#endif /* FTR_TRACE_PIPELINE_H */

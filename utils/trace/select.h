/* SPDX-License-Identifier: MIT */
/* select: leaves out events by what they are: their task, depth or kind.  Depth stays exact. */
#ifndef FTR_TRACE_SELECT_H
#define FTR_TRACE_SELECT_H

#include <stdbool.h>

#include "utils/trace/per_task.h"
#include "utils/trace/range.h"

struct ftr_event;
struct ftr_pipeline_options;
struct ftr_source;
struct ftr_task;
struct ftr_trace;

/* Is there anything to leave out? */
bool ftr_select_is_needed(const struct ftr_pipeline_options *options);

/* Is @task one of those asked for?  A thread's coroutines are with it. */
bool ftr_select_task_is_wanted(const struct ftr_pipeline_options *options,
			       const struct ftr_task *task);

/* Perf and kernel events are context of a call; outside of all calls they are noise. */
bool ftr_select_point_needs_call(const struct ftr_event *ev);

/*
 * Wrap @inner, which went through calls, and take it over (also on failure); @options->tids is
 * borrowed for as long as the source lives.  NULL = out of memory.
 */
struct ftr_source *ftr_select_new(struct ftr_source *inner, const struct ftr_trace *trace,
				  const struct ftr_pipeline_options *options);

/*
 * The same for records as they are, which did not go through calls: nothing is made up, and no
 * depth changes. Also by time; threshold_ns and no_preempt need calls and are not looked at.
 */
struct ftr_select_records {
	const struct ftr_pipeline_options *options;	/* (borrowed) */
	uint64_t first_ns; /* elapsed times count from here; 0: from the first record */
	struct ftr_range_ends ends;
	bool has_ends;			/* they are known */
	struct ftr_per_task open;	/* struct ftr_select_open */
};

/* A task's open calls, as far as records show. */
struct ftr_select_open {
	uint32_t nr;
	uint32_t user_nr;		/* that are not the kernel's */
};

/* Is @ev, the next record, wanted?  1, 0 or -ENOMEM. */
int  ftr_select_record(struct ftr_select_records *self, const struct ftr_event *ev);
void ftr_select_records_fini(struct ftr_select_records *self);

#endif /* FTR_TRACE_SELECT_H */

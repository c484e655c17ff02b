/* SPDX-License-Identifier: MIT */
/*
 * A run: calls of one task, already matched and summed up, in the place of their events.  For sinks
 * that only add up; see doc/adr/0054.  What the run cannot know, because it lies before it, is
 * filled in by the source that follows the task's open calls (calls.c):
 *
 *	base     | open before the run; ends[] leave them, innermost first
 *	   sums  | what began and ended in it, by function or by line of callers
 *	  opens  | open behind it, outermost first
 */
#ifndef FTR_TRACE_RUN_H
#define FTR_TRACE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ftr_func;
struct ftr_task;

enum ftr_run_kind {
	FTR_RUN_BY_FUNC,	/* a sum for each address */
	FTR_RUN_BY_CALLERS,	/* one for each address below each line of callers */
};

/* What is asked for. */
struct ftr_run_wish {
	enum ftr_run_kind kind;
	bool takes_short;	/* calls that do not count may come as events: FTR_EVENT_SHORT */
	unsigned events_a_sum;	/* with many sums, runs of fewer events for each are no gain */
	uint64_t threshold_ns;	/* calls that take less do not count: it is their callers' time */
};

/* The address of what stands for the calls that were open before the run. */
#define FTR_RUN_BASE UINT64_MAX

/* Of all calls that began and ended in the run. */
struct ftr_run_sum {
	uint64_t addr;		/* as recorded; FTR_RUN_BASE: of no function */
	const struct ftr_func *func;	/* (borrowed) set by who hands it out; NULL = none */
	uint64_t first_ns;	/* when the first one began, be it ended or not */
	uint64_t counted_ns;	/* ... that counts; UINT64_MAX: none, valid with a threshold */
	uint64_t calls;
	uint64_t total_ns;
	uint64_t nested_ns;	/* by func, of total_ns: while another one of this run was open */
	uint64_t self_ns;
	uint32_t parent;	/* by callers: the sum of the caller, which stands before it */
	uint32_t open_nr;	/* calls that began and did not end */
};

/* The end of a call that began before the run. */
struct ftr_run_end {
	uint64_t time_ns;
	uint64_t start_ns;	/* filled in */
	uint64_t child_ns;	/* in callees; filled in: all of it */
	uint64_t outer_ns;	/* by func: total_ns less nested_ns of its sum until then */
	uint32_t sum;		/* by func: of its function */
	uint32_t base;		/* by callers: stands for its caller from here on */
	const struct ftr_func *func;	/* (borrowed) set by who hands it out */
	uint64_t addr;
	uint8_t  flags;		/* filled in: of its ENTRY */
	bool     is_short;	/* filled in: below the threshold, so that it does not count */
};

struct ftr_run_open {
	uint64_t start_ns;
	uint64_t child_ns;	/* in callees until the end of the run */
	uint32_t sum;
};

/* Valid until the source is asked for anything again. */
struct ftr_run {
	struct ftr_task *task;		/* (borrowed) */
	struct ftr_run_sum *sums;	/* [0] is of no function */
	size_t sum_nr;
	struct ftr_run_end *ends;
	size_t end_nr;
	struct ftr_run_open *opens;
	size_t open_nr;
	uint64_t first_ns, last_ns;
	uint64_t outside_ns;	/* of calls made by what was open before, since the last end */
	uint64_t event_nr;	/* what it stands for */
	uint32_t base_depth;	/* calls open before it */
	bool is_taken;		/* set by the follower: else its events have to be handed out */
};

#endif /* FTR_TRACE_RUN_H */

/* SPDX-License-Identifier: MIT */
/*
 * What is too short, for sinks that add up what calls say when they end (ftr_run_wish.takes_short):
 * calls do not wait until they are decided.  The EXIT of a short one comes marked FTR_EVENT_SHORT,
 * instead of not at all; runs are passed on.  What happened in a call, and may count beside it,
 * waits for its end.  Of one task, behind calls; for threshold_time.c only.
 */
#ifndef FTR_TRACE_THRESHOLD_SUM_H
#define FTR_TRACE_THRESHOLD_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/trace/event.h"

struct ftr_run;

/* Zeroed at first, but for the threshold. */
struct ftr_threshold_sum {
	uint64_t threshold_ns;
	/* By open call, [0] = outside of all: its time in callees that do not count. */
	FTR_VEC(uint64_t) short_ns;	/* nr is not used */
	size_t open_nr;
	bool is_out;	/* the task was scheduled out, and has called nothing since */
	FTR_VEC(struct ftr_event) waiting;	/* points in open calls */
	FTR_VEC(struct ftr_event) left;		/* of a batch where some of them have waited */
	size_t left_pos;			/* handed out */
};

/*
 * Of a batch of @nr events, what is left: *evs becomes where it is, ftr_threshold_sum_more may have
 * more.  How many, or -ENOMEM.
 */
ssize_t ftr_threshold_sum_take(struct ftr_threshold_sum *sum, struct ftr_event **evs, size_t nr);
/* How many events are left of the batch before, at *evs. */
size_t ftr_threshold_sum_more(struct ftr_threshold_sum *sum, struct ftr_event **evs);

/* Is nothing waiting?  Then a run may come next. */
bool ftr_threshold_sum_is_idle(const struct ftr_threshold_sum *sum);
/* Of a run, without its short calls.  0 or -ENOMEM. */
int  ftr_threshold_sum_run(struct ftr_threshold_sum *sum, struct ftr_run *run);
void ftr_threshold_sum_fini(struct ftr_threshold_sum *sum);

#endif /* FTR_TRACE_THRESHOLD_SUM_H */

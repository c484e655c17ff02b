/* SPDX-License-Identifier: MIT */
/* POINT events as text. */
#ifndef FTR_VIEW_EVENT_TEXT_H
#define FTR_VIEW_EVENT_TEXT_H

#include <stdbool.h>

#include "utils/base/strbuf.h"
#include "utils/trace/event.h"

struct ftr_trace;

/* Ids of the uftrace format. */
enum ftr_point_id {
	FTR_ID_READ_STATM    = 100001,
	FTR_ID_READ_FAULT    = 100002,
	FTR_ID_DIFF_STATM    = 100003,
	FTR_ID_DIFF_FAULT    = 100004,
	FTR_ID_READ_CYCLE    = 100005,
	FTR_ID_DIFF_CYCLE    = 100006,
	FTR_ID_READ_CACHE    = 100007,
	FTR_ID_DIFF_CACHE    = 100008,
	FTR_ID_READ_BRANCH   = 100009,
	FTR_ID_DIFF_BRANCH   = 100010,
	FTR_ID_WATCH_CPU     = 100011,
	FTR_ID_WATCH_VAR     = 100012,
	FTR_ID_CALLSITE	     = 100013,
	FTR_ID_SCHED_IN	     = 200001,
	FTR_ID_SCHED_OUT     = 200002,
	FTR_ID_SCHED_BOTH    = 200003,
	FTR_ID_TASK_NEW	     = 200004,
	FTR_ID_TASK_EXIT     = 200005,
	FTR_ID_TASK_NAME     = 200006,
	FTR_ID_SCHED_OUT_PREEMPT  = 200007,
	FTR_ID_SCHED_BOTH_PREEMPT = 200008,
	FTR_ID_EXTERN	     = 2000000,
};

/* A POINT's id; sched events of formats that carry names only get theirs too. */
uint64_t ftr_event_point_id(const struct ftr_event *ev);

static inline bool ftr_event_id_is_sched_out(uint64_t id)
{
	return id == FTR_ID_SCHED_OUT || id == FTR_ID_SCHED_OUT_PREEMPT;
}

static inline bool ftr_event_id_is_sched(uint64_t id)
{
	return (id >= FTR_ID_SCHED_IN && id <= FTR_ID_SCHED_BOTH) ||
	       id == FTR_ID_SCHED_OUT_PREEMPT || id == FTR_ID_SCHED_BOTH_PREEMPT;
}

/*
 * What a POINT is called; of an operation or an arrow which part of it this is, too: "net:get begin
 * #7".
 */
void ftr_event_title(const struct ftr_event *ev, struct ftr_strbuf *text);

/* What out and in together are called: "linux:schedule", or with "(pre-empted)". */
const char *ftr_event_schedule_name(uint64_t out_id);

/*
 * Append the data of a POINT: "vmsize=15492KB vmrss=7512KB shared=5404KB"; nothing when it has
 * none.
 * @is_signed_diff: differences carry a sign (as replay, not dump, shows them).
 */
void ftr_event_data_text(const struct ftr_event *ev, const struct ftr_trace *trace,
			 bool is_signed_diff, struct ftr_strbuf *text);

#endif /* FTR_VIEW_EVENT_TEXT_H */

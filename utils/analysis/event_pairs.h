/* SPDX-License-Identifier: MIT */
/* Events of the kernel that begin and end something: which, and by what the two are matched. */
#ifndef FTR_ANALYSIS_EVENT_PAIRS_H
#define FTR_ANALYSIS_EVENT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/strbuf.h"

struct ftr_event;

enum ftr_event_half {
	FTR_EVENT_HALF_BEGIN,
	FTR_EVENT_HALF_END,
	FTR_EVENT_HALF_CANCEL,	/* what has begun will not be ended */
};

/* An event is so many halves at most: it may end one thing and begin another. */
#define FTR_EVENT_HALVES_MAX 4

/* A half that events of a name are, whatever is in them. */
struct ftr_event_pair {
	enum ftr_event_half half;
	unsigned row;		/* of the table */
	bool keeps_first;	/* of several begins before an end the first counts */
};

/* Those of events named @name, ends before begins.  Returns how many. */
unsigned ftr_event_pairs_of(const char *name, struct ftr_event_pair pairs[FTR_EVENT_HALVES_MAX]);
/* Add what begins and ends, as it is shown; @name is the event's. */
void ftr_event_pair_title(const struct ftr_event_pair *pair, const char *name,
			 struct ftr_strbuf *text);
/*
 * What is equal in both halves, and in no other thing's.  The text of a tracepoint is looked into;
 * false: it does not tell.
 */
bool ftr_event_pair_key(const struct ftr_event_pair *pair, const struct ftr_event *ev,
			uint64_t *key);

/* A tracepoint that says which task has got a CPU instead of which; 0: none, the CPU is idle. */
struct ftr_task_switch {
	int32_t prev_tid, next_tid;
};

/* Of a POINT.  False: it is no such tracepoint, or its text does not tell. */
bool ftr_task_switch_read(struct ftr_task_switch *found, const struct ftr_event *ev);

/* Is the text of events named @name looked into? */
bool ftr_event_pairs_need_text(const char *name);

#endif /* FTR_ANALYSIS_EVENT_PAIRS_H */

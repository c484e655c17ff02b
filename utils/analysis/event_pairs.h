/* SPDX-License-Identifier: MIT */
/* Events of the kernel that begin and end something: which, and by what the two are matched. */
#ifndef FTR_ANALYSIS_EVENT_PAIRS_H
#define FTR_ANALYSIS_EVENT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/text.h"

struct ftr_event;

enum ftr_event_half {
	FTR_EVENT_HALF_BEGIN,
	FTR_EVENT_HALF_END,
	FTR_EVENT_HALF_CANCEL,	/* what has begun will not be ended */
};

/* An event is a half of something. */
struct ftr_event_match {
	enum ftr_event_half half;
	const char *name;	/* of what begins and ends, as it is shown */
	struct ftr_slice rest;	/* what both names have in place of * */
	uint64_t key;		/* equal in both halves, and in no other thing's */
	bool keeps_first;	/* of several begins before an end the first counts */
};

/*
 * Halves that the event @ev is: *pos starts at 0; false at the end.  The text of a tracepoint is
 * looked into.
 */
bool ftr_event_pairs_next(const struct ftr_event *ev, size_t *pos, struct ftr_event_match *match);

#endif /* FTR_ANALYSIS_EVENT_PAIRS_H */

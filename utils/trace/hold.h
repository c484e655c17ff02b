/* SPDX-License-Identifier: MIT */
/*
 * hold: a queue of events in order of time, for sources that decide about an event when they see
 * later ones.  An event that is undecided holds back those behind it.
 *
 * An event's place is its number in the stream of those that were appended.
 */
#ifndef FTR_TRACE_HOLD_H
#define FTR_TRACE_HOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/trace/event.h"

struct ftr_held_payload;

/* Flags of events in the queue. */
#define FTR_HOLD_UNDECIDED (1u << 6)
#define FTR_HOLD_DROPPED (1u << 7)

#define FTR_HOLD_NOWHERE UINT64_MAX

/* All zero = empty. */
struct ftr_hold {
	FTR_VEC(struct ftr_event) queue;
	uint64_t first;			/* place of the queue's first event */
	size_t head;			/* events before it are gone */
	size_t handed_out;		/* from head on: in use until the next ones are taken */
	uint64_t lone;			/* from this place on all are of one task */
	struct ftr_held_payload *spare;	/* (owned) */
	struct ftr_held_payload *out;	/* (owned) of events handed out */
};

void ftr_hold_fini(struct ftr_hold *hold);

/* What was handed out is not used any more. */
void ftr_hold_release(struct ftr_hold *hold);
/* Make room for a batch.  Events move, places stay.  0 or -ENOMEM. */
int ftr_hold_reserve(struct ftr_hold *hold);

/* The place that the next event will have. */
static inline uint64_t ftr_hold_next(const struct ftr_hold *hold)
{
	return hold->first + hold->queue.nr;
}

static inline struct ftr_event *ftr_hold_at(const struct ftr_hold *hold, uint64_t place)
{
	return &hold->queue.v[place - hold->first];
}

/* What went out is decided. */
static inline bool ftr_hold_is_undecided(const struct ftr_hold *hold, uint64_t place)
{
	return place != FTR_HOLD_NOWHERE && place >= hold->first + hold->head &&
	       (ftr_hold_at(hold, place)->flags & FTR_HOLD_UNDECIDED);
}

static inline void ftr_hold_decide(struct ftr_event *ev)
{
	ev->flags &= (uint8_t)~FTR_HOLD_UNDECIDED;
}

/* A copy of @ev, its payload included.  0 or -ENOMEM. */
int ftr_hold_append(struct ftr_hold *hold, const struct ftr_event *ev);

/* The queue is empty, and @nr events go out without it: they take places, too. */
void ftr_hold_pass(struct ftr_hold *hold, size_t nr);

void ftr_hold_drop(struct ftr_hold *hold, uint64_t place);
/* Leave out all of @task from a place on. */
void ftr_hold_drop_from(struct ftr_hold *hold, uint64_t place, const struct ftr_task *task);

/*
 * Hand out a run of events, FTR_SOURCE_BATCH at most; 0 = the first one is undecided, or there is
 * none.  @is_ready is asked about those that are undecided, and decides them when it says so.
 */
size_t ftr_hold_take(struct ftr_hold *hold, struct ftr_event **evs,
		     bool (*is_ready)(void *arg, struct ftr_event *ev), void *arg);

/* The same of those before @place, decided or not. */
size_t ftr_hold_take_before(struct ftr_hold *hold, uint64_t place, struct ftr_event **evs);

#endif /* FTR_TRACE_HOLD_H */

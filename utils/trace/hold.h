/* SPDX-License-Identifier: MIT */
/*
 * hold: a queue of events in order of time, for sources that decide about an event when they see
 * later ones.  An event that is undecided holds back those behind it.
 *
 * An event's place is its number in the stream of those that were appended.
 */
#ifndef FTR_TRACE_HOLD_H
#define FTR_TRACE_HOLD_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/trace/event.h"
#include "utils/trace/source.h"

struct ftr_held_payload;

/* Flags of events in the queue; streams that are held have no FTR_EVENT_SHORT. */
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
	bool is_ended;			/* no event comes any more: ftr_hold_pull */
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
/*
 * Leave out all of @task from a place on, which is a call's, but for what outlives calls: that is
 * at the call's depth then.
 */
void ftr_hold_drop_from(struct ftr_hold *hold, uint64_t place, const struct ftr_task *task);

/*
 * Hand out a run of events, FTR_SOURCE_BATCH at most; 0 = the first one is undecided, or there is
 * none.  @is_ready is asked about those that are undecided, and decides them when it says so.
 */
size_t ftr_hold_take(struct ftr_hold *hold, struct ftr_event **evs,
		     bool (*is_ready)(void *arg, struct ftr_event *ev), void *arg);

/* The same of those before @place, decided or not. */
size_t ftr_hold_take_before(struct ftr_hold *hold, uint64_t place, struct ftr_event **evs);

/* What a source does with the events that it holds; each gets the source. */
struct ftr_hold_ops {
	/* What of a batch is to be taken, moved to its beginning; how much that is.  (nullable) */
	ssize_t (*shed)(struct ftr_source *self, struct ftr_event *in, ssize_t nr);
	/* Append @ev, and decide about it or about those before.  0 or -ENOMEM. */
	int (*take)(struct ftr_source *self, struct ftr_event *ev);
	/* See ftr_hold_take. */
	bool (*is_ready)(void *self, struct ftr_event *ev);
};

static inline int ftr_hold_take_batch(struct ftr_hold *hold, struct ftr_source *self,
				      struct ftr_source *inner, const struct ftr_hold_ops *ops,
				      struct ftr_err *err)
{
	struct ftr_event *in;
	ssize_t nr = ftr_source_next(inner, &in, err);

	if (nr < 0)
		return (int)nr;
	hold->is_ended = nr == 0;
	if (ops->shed != NULL)
		nr = ops->shed(self, in, nr);
	if (ftr_hold_reserve(hold) < 0)
		return ftr_err_set(err, ENOMEM, "out of memory");
	for (ssize_t i = 0; i < nr; i++) {
		if (ops->take(self, &in[i]) < 0)
			return ftr_err_set(err, ENOMEM, "out of memory");
	}
	return 0;
}

/*
 * The next() of the source @self: what is decided of @inner's events, of which it takes batches
 * until there is something, or no more.  Inline: @ops are constants, and called for each event.
 */
static inline ssize_t ftr_hold_pull(struct ftr_hold *hold, struct ftr_source *self,
				    struct ftr_source *inner, const struct ftr_hold_ops *ops,
				    struct ftr_event **evs, struct ftr_err *err)
{
	size_t out;

	ftr_hold_release(hold);
	while ((out = ftr_hold_take(hold, evs, ops->is_ready, self)) == 0 && !hold->is_ended) {
		int ret = ftr_hold_take_batch(hold, self, inner, ops, err);

		if (ret < 0)
			return ret;
	}
	return (ssize_t)out;
}

#endif /* FTR_TRACE_HOLD_H */

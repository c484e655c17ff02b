/* SPDX-License-Identifier: MIT */
/* A queue of events, some of which are undecided. */
#include "utils/trace/hold.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/trace/source.h"

/* A payload in the queue: the source's do not last. */
struct ftr_held_payload {
	struct ftr_payload payload;	/* first: events point to it */
	struct ftr_held_payload *next;
	size_t cap;
	uint8_t *bytes;			/* (owned, nullable) */
};

static void payload_release(struct ftr_hold *hold, struct ftr_event *ev)
{
	struct ftr_held_payload *held = (struct ftr_held_payload *)ev->payload;

	if (held == NULL)
		return;
	held->next = hold->spare;
	hold->spare = held;
	ev->payload = NULL;
}

static int payload_hold(struct ftr_hold *hold, struct ftr_event *ev)
{
	const struct ftr_payload *payload = ev->payload;
	struct ftr_held_payload *held = hold->spare;

	ev->payload = NULL;
	if (held != NULL)
		hold->spare = held->next;
	else
		held = calloc(1, sizeof(*held));
	if (held == NULL)
		return -ENOMEM;
	held->payload = *payload;
	ev->payload = &held->payload;
	if (payload->len > held->cap) {
		uint8_t *bytes = realloc(held->bytes, payload->len);

		if (bytes == NULL)
			return -ENOMEM;
		held->bytes = bytes;
		held->cap = payload->len;
	}
	if (payload->len > 0)
		memcpy(held->bytes, payload->data, payload->len);
	held->payload.data = held->bytes;
	return 0;
}

/* Who gets the event may move it: what it points to is kept apart. */
static void payload_lend(struct ftr_hold *hold, const struct ftr_event *ev)
{
	struct ftr_held_payload *held = (struct ftr_held_payload *)ev->payload;

	held->next = hold->out;
	hold->out = held;
}

void ftr_hold_release(struct ftr_hold *hold)
{
	while (hold->out != NULL) {
		struct ftr_held_payload *held = hold->out;

		hold->out = held->next;
		held->next = hold->spare;
		hold->spare = held;
	}
	hold->head += hold->handed_out;
	hold->handed_out = 0;
}

/* Forget what was handed out, once it is worth moving the rest. */
static void forget(struct ftr_hold *hold)
{
	size_t rest = hold->queue.nr - hold->head;

	if (hold->head < rest)
		return;
	if (rest > 0)
		memmove(hold->queue.v, hold->queue.v + hold->head, rest * sizeof(*hold->queue.v));
	hold->first += hold->head;
	hold->queue.nr = rest;
	hold->head = 0;
}

int ftr_hold_reserve(struct ftr_hold *hold)
{
	forget(hold);
	return ftr_vec_reserve(&hold->queue, hold->queue.nr + FTR_SOURCE_BATCH);
}

int ftr_hold_append(struct ftr_hold *hold, const struct ftr_event *ev)
{
	struct ftr_event *last = &hold->queue.v[hold->queue.nr];

	if (hold->queue.nr > 0 && last[-1].task != ev->task)
		hold->lone = ftr_hold_next(hold);
	*last = *ev;
	hold->queue.nr++;
	return ev->payload == NULL ? 0 : payload_hold(hold, last);
}

void ftr_hold_pass(struct ftr_hold *hold, size_t nr)
{
	assert(nr == 0 || hold->head == hold->queue.nr);
	hold->first += nr;
}

void ftr_hold_drop(struct ftr_hold *hold, uint64_t place)
{
	struct ftr_event *ev = ftr_hold_at(hold, place);

	payload_release(hold, ev);
	ev->flags |= FTR_HOLD_DROPPED;
}

void ftr_hold_drop_from(struct ftr_hold *hold, uint64_t place, const struct ftr_task *task)
{
	uint32_t depth = ftr_hold_at(hold, place)->depth;
	uint64_t end = place;

	for (uint64_t i = place; i < ftr_hold_next(hold); i++) {
		struct ftr_event *ev = ftr_hold_at(hold, i);

		if (ev->task != task || (ev->flags & FTR_HOLD_DROPPED))
			continue;
		if (!ftr_event_outlives_calls(ev)) {
			ftr_hold_drop(hold, i);
			continue;
		}
		ev->depth = depth;
		end = i + 1;
	}
	if (place >= hold->lone)
		hold->queue.nr = (size_t)(end - hold->first);
}

/* The first that is not left out. */
static struct ftr_event *first_left(struct ftr_hold *hold)
{
	while (hold->head < hold->queue.nr &&
	       (hold->queue.v[hold->head].flags & FTR_HOLD_DROPPED))
		hold->head++;
	return hold->queue.v + hold->head;
}

size_t ftr_hold_take(struct ftr_hold *hold, struct ftr_event **evs,
		     bool (*is_ready)(void *arg, struct ftr_event *ev), void *arg)
{
	size_t nr = 0;

	*evs = first_left(hold);
	while (nr < FTR_SOURCE_BATCH && hold->head + nr < hold->queue.nr) {
		struct ftr_event *ev = &(*evs)[nr];

		if ((ev->flags & FTR_HOLD_DROPPED) ||
		    ((ev->flags & FTR_HOLD_UNDECIDED) && !is_ready(arg, ev)))
			break;
		if (ev->payload != NULL)
			payload_lend(hold, ev);
		nr++;
	}
	hold->handed_out = nr;
	return nr;
}

size_t ftr_hold_take_before(struct ftr_hold *hold, uint64_t place, struct ftr_event **evs)
{
	size_t nr = 0;

	*evs = first_left(hold);
	while (nr < FTR_SOURCE_BATCH && hold->head + nr < hold->queue.nr &&
	       hold->first + hold->head + nr < place &&
	       ((*evs)[nr].flags & FTR_HOLD_DROPPED) == 0) {
		if ((*evs)[nr].payload != NULL)
			payload_lend(hold, &(*evs)[nr]);
		nr++;
	}
	hold->handed_out = nr;
	return nr;
}

void ftr_hold_fini(struct ftr_hold *hold)
{
	ftr_hold_release(hold);
	for (size_t i = hold->head; i < hold->queue.nr; i++)
		payload_release(hold, &hold->queue.v[i]);
	while (hold->spare != NULL) {
		struct ftr_held_payload *next = hold->spare->next;

		free(hold->spare->bytes);
		free(hold->spare);
		hold->spare = next;
	}
	ftr_vec_fini(&hold->queue);
}

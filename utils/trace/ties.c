/* SPDX-License-Identifier: MIT */
/*
 * Runs of events of one time are put in order where they lie.  The last run of a batch may go on in
 * the next one, so it waits for that, as a copy.
 */
#include "utils/trace/ties.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/arena.h"
#include "utils/base/vec.h"
#include "utils/trace/task.h"

#define HELD_MAX 4096	/* events of one time that are sorted; more of them no program makes */

/* Events of one time that were copied, with what they carry. */
struct held {
	FTR_VEC(struct ftr_event) evs;
	struct ftr_arena payloads;
};

struct ties {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	struct held helds[2];		/* what waits, and what is being handed out */
	unsigned waiting;		/* index of the one that waits */
	size_t held_pos;		/* of the other: what was handed out */
	struct ftr_event *body;		/* (borrowed) behind that, in the inner batch */
	size_t body_nr;
	bool is_ended;
};

static void held_clear(struct held *held)
{
	held->evs.nr = 0;
	ftr_arena_clear(&held->payloads);
}

static int held_payload(struct held *held, struct ftr_event *ev)
{
	const struct ftr_payload *from = ev->payload;
	struct ftr_payload *payload;
	uint8_t *data;

	payload = ftr_arena_alloc(&held->payloads, sizeof(*payload));
	data = ftr_arena_alloc(&held->payloads, from->len + (size_t)1);
	if (payload == NULL || data == NULL)
		return -ENOMEM;
	*payload = *from;
	if (from->len > 0)
		memcpy(data, from->data, from->len);
	payload->data = data;
	ev->payload = payload;
	return 0;
}

static int held_add(struct held *held, const struct ftr_event *evs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (ftr_vec_push(&held->evs, evs[i]) < 0 ||
		    (evs[i].payload != NULL &&
		     held_payload(held, &held->evs.v[held->evs.nr - 1]) < 0))
			return -ENOMEM;
	}
	return 0;
}

/* Stable: a task's own events keep their order.  Nearly always they are in order. */
static void run_sort(struct ftr_event *evs, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		struct ftr_event ev = evs[i];
		size_t at = i;

		for (; at > 0 && evs[at - 1].task->tid > ev.task->tid; at--)
			evs[at] = evs[at - 1];
		if (at < i)
			evs[at] = ev;
	}
}

/* How many events from @evs[0] on have its time. */
static size_t run_nr(const struct ftr_event *evs, size_t nr)
{
	size_t i = 1;

	while (i < nr && evs[i].time_ns == evs[0].time_ns)
		i++;
	return i;
}

static void batch_sort(struct ftr_event *evs, size_t nr)
{
	for (size_t i = 0; i < nr;) {
		size_t run = run_nr(evs + i, nr - i);

		if (run > 1)
			run_sort(evs + i, run);
		i += run;
	}
}

/* Where the last run of a batch begins. */
static size_t last_run(const struct ftr_event *evs, size_t nr)
{
	size_t i = nr - 1;

	while (i > 0 && evs[i - 1].time_ns == evs[i].time_ns)
		i--;
	return i;
}

/*
 * Another batch: what waited, with what of the batch belongs to it, can be handed out, and the body
 * of the batch behind it; its last run waits.  0 or -ENOMEM.
 */
static int batch_take(struct ties *self, struct ftr_event *evs, size_t nr)
{
	struct held *ready = &self->helds[self->waiting];
	size_t prefix = 0, last;

	if (ready->evs.nr > 0 && ready->evs.v[0].time_ns == evs[0].time_ns)
		prefix = run_nr(evs, nr);
	if (held_add(ready, evs, prefix) < 0)
		return -ENOMEM;
	if (prefix == nr && ready->evs.nr < HELD_MAX)
		return 0;		/* it goes on waiting */
	run_sort(ready->evs.v, ready->evs.nr);
	self->waiting = !self->waiting;
	self->held_pos = 0;
	last = last_run(evs, nr);
	if (last < prefix)
		last = prefix;
	self->body = evs + prefix;
	self->body_nr = last - prefix;
	batch_sort(self->body, self->body_nr);
	held_clear(&self->helds[self->waiting]);
	return held_add(&self->helds[self->waiting], evs + last, nr - last);
}

/* The next of what can be handed out; 0 = nothing. */
static ssize_t hand_out(struct ties *self, struct ftr_event **evs)
{
	struct held *ready = &self->helds[!self->waiting];
	size_t nr = ready->evs.nr - self->held_pos;

	if (nr > 0) {
		nr = nr < FTR_SOURCE_BATCH ? nr : FTR_SOURCE_BATCH;
		*evs = &ready->evs.v[self->held_pos];
		self->held_pos += nr;
		return (ssize_t)nr;
	}
	*evs = self->body;
	nr = self->body_nr;
	self->body_nr = 0;
	return (ssize_t)nr;
}

static ssize_t ties_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct ties *self = (struct ties *)source;
	ssize_t nr;

	while ((nr = hand_out(self, evs)) == 0 && !self->is_ended) {
		struct ftr_event *batch;

		nr = ftr_source_next(self->inner, &batch, err);
		if (nr < 0)
			return nr;
		if (nr > 0 && batch_take(self, batch, (size_t)nr) < 0)
			return ftr_err_set(err, ENOMEM, "out of memory");
		if (nr > 0)
			continue;
		self->is_ended = true;
		self->held_pos = 0;
		run_sort(self->helds[self->waiting].evs.v, self->helds[self->waiting].evs.nr);
		self->waiting = !self->waiting;
		held_clear(&self->helds[self->waiting]);
	}
	return nr;
}

static void ties_free(struct ftr_source *source)
{
	struct ties *self = (struct ties *)source;

	ftr_source_free(self->inner);
	for (size_t i = 0; i < 2; i++) {
		ftr_arena_fini(&self->helds[i].payloads);
		ftr_vec_fini(&self->helds[i].evs);
	}
	free(self);
}

static const struct ftr_source_ops ties_ops = {
	.next = ties_next,
	.free = ties_free,
};

struct ftr_source *ftr_ties_new(struct ftr_source *inner)
{
	struct ties *self = calloc(1, sizeof(*self));

	if (self == NULL) {
		ftr_source_free(inner);
		return NULL;
	}
	self->base.ops = &ties_ops;
	self->inner = inner;
	ftr_arena_init(&self->helds[0].payloads);
	ftr_arena_init(&self->helds[1].payloads);
	return &self->base;
}

/* SPDX-License-Identifier: MIT */
/*
 * A queue of events in order of time, in which an ENTRY is undecided until its EXIT, a sched-out
 * until its sched-in, or until so much time passed.  Only decided events leave at its head; short
 * calls leave from its middle.
 */
#include "utils/trace/threshold.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/vec.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/per_task.h"
#include "utils/trace/source.h"
#include "utils/trace/stack.h"

struct node {
	struct node *next;
	struct node *prev;
	struct ftr_event ev;
	struct ftr_payload payload;
	uint8_t *bytes;		/* (owned, nullable) of the payload: the source's do not last */
	size_t cap;
	bool is_undecided;
};

struct state {
	struct ftr_stack stack;
	FTR_VEC(struct node *) entries;	/* of the open calls, by depth; NULL = decided */
	struct node *out;	/* (nullable) the task's sched-out, undecided until its sched-in */
};

struct threshold {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	uint64_t threshold_ns;
	struct ftr_per_task states;
	struct node queue;		/* ring: .next = oldest */
	struct node *spare;		/* (owned) by next */
	struct node *handed_out;	/* (owned) by next; spare at the next call */
	bool is_ended;
	struct ftr_event batch[FTR_SOURCE_BATCH];
};

static void nodes_free(struct node *node)
{
	while (node != NULL) {
		struct node *next = node->next;

		free(node->bytes);
		free(node);
		node = next;
	}
}

static void node_unlink(struct node *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
}

static void node_drop(struct threshold *self, struct node *node)
{
	node_unlink(node);
	node->next = self->spare;
	self->spare = node;
}

static int node_keep_payload(struct node *node, const struct ftr_payload *payload)
{
	if (payload->len > node->cap) {
		uint8_t *bytes = realloc(node->bytes, payload->len);

		if (bytes == NULL)
			return -ENOMEM;
		node->bytes = bytes;
		node->cap = payload->len;
	}
	if (payload->len > 0)
		memcpy(node->bytes, payload->data, payload->len);
	node->payload = *payload;
	node->payload.data = node->bytes;
	node->ev.payload = &node->payload;
	return 0;
}

static struct node *node_append(struct threshold *self, const struct ftr_event *ev)
{
	struct node *node = self->spare;

	if (node != NULL)
		self->spare = node->next;
	else
		node = calloc(1, sizeof(*node));
	if (node == NULL)
		return NULL;
	node->ev = *ev;
	node->is_undecided = false;
	node->prev = self->queue.prev;
	node->next = &self->queue;
	node->prev->next = node;
	node->next->prev = node;
	if (ev->payload != NULL && node_keep_payload(node, ev->payload) < 0)
		return NULL;
	return node;
}

/* A sched-out without its sched-in stays. */
static void out_keep(struct state *state)
{
	if (state->out != NULL)
		state->out->is_undecided = false;
	state->out = NULL;
}

/* Leave a short call out, with everything of its task since. */
static void call_drop(struct threshold *self, struct node *entry)
{
	const struct ftr_task *task = entry->ev.task;
	struct node *node = entry;

	while (node != &self->queue) {
		struct node *next = node->next;

		if (node->ev.task == task)
			node_drop(self, node);
		node = next;
	}
}

static int take_entry(struct threshold *self, struct state *state, const struct ftr_event *ev)
{
	struct node *entry = node_append(self, ev);

	out_keep(state);
	if (entry == NULL)
		return -ENOMEM;
	entry->is_undecided = true;
	return ftr_vec_push(&state->entries, entry);
}

/* A call that did not return stays: how long it would have taken is not known. */
static int take_exit(struct threshold *self, struct state *state, const struct ftr_event *ev)
{
	uint64_t duration_ns = ev->time_ns - ev->call.start_ns;
	bool is_short = duration_ns < self->threshold_ns && !(ev->flags & FTR_EVENT_UNFINISHED);
	struct node *entry = state->entries.v[--state->entries.nr];

	out_keep(state);
	if (entry != NULL && is_short) {
		call_drop(self, entry);
		ftr_stack_top(&state->stack)->child_ns -= duration_ns;
		return 0;
	}
	if (entry != NULL)
		entry->is_undecided = false;
	return node_append(self, ev) == NULL ? -ENOMEM : 0;
}

/* From its sched-out to its sched-in a task is as in a call. */
static int take_point(struct threshold *self, struct state *state, const struct ftr_event *ev)
{
	bool is_out = ftr_event_is_sched_out(ev), is_in = ftr_event_is_sched_in(ev);
	uint64_t duration_ns = ev->time_ns - ev->point.start_ns;
	struct node *node;

	if (is_in && state->out != NULL && duration_ns < self->threshold_ns) {
		node_drop(self, state->out);
		state->out = NULL;
		ftr_stack_top(&state->stack)->child_ns -= duration_ns;
		return 0;
	}
	if (is_out || is_in)
		out_keep(state);
	node = node_append(self, ev);
	if (node == NULL)
		return -ENOMEM;
	node->is_undecided = is_out;
	if (is_out)
		state->out = node;
	return 0;
}

static int take(struct threshold *self, struct ftr_event *ev)
{
	struct state *state = ftr_per_task_get(&self->states, ev->task);

	if (state == NULL || ftr_stack_follow(&state->stack, ev) < 0)
		return -ENOMEM;
	if (ev->type == FTR_EVENT_ENTRY)
		return take_entry(self, state, ev);
	if (ev->type == FTR_EVENT_EXIT)
		return take_exit(self, state, ev);
	if (ev->type == FTR_EVENT_POINT && ev->point.kind == FTR_POINT_INSTANT)
		return take_point(self, state, ev);
	return node_append(self, ev) == NULL ? -ENOMEM : 0;
}

/* What is undecided at the head is decided when the stream went on for long enough. */
static bool head_is_ready(struct threshold *self)
{
	struct node *head = self->queue.next;

	if (head == &self->queue)
		return false;
	if (!head->is_undecided || self->is_ended)
		return true;
	if (self->queue.prev->ev.time_ns - head->ev.time_ns < self->threshold_ns)
		return false;
	head->is_undecided = false;
	return true;
}

static size_t hand_out(struct threshold *self)
{
	size_t nr = 0;

	while (nr < FTR_SOURCE_BATCH && head_is_ready(self)) {
		struct node *node = self->queue.next;
		struct state *state = ftr_per_task_get(&self->states, node->ev.task);

		/* An open call whose ENTRY is out must not be looked for again. */
		if (node->ev.type == FTR_EVENT_ENTRY && node->ev.depth < state->entries.nr &&
		    state->entries.v[node->ev.depth] == node)
			state->entries.v[node->ev.depth] = NULL;
		if (node == state->out)
			state->out = NULL;
		self->batch[nr++] = node->ev;
		node_unlink(node);
		node->next = self->handed_out;
		self->handed_out = node;
	}
	return nr;
}

static void reclaim(struct threshold *self)
{
	while (self->handed_out != NULL) {
		struct node *node = self->handed_out;

		self->handed_out = node->next;
		node->next = self->spare;
		self->spare = node;
	}
}

static ssize_t threshold_next(struct ftr_source *source, struct ftr_event **evs,
			      struct ftr_err *err)
{
	struct threshold *self = (struct threshold *)source;
	size_t out;

	reclaim(self);
	while ((out = hand_out(self)) == 0 && !self->is_ended) {
		struct ftr_event *in;
		ssize_t nr = ftr_source_next(self->inner, &in, err);

		if (nr < 0)
			return nr;
		self->is_ended = nr == 0;
		for (ssize_t i = 0; i < nr; i++) {
			if (take(self, &in[i]) < 0)
				return ftr_err_set(err, ENOMEM, "out of memory");
		}
	}
	*evs = self->batch;
	return (ssize_t)out;
}

static void threshold_free(struct ftr_source *source)
{
	struct threshold *self = (struct threshold *)source;
	struct state *state;
	size_t pos = 0;

	ftr_source_free(self->inner);
	while ((state = ftr_per_task_next(&self->states, &pos)) != NULL) {
		ftr_stack_fini(&state->stack);
		ftr_vec_fini(&state->entries);
	}
	ftr_per_task_fini(&self->states);
	self->queue.prev->next = NULL;
	nodes_free(self->queue.next == &self->queue ? NULL : self->queue.next);
	nodes_free(self->spare);
	nodes_free(self->handed_out);
	free(self);
}

static const struct ftr_source_ops threshold_ops = {
	.next = threshold_next,
	.free = threshold_free,
};

struct ftr_source *ftr_threshold_new(struct ftr_source *inner, uint64_t threshold_ns)
{
	struct threshold *self = calloc(1, sizeof(*self));

	assert(threshold_ns > 0);
	if (self == NULL) {
		ftr_source_free(inner);
		return NULL;
	}
	self->base.ops = &threshold_ops;
	self->inner = inner;
	self->threshold_ns = threshold_ns;
	self->states.bytes = sizeof(struct state);
	self->queue.next = &self->queue;
	self->queue.prev = &self->queue;
	return &self->base;
}

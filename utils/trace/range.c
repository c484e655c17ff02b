/* SPDX-License-Identifier: MIT */
/* Cutting a stream in time. */
#include "utils/trace/range.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "utils/trace/per_task.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/source.h"
#include "utils/trace/stack.h"

struct state {
	struct ftr_task *task;
	struct ftr_stack
		stack; /* from the task's first event in the range on: only what is inside */
	size_t shown_nr;		/* open calls whose ENTRY was handed out */
	bool is_inside;
};

struct range {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	struct ftr_pipeline_options options;
	struct ftr_range_ends ends;
	uint64_t last_ns;		/* handed out */
	bool has_ends;			/* they are known */
	struct ftr_per_task states;
	struct ftr_event *in;		/* (borrowed) what is left of inner's batch */
	size_t pos;
	size_t nr;
	size_t drain_pos;
	struct state *draining;
	bool is_ended;
	struct ftr_event made[FTR_SOURCE_BATCH];
};

bool ftr_range_is_needed(const struct ftr_pipeline_options *options)
{
	return options->from_ns != 0 || options->to_ns != 0;
}

struct ftr_range_ends ftr_range_ends(const struct ftr_pipeline_options *options, uint64_t first_ns)
{
	struct ftr_range_ends ends = {
		.from_ns = options->from_ns + (options->from_is_elapsed ? first_ns : 0),
		.to_ns = options->to_ns + (options->to_is_elapsed ? first_ns : 0),
	};

	if (options->to_ns == 0 || ends.to_ns < options->to_ns)
		ends.to_ns = UINT64_MAX;
	return ends;
}

static void range_set_ends(struct range *self, uint64_t first_ns)
{
	self->ends = ftr_range_ends(&self->options, first_ns);
	self->has_ends = true;
}

/* The task's first event in the range: it and its open calls begin here. */
static void state_enter(struct state *state, uint64_t time_ns)
{
	state->is_inside = true;
	for (size_t i = 0; i <= state->stack.open_nr; i++) {
		struct ftr_stack_frame *frame = &state->stack.frames.v[i];

		frame->start_ns = time_ns;
		frame->child_ns = 0;
		frame->flags |= FTR_EVENT_NO_ENTRY;
	}
}

/* Follow an event that is inside. */
static int state_take(struct state *state, struct ftr_event *ev)
{
	uint64_t start_ns = state->stack.frames.v[0].start_ns;

	if (ev->type == FTR_EVENT_POINT && ev->point.start_ns != 0 && ev->point.start_ns < start_ns)
		ev->point.start_ns = start_ns;
	if (ftr_stack_follow(&state->stack, ev) < 0)
		return -ENOMEM;
	state->shown_nr = state->stack.open_nr;
	return 0;
}

/* Hand out the ENTRYs of calls that began before the range. */
static ssize_t range_begin_calls(struct range *self, struct state *state)
{
	size_t nr = 0;

	while (state->shown_nr < state->stack.open_nr && nr < FTR_SOURCE_BATCH) {
		struct ftr_event *made = &self->made[nr++];

		*made = (struct ftr_event){ .task = state->task, .time_ns = self->last_ns,
					    .ahead = self->in[self->pos].ahead & FTR_AHEAD_OFF };
		ftr_stack_make(&state->stack, state->shown_nr++, FTR_EVENT_ENTRY, made);
		made->flags |= FTR_EVENT_NO_ENTRY;
	}
	return (ssize_t)nr;
}

static ssize_t range_drain(struct range *self)
{
	size_t nr = 0;

	while (nr < FTR_SOURCE_BATCH) {
		struct state *state = self->draining;

		if (state == NULL || !state->is_inside || state->stack.open_nr == 0) {
			self->draining = ftr_per_task_next(&self->states, &self->drain_pos);
			if (self->draining == NULL)
				break;
			continue;
		}
		nr += ftr_stack_finish(&state->stack, state->task, self->last_ns, &self->made[nr],
				       FTR_SOURCE_BATCH - nr);
	}
	return (ssize_t)nr;
}

static struct state *range_state(struct range *self, struct ftr_task *task)
{
	struct state *state = ftr_per_task_get(&self->states, task);

	if (state == NULL || ftr_stack_reserve(&state->stack) < 0)
		return NULL;
	state->task = task;
	return state;
}

/* Follow what is before the range. */
static int range_skip(struct range *self)
{
	for (; self->pos < self->nr && self->in[self->pos].time_ns < self->ends.from_ns;
	     self->pos++) {
		struct ftr_event *ev = &self->in[self->pos];
		struct state *state = range_state(self, ev->task);

		if (state == NULL || ftr_stack_follow(&state->stack, ev) < 0)
			return -ENOMEM;
	}
	return 0;
}

/*
 * Follow events from pos on until one is behind the range, or begins calls that have to be made up:
 * *starting is then its task.  Returns the index of that one, or -ENOMEM.
 */
static ssize_t range_take(struct range *self, struct state **starting)
{
	for (size_t i = self->pos; i < self->nr; i++) {
		struct ftr_event *ev = &self->in[i];
		struct state *state = range_state(self, ev->task);

		if (state == NULL)
			return -ENOMEM;
		self->is_ended = ev->time_ns > self->ends.to_ns;
		if (self->is_ended)
			return (ssize_t)i;
		self->last_ns = ev->time_ns;
		if (!state->is_inside)
			state_enter(state, ev->time_ns);
		if (state->shown_nr < state->stack.open_nr) {
			*starting = state;
			return (ssize_t)i;
		}
		if (state_take(state, ev) < 0)
			return -ENOMEM;
	}
	return (ssize_t)self->nr;
}

/* 0 = nothing to hand out yet. */
static ssize_t range_step(struct range *self, struct ftr_event **evs)
{
	struct state *starting = NULL;
	ssize_t end = range_skip(self);

	if (end == 0)
		end = range_take(self, &starting);
	if (end < 0)
		return end;
	*evs = &self->in[self->pos];
	end -= (ssize_t)self->pos;
	self->pos += (size_t)end;
	if (end > 0 || starting == NULL)
		return end;
	*evs = self->made;
	return range_begin_calls(self, starting);
}

static ssize_t range_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct range *self = (struct range *)source;
	ssize_t nr = 0;

	while (nr == 0 && !self->is_ended) {
		if (self->pos == self->nr) {
			nr = ftr_source_next(self->inner, &self->in, err);
			if (nr < 0)
				return nr;
			self->pos = 0;
			self->nr = (size_t)nr;
			self->is_ended = nr == 0;
			if (nr > 0 && !self->has_ends)
				range_set_ends(self, self->in[0].time_ns);
		}
		nr = range_step(self, evs);
		if (nr < 0)
			return ftr_err_set(err, ENOMEM, "out of memory");
	}
	if (nr > 0)
		return nr;
	*evs = self->made;
	return range_drain(self);
}

static void range_free(struct ftr_source *source)
{
	struct range *self = (struct range *)source;
	struct state *state;
	size_t pos = 0;

	ftr_source_free(self->inner);
	while ((state = ftr_per_task_next(&self->states, &pos)) != NULL)
		ftr_stack_fini(&state->stack);
	ftr_per_task_fini(&self->states);
	free(self);
}

static const struct ftr_source_ops range_ops = {
	.next = range_next,
	.free = range_free,
};

struct ftr_source *ftr_range_new(struct ftr_source *inner,
				 const struct ftr_pipeline_options *options, uint64_t first_ns)
{
	struct range *self = calloc(1, sizeof(*self));

	assert(ftr_range_is_needed(options));
	if (self == NULL) {
		ftr_source_free(inner);
		return NULL;
	}
	self->base.ops = &range_ops;
	self->inner = inner;
	self->options = *options;
	if (first_ns != 0)
		range_set_ends(self, first_ns);
	self->states.bytes = sizeof(struct state);
	return &self->base;
}

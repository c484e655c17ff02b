/* SPDX-License-Identifier: MIT */
/* Cutting a stream in time. */
#include "utils/trace/range.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/base/vec.h"
#include "utils/trace/per_task.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/source.h"

struct frame {
	const struct ftr_func *func;
	uint64_t addr;
	uint64_t start_ns;
	uint64_t child_ns;	/* inside the range */
	bool is_cut;		/* began before it */
};

struct state {
	struct ftr_task *task;
	FTR_VEC(struct frame) frames;
	size_t shown_nr;	/* frames whose ENTRY was handed out */
	bool is_inside;
};

struct range {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	struct ftr_pipeline_options options;
	uint64_t from_ns;
	uint64_t to_ns;
	uint64_t last_ns;		/* handed out */
	bool has_ends;			/* from_ns and to_ns are known */
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

static void range_set_ends(struct range *self, uint64_t first_ns)
{
	const struct ftr_pipeline_options *options = &self->options;

	self->from_ns = options->from_ns + (options->from_is_elapsed ? first_ns : 0);
	self->to_ns = options->to_ns + (options->to_is_elapsed ? first_ns : 0);
	if (options->to_ns == 0 || self->to_ns < options->to_ns)
		self->to_ns = UINT64_MAX;
	self->has_ends = true;
}

static int frame_push(struct state *state, const struct ftr_event *ev)
{
	struct frame frame = {
		.func = ev->call.func,
		.addr = ev->call.addr,
		.start_ns = ev->time_ns,
		.is_cut = !state->is_inside,
	};

	return ftr_vec_push(&state->frames, frame);
}

static void frame_pop(struct state *state, struct ftr_event *ev)
{
	const struct frame *frame = &state->frames.v[--state->frames.nr];

	if (state->shown_nr > state->frames.nr)
		state->shown_nr = state->frames.nr;
	if (frame->is_cut) {
		ev->call.start_ns = frame->start_ns;
		ev->flags |= FTR_EVENT_NO_ENTRY;
	}
	ev->call.child_ns = frame->child_ns;
	if (state->frames.nr > 0)
		state->frames.v[state->frames.nr - 1].child_ns += ev->time_ns - frame->start_ns;
}

/* The task's first event in the range: its open calls begin here. */
static void state_enter(struct state *state, uint64_t time_ns)
{
	state->is_inside = true;
	for (size_t i = 0; i < state->frames.nr; i++) {
		state->frames.v[i].start_ns = time_ns;
		state->frames.v[i].child_ns = 0;
	}
}

static int state_follow(struct state *state, struct ftr_event *ev, uint64_t from_ns)
{
	size_t nr = state->frames.nr;

	if (ev->type == FTR_EVENT_ENTRY)
		return frame_push(state, ev);
	if (ev->type == FTR_EVENT_EXIT && nr > 0)
		frame_pop(state, ev);
	if (ev->type == FTR_EVENT_POINT && ev->point.start_ns != 0 && nr > 0) {
		if (ev->point.start_ns < from_ns && state->is_inside)
			ev->point.start_ns = state->frames.v[nr - 1].start_ns;
		state->frames.v[nr - 1].child_ns += ev->time_ns - ev->point.start_ns;
	}
	return 0;
}

static struct ftr_event *made_call(struct range *self, const struct state *state, size_t at,
				   size_t depth, enum ftr_event_type type)
{
	struct ftr_event *made = &self->made[at];

	*made = (struct ftr_event){
		.time_ns = self->last_ns,
		.task = state->task,
		.depth = (uint32_t)depth,
		.type = (uint8_t)type,
		.flags = FTR_EVENT_INFERRED,
	};
	made->call.func = state->frames.v[depth].func;
	made->call.addr = state->frames.v[depth].addr;
	return made;
}

/* Hand out the ENTRYs of calls that began before the range. */
static ssize_t range_begin_calls(struct range *self, struct state *state)
{
	size_t nr = 0;

	while (state->shown_nr < state->frames.nr && nr < FTR_SOURCE_BATCH)
		made_call(self, state, nr++, state->shown_nr++, FTR_EVENT_ENTRY)->flags |=
			FTR_EVENT_NO_ENTRY;
	return (ssize_t)nr;
}

static ssize_t range_drain(struct range *self)
{
	size_t nr = 0;

	while (nr < FTR_SOURCE_BATCH) {
		struct ftr_event *made;

		if (self->draining == NULL || self->draining->shown_nr == 0) {
			self->draining = ftr_per_task_next(&self->states, &self->drain_pos);
			if (self->draining == NULL)
				break;
			continue;
		}
		made = made_call(self, self->draining, nr++, self->draining->shown_nr - 1,
				 FTR_EVENT_EXIT);
		made->flags |= FTR_EVENT_UNFINISHED;
		made->call.start_ns = self->draining->frames.v[made->depth].start_ns;
		frame_pop(self->draining, made);
	}
	return (ssize_t)nr;
}

/* Follow events before the range; 1 when the one at pos is inside, 0 when the batch ended, -ENOMEM. */
static int range_skip(struct range *self, struct state **state)
{
	for (; self->pos < self->nr; self->pos++) {
		struct ftr_event *ev = &self->in[self->pos];

		*state = ftr_per_task_get(&self->states, ev->task);
		if (*state == NULL)
			return -ENOMEM;
		(*state)->task = ev->task;
		if (ev->time_ns > self->to_ns) {
			self->is_ended = true;
			return 0;
		}
		if (ev->time_ns >= self->from_ns)
			return 1;
		if (state_follow(*state, ev, self->from_ns) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Events from pos on that need nothing made up.  Returns the index behind them, or -ENOMEM. */
static ssize_t range_take(struct range *self)
{
	size_t i;

	for (i = self->pos; i < self->nr; i++) {
		struct ftr_event *ev = &self->in[i];
		struct state *state = ftr_per_task_get(&self->states, ev->task);

		if (state == NULL)
			return -ENOMEM;
		if (ev->time_ns > self->to_ns || (!state->is_inside && state->frames.nr > 0))
			break;
		state->task = ev->task;
		state->is_inside = true;
		if (state_follow(state, ev, self->from_ns) < 0)
			return -ENOMEM;
		state->shown_nr = state->frames.nr;
		self->last_ns = ev->time_ns;
	}
	return (ssize_t)i;
}

/* 0 = nothing to hand out yet. */
static ssize_t range_step(struct range *self, struct ftr_event **evs)
{
	struct state *state;
	ssize_t end;
	int ret = range_skip(self, &state);

	if (ret <= 0)
		return ret;
	if (!state->is_inside) {
		self->last_ns = self->in[self->pos].time_ns;
		state_enter(state, self->last_ns);
	}
	if (state->shown_nr < state->frames.nr) {
		*evs = self->made;
		return range_begin_calls(self, state);
	}
	end = range_take(self);
	if (end < 0)
		return end;
	*evs = &self->in[self->pos];
	end -= (ssize_t)self->pos;
	self->pos += (size_t)end;
	return end;
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
		ftr_vec_fini(&state->frames);
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

/* SPDX-License-Identifier: MIT */
/* See stacks.h. */
#include <errno.h>
#include <stdlib.h>

#include "utils/base/bytes.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/func.h"
#include "utils/trace/per_task.h"
#include "utils/trace/source.h"
#include "utils/trace/stacks.h"

/* As in calls.c, which repairs what this follows: such depths are counted instead. */
#define RECORDED_DEPTH_MAX 1023

struct open_call {
	const struct ftr_func *func;	/* (nullable: its ENTRY is missing) */
	const struct ftr_func *const *callers;	/* made up around it, the innermost first */
	size_t caller_nr;
};

/* Of a task. */
struct state {
	FTR_VEC(struct open_call) open;
	size_t made_nr;			/* of all their callers */
	uint32_t stack;			/* number, of the call that comes next; 0 = none */
	size_t stack_depth;		/* its depth */
};

struct stack_calls {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	const struct ftr_stacks *stacks;	/* (borrowed, nullable) of system calls */
	const struct ftr_stacks *call_stacks;	/* (borrowed, nullable) */
	struct ftr_per_task states;
	FTR_VEC(struct ftr_event) spread;	/* a batch with the calls that were made up */
	size_t pos;			/* handed out of it */
};

uint32_t ftr_stack_noted(const struct ftr_event *ev)
{
	const struct ftr_payload *payload = ev->payload;

	if (payload == NULL || payload->len < sizeof(uint64_t))
		return 0;
	return (uint32_t)ftr_get_u64(payload->data, payload->is_big_endian);
}

static int call_put(struct stack_calls *self, const struct ftr_event *of,
		    const struct ftr_func *func)
{
	struct ftr_event ev = {
		.type = of->type, .time_ns = of->time_ns, .task = of->task,
		.depth = FTR_DEPTH_UNKNOWN, .flags = FTR_EVENT_INFERRED,
	};

	ev.call.func = func;
	return ftr_vec_push(&self->spread, ev);
}

/* As many open calls as @nr: others ended, or began, without a record. */
static int open_set(struct state *state, size_t nr)
{
	while (state->open.nr > nr)
		state->made_nr -= state->open.v[--state->open.nr].caller_nr;
	return ftr_vec_extend(&state->open, nr);
}

/*
 * How many of @nr frames are inside of the open calls: up to the innermost of these that is on the
 * stack, as one that tail-called is not.  None, where they are on another stack or beyond its end.
 */
static size_t frames_inside(const struct state *state, const struct ftr_func *const *funcs,
			    size_t nr)
{
	if (state->open.nr == 0)
		return nr;
	for (size_t i = state->open.nr; i-- > 0;) {
		const struct ftr_func *func = state->open.v[i].func;

		for (size_t k = 0; func != NULL && k < nr; k++) {
			if (funcs[k]->name_id == func->name_id)
				return k;
		}
	}
	return 0;
}

/* The callers of @ev, an ENTRY, which are not recorded. */
static void callers_find(const struct stack_calls *self, struct state *state,
			 const struct ftr_event *ev, struct open_call *call)
{
	bool is_next = state->stack_depth == state->open.nr;

	if (ev->call.func->sysid != 0) {
		if (state->open.nr == 0 && ev->payload != NULL)
			call->caller_nr = ftr_stack_funcs(self->stacks, ev->payload->stack,
							  &call->callers);
		return;
	}
	if (is_next && state->stack != 0) {
		size_t nr = ftr_stack_funcs(self->call_stacks, state->stack, &call->callers);

		call->caller_nr = frames_inside(state, call->callers, nr);
	}
	if (state->stack_depth >= state->open.nr)
		state->stack = 0;
}

static int begin(struct stack_calls *self, struct state *state, const struct ftr_event *ev)
{
	struct open_call call = { .func = ev->call.func };
	bool has_depth = ev->depth <= RECORDED_DEPTH_MAX;
	size_t first;
	int ret = has_depth ? open_set(state, ev->depth) : 0;

	if (ret < 0)
		return ret;
	callers_find(self, state, ev, &call);
	first = self->spread.nr;
	for (size_t i = call.caller_nr; ret == 0 && i-- > 0;)
		ret = call_put(self, ev, call.callers[i]);
	if (ret == 0)
		ret = ftr_vec_push(&self->spread, *ev);
	if (ret < 0)
		return ret;
	self->spread.v[self->spread.nr - 1].depth = FTR_DEPTH_UNKNOWN;
	if (has_depth)	/* of the outermost: what is deeper has ended */
		self->spread.v[first].depth = ev->depth + (uint32_t)state->made_nr;
	state->made_nr += call.caller_nr;
	return ftr_vec_push(&state->open, call);
}

/* The depth of the call that @ev, an EXIT, ends. */
static size_t depth_of_end(const struct state *state, const struct ftr_event *ev)
{
	if (ev->depth <= RECORDED_DEPTH_MAX)
		return ev->depth;
	for (size_t i = state->open.nr; i-- > 0;) {
		if (state->open.v[i].func == ev->call.func)
			return i;
	}
	return state->open.nr;		/* its ENTRY is missing */
}

static int end(struct stack_calls *self, struct state *state, const struct ftr_event *ev)
{
	size_t depth = depth_of_end(state, ev);
	struct open_call call = { 0 };
	struct ftr_event ended = *ev;
	int ret = open_set(state, depth + 1);

	if (ret < 0)
		return ret;
	if (state->open.v[depth].func == ev->call.func)	/* else a jump ends the callers, too */
		call = state->open.v[depth];
	ret = open_set(state, depth);
	ended.depth = (uint32_t)(depth + state->made_nr + call.caller_nr);
	if (ret == 0)
		ret = ftr_vec_push(&self->spread, ended);
	for (size_t i = 0; ret == 0 && i < call.caller_nr; i++)
		ret = call_put(self, ev, call.callers[i]);
	return ret;
}

static int event_spread(struct stack_calls *self, const struct ftr_event *ev)
{
	struct state *state = ftr_per_task_get(&self->states, ev->task);

	if (state == NULL)
		return -ENOMEM;
	if (ev->type == FTR_EVENT_ENTRY)
		return begin(self, state, ev);
	if (ev->type == FTR_EVENT_EXIT)
		return end(self, state, ev);
	if (ev->type == FTR_EVENT_POINT && ftr_event_kind_id(ev) == FTR_EVENT_ID_BACKTRACE) {
		state->stack = ftr_stack_noted(ev);
		state->stack_depth = state->open.nr;
	}
	return ftr_vec_push(&self->spread, *ev);
}

static ssize_t refill(struct stack_calls *self, struct ftr_err *err)
{
	struct ftr_event *evs;
	ssize_t nr = ftr_source_next(self->inner, &evs, err);

	self->spread.nr = self->pos = 0;
	for (ssize_t i = 0; i < nr; i++) {
		if (event_spread(self, &evs[i]) < 0)
			return ftr_err_set(err, ENOMEM, "out of memory");
	}
	return nr;
}

static ssize_t stack_calls_next(struct ftr_source *source, struct ftr_event **evs,
				struct ftr_err *err)
{
	struct stack_calls *self = (struct stack_calls *)source;
	size_t nr;

	if (self->pos == self->spread.nr) {
		ssize_t ret = refill(self, err);

		if (ret <= 0)
			return ret;
	}
	nr = self->spread.nr - self->pos;
	nr = nr < FTR_SOURCE_BATCH ? nr : FTR_SOURCE_BATCH;
	*evs = &self->spread.v[self->pos];
	self->pos += nr;
	return (ssize_t)nr;
}

static void stack_calls_free(struct ftr_source *source)
{
	struct stack_calls *self = (struct stack_calls *)source;
	struct state *state;
	size_t pos = 0;

	while ((state = ftr_per_task_next(&self->states, &pos)) != NULL)
		ftr_vec_fini(&state->open);
	ftr_source_free(self->inner);
	ftr_per_task_fini(&self->states);
	ftr_vec_fini(&self->spread);
	free(self);
}

static const struct ftr_source_ops stack_calls_ops = {
	.next = stack_calls_next, .free = stack_calls_free,
};

struct ftr_source *ftr_stack_calls_new(struct ftr_source *inner, const struct ftr_stacks *stacks,
				       const struct ftr_stacks *call_stacks)
{
	struct stack_calls *self = calloc(1, sizeof(*self));

	if (self == NULL) {
		ftr_source_free(inner);
		return NULL;
	}
	self->base.ops = &stack_calls_ops;
	self->base.task = inner->task;
	self->inner = inner;
	self->stacks = stacks;
	self->call_stacks = call_stacks;
	self->states.bytes = sizeof(struct state);
	return &self->base;
}

/* SPDX-License-Identifier: MIT */
/* See stacks.h. */
#include <errno.h>
#include <stdlib.h>

#include "utils/trace/func.h"
#include "utils/trace/per_task.h"
#include "utils/trace/source.h"
#include "utils/trace/stacks.h"

/* Of a task. */
struct state {
	uint32_t recorded;		/* open calls that were */
	uint32_t stack;			/* number, of the system call that is open; 0 = none */
};

struct stack_calls {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	const struct ftr_stacks *stacks;	/* (borrowed) */
	struct ftr_per_task states;
	FTR_VEC(struct ftr_event) spread;	/* a batch with the calls that were made up */
	size_t pos;			/* handed out of it */
};

static bool is_syscall(const struct ftr_event *ev)
{
	return ev->type <= FTR_EVENT_EXIT && ev->call.func->sysid != 0;
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

static int begin(struct stack_calls *self, struct state *state, const struct ftr_event *ev)
{
	uint32_t number = ev->payload != NULL ? ev->payload->stack : 0;
	const struct ftr_func *const *funcs = NULL;
	size_t nr = ftr_stack_funcs(self->stacks, number, &funcs);
	int ret = 0;

	state->stack = state->recorded == 0 && nr > 0 ? number : 0;
	for (size_t i = nr; ret == 0 && state->stack != 0 && i-- > 0;)
		ret = call_put(self, ev, funcs[i]);
	if (ret == 0)
		ret = ftr_vec_push(&self->spread, *ev);
	if (ret == 0 && state->stack != 0) {	/* a new image's first call is the outermost */
		self->spread.v[self->spread.nr - 1 - nr].depth = ev->depth;
		self->spread.v[self->spread.nr - 1].depth = FTR_DEPTH_UNKNOWN;
	}
	return ret;
}

static int end(struct stack_calls *self, struct state *state, const struct ftr_event *ev)
{
	const struct ftr_func *const *funcs = NULL;
	size_t nr = ftr_stack_funcs(self->stacks, state->stack, &funcs);
	int ret = ftr_vec_push(&self->spread, *ev);

	for (size_t i = 0; ret == 0 && i < nr; i++)
		ret = call_put(self, ev, funcs[i]);
	state->stack = 0;
	return ret;
}

static int event_spread(struct stack_calls *self, const struct ftr_event *ev)
{
	struct state *state = ftr_per_task_get(&self->states, ev->task);

	if (state == NULL)
		return -ENOMEM;
	if (is_syscall(ev))
		return ev->type == FTR_EVENT_ENTRY ? begin(self, state, ev) : end(self, state, ev);
	if (ev->type == FTR_EVENT_ENTRY)
		state->recorded++;
	else if (ev->type == FTR_EVENT_EXIT && state->recorded > 0)
		state->recorded--;
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

	ftr_source_free(self->inner);
	ftr_per_task_fini(&self->states);
	ftr_vec_fini(&self->spread);
	free(self);
}

static const struct ftr_source_ops stack_calls_ops = {
	.next = stack_calls_next, .free = stack_calls_free,
};

struct ftr_source *ftr_stack_calls_new(struct ftr_source *inner, const struct ftr_stacks *stacks)
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
	self->states.bytes = sizeof(struct state);
	return &self->base;
}

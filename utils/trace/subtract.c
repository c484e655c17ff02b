/* SPDX-License-Identifier: MIT */
/* A task's clock that stands still while the tracer works. */
#include "utils/trace/subtract.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/trace/func.h"
#include "utils/trace/per_task.h"
#include "utils/trace/source.h"

struct clock {
	uint64_t taken_ns;	/* off all times from here on */
	uint64_t last_ns;	/* of the last event, as it was handed on */
	bool is_begun;
};

struct subtract {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	uint64_t cost_ns[2];		/* by the event's type: before an ENTRY, before an EXIT */
	struct ftr_per_task clocks;
};

/* What the tracer took since the task's last event. */
static uint64_t cost_of(const struct subtract *self, const struct ftr_event *ev)
{
	if (ev->type > FTR_EVENT_EXIT || ftr_func_is_kernel(ev->call.func))
		return 0;
	return self->cost_ns[ev->type];
}

static void move_event(const struct subtract *self, struct clock *clock, struct ftr_event *ev)
{
	uint64_t taken_ns = clock->taken_ns;
	uint64_t now_ns = ev->time_ns > taken_ns ? ev->time_ns - taken_ns : 0;
	uint64_t cost_ns = cost_of(self, ev);

	/* A step back in time is for calls to repair. */
	if (clock->is_begun && now_ns > clock->last_ns) {
		if (cost_ns > now_ns - clock->last_ns)
			cost_ns = now_ns - clock->last_ns;
		clock->taken_ns += cost_ns;
		now_ns -= cost_ns;
	}
	clock->is_begun = true;
	clock->last_ns = now_ns;
	ev->time_ns = now_ns;
}

static ssize_t subtract_next(struct ftr_source *source, struct ftr_event **evs,
			     struct ftr_err *err)
{
	struct subtract *self = (struct subtract *)source;
	ssize_t nr = ftr_source_next(self->inner, evs, err);

	source->is_calls_only = self->inner->is_calls_only;
	for (ssize_t i = 0; i < nr; i++) {
		struct clock *clock = ftr_per_task_get(&self->clocks, (*evs)[i].task);

		if (clock == NULL)
			return ftr_err_set(err, ENOMEM, "out of memory");
		move_event(self, clock, &(*evs)[i]);
	}
	return nr;
}

static void subtract_free(struct ftr_source *source)
{
	struct subtract *self = (struct subtract *)source;

	ftr_source_free(self->inner);
	ftr_per_task_fini(&self->clocks);
	free(self);
}

static const struct ftr_source_ops subtract_ops = { .next = subtract_next, .free = subtract_free };

struct ftr_source *ftr_subtract_new(struct ftr_source *inner, uint32_t call_ns, uint32_t caller_ns)
{
	struct subtract *self = calloc(1, sizeof(*self));

	if (self == NULL) {
		ftr_source_free(inner);
		return NULL;
	}
	self->base.ops = &subtract_ops;
	self->inner = inner;
	self->cost_ns[FTR_EVENT_ENTRY] = caller_ns;
	self->cost_ns[FTR_EVENT_EXIT] = call_ns;
	self->clocks.bytes = sizeof(struct clock);
	return &self->base;
}

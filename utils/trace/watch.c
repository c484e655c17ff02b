/* SPDX-License-Identifier: MIT */
/* Watching how a trace is read. */
#include "utils/trace/watch.h"

#include <stdlib.h>

#include "utils/trace/source.h"

#define TICK_BATCHES 32u

struct watch {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	struct ftr_watch *watch;	/* (borrowed) */
	unsigned batch_nr;		/* since the last tick */
};

static ssize_t watch_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct watch *self = (struct watch *)source;
	ssize_t nr;

	if (self->watch->is_ending) {
		self->watch->was_ended = true;
		return 0;
	}
	nr = ftr_source_next(self->inner, evs, err);
	self->base.is_calls_only = self->inner->is_calls_only;
	if (nr <= 0)
		return nr;
	self->watch->events += (uint64_t)nr;
	if (++self->batch_nr == TICK_BATCHES) {
		self->batch_nr = 0;
		if (self->watch->tick != NULL)
			self->watch->tick(self->watch);
	}
	return nr;
}

static void watch_free(struct ftr_source *source)
{
	struct watch *self = (struct watch *)source;

	ftr_source_free(self->inner);
	free(self);
}

static const struct ftr_source_ops watch_ops = {
	.next = watch_next,
	.free = watch_free,
};

struct ftr_source *ftr_watch_new(struct ftr_source *inner, struct ftr_watch *watch)
{
	struct watch *self = malloc(sizeof(*self));

	if (self == NULL) {
		ftr_source_free(inner);
		return NULL;
	}
	*self = (struct watch){
		.base = { .ops = &watch_ops, .is_of_one_task = inner->is_of_one_task },
		.inner = inner,
		.watch = watch,
	};
	return &self->base;
}

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
	const struct ftr_run *offered;	/* (nullable) counts if it was taken */
};

static void watch_tick(struct watch *self, unsigned batches)
{
	self->batch_nr += batches;
	if (self->batch_nr < TICK_BATCHES)
		return;
	self->batch_nr = 0;
	if (self->watch->tick != NULL)
		self->watch->tick(self->watch);
}

/* The run that was offered last: its events were read, or come once more. */
static void watch_settle(struct watch *self)
{
	if (self->offered != NULL && self->offered->is_taken) {
		self->watch->events += self->offered->event_nr;
		watch_tick(self, (unsigned)(self->offered->event_nr / FTR_SOURCE_BATCH) + 1);
	}
	self->offered = NULL;
}

static ssize_t watch_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct watch *self = (struct watch *)source;
	ssize_t nr;

	watch_settle(self);
	if (self->watch->is_ending) {
		self->watch->was_ended = true;
		return 0;
	}
	nr = ftr_source_next(self->inner, evs, err);
	self->base.is_calls_only = self->inner->is_calls_only;
	if (nr <= 0)
		return nr;
	self->watch->events += (uint64_t)nr;
	watch_tick(self, 1);
	return nr;
}

static void watch_wish(struct ftr_source *source, const struct ftr_run_wish *wish)
{
	ftr_source_wish(((struct watch *)source)->inner, wish);
}

static int watch_run(struct ftr_source *source, struct ftr_run **run, struct ftr_err *err)
{
	struct watch *self = (struct watch *)source;
	int ret;

	watch_settle(self);
	if (self->watch->is_ending)
		return 0;
	ret = ftr_source_run(self->inner, run, err);
	if (ret > 0)
		self->offered = *run;
	return ret;
}

static void watch_free(struct ftr_source *source)
{
	struct watch *self = (struct watch *)source;

	ftr_source_free(self->inner);
	free(self);
}

static const struct ftr_source_ops watch_ops = {
	.next = watch_next,
	.wish = watch_wish,
	.run = watch_run,
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
		.base = { .ops = &watch_ops, .task = inner->task },
		.inner = inner,
		.watch = watch,
	};
	return &self->base;
}

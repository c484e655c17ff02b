/* SPDX-License-Identifier: MIT */
/*
 * A heap of sources by the time of their next event.  A long run of one source is handed out where it
 * lies; short ones are collected in a batch of our own.
 */
#include "utils/trace/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RUN_MIN 48	/* a run of so many events is worth a batch of its own */

struct input {
	struct ftr_source *source;	/* (owned) NULL at its end */
	struct ftr_event *evs;		/* (borrowed) what is left of its batch */
	struct ftr_event *end;
	uint64_t time_ns;		/* of evs[0] */
	size_t order;
};

struct merge {
	struct ftr_source base;
	struct input *heap;		/* (owned) by time, then order; [0] is next */
	size_t nr;			/* inputs in the heap */
	size_t all_nr;			/* with those still to be started or already ended */
	bool is_started;
	struct ftr_event batch[FTR_SOURCE_BATCH];
};

static inline bool input_before(const struct input *a, const struct input *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static void heap_sift_down(struct merge *self, size_t i)
{
	struct input moving = self->heap[i];
	size_t child;

	while ((child = 2 * i + 1) < self->nr) {
		if (child + 1 < self->nr &&
		    input_before(&self->heap[child + 1], &self->heap[child]))
			child++;
		if (!input_before(&self->heap[child], &moving))
			break;
		self->heap[i] = self->heap[child];
		i = child;
	}
	self->heap[i] = moving;
}

/* The next batch of an input.  1, 0 at its end (the source is freed), or -errno. */
static int input_refill(struct input *input, struct ftr_err *err)
{
	ssize_t nr = ftr_source_next(input->source, &input->evs, err);

	if (nr < 0)
		return (int)nr;
	if (nr == 0) {
		ftr_source_free(input->source);
		input->source = NULL;
		return 0;
	}
	input->end = input->evs + nr;
	input->time_ns = input->evs[0].time_ns;
	return 1;
}

static int merge_start(struct merge *self, struct ftr_err *err)
{
	for (size_t i = 0; i < self->all_nr; i++) {
		int ret = input_refill(&self->heap[i], err);

		if (ret < 0)
			return ret;
		if (ret > 0) {
			struct input filled = self->heap[i];

			self->heap[i] = self->heap[self->nr];
			self->heap[self->nr++] = filled;
		}
	}
	for (size_t i = self->nr / 2; i-- > 0;)
		heap_sift_down(self, i);
	self->is_started = true;
	return 0;
}

/* The event before which the first input has to stop: the earliest of the others. */
static const struct input *merge_runner_up(const struct merge *self)
{
	if (self->nr < 2)
		return NULL;
	if (self->nr > 2 && input_before(&self->heap[2], &self->heap[1]))
		return &self->heap[2];
	return &self->heap[1];
}

/* How many of the first input's events come before everything else. */
static size_t merge_run(const struct merge *self)
{
	const struct input *first = &self->heap[0];
	const struct input *other = merge_runner_up(self);
	size_t left = (size_t)(first->end - first->evs);
	uint64_t limit_ns;
	size_t nr;

	if (other == NULL)
		return left;
	limit_ns = other->time_ns;
	if (first->order > other->order)
		limit_ns--;			/* a tie goes to the other; it is later than first, so > 0 */
	if (first->end[-1].time_ns <= limit_ns)
		return left;
	for (nr = 1; nr < left && first->evs[nr].time_ns <= limit_ns; nr++)
		;
	return nr;
}

/* The first input has nothing left: fetch more, or drop it. */
static int merge_advance(struct merge *self, struct ftr_err *err)
{
	int ret = input_refill(&self->heap[0], err);

	if (ret < 0)
		return ret;
	if (ret == 0) {
		struct input ended = self->heap[0];

		self->heap[0] = self->heap[--self->nr];
		self->heap[self->nr] = ended;
	}
	if (self->nr > 0)
		heap_sift_down(self, 0);
	return 0;
}

static ssize_t merge_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct merge *self = (struct merge *)source;
	size_t nr = 0;
	int ret = 0;

	if (!self->is_started)
		ret = merge_start(self, err);
	while (ret == 0 && self->nr > 0) {
		struct input *first = &self->heap[0];
		size_t run;

		if (first->evs == first->end) {
			if (nr > 0)		/* its payloads live until it is asked again */
				break;
			ret = merge_advance(self, err);
			continue;
		}
		run = merge_run(self);
		if (nr == 0 && run >= RUN_MIN) {
			*evs = first->evs;
			nr = run;
		} else if (run >= RUN_MIN) {
			break;
		} else {
			if (run > FTR_SOURCE_BATCH - nr)
				run = FTR_SOURCE_BATCH - nr;
			memcpy(&self->batch[nr], first->evs, run * sizeof(*first->evs));
			*evs = self->batch;
			nr += run;
		}
		first->evs += run;
		if (first->evs < first->end) {
			first->time_ns = first->evs[0].time_ns;
			heap_sift_down(self, 0);
		}
		if (*evs != self->batch || nr == FTR_SOURCE_BATCH)
			break;
	}
	return ret < 0 ? ret : (ssize_t)nr;
}

static void merge_free(struct ftr_source *source)
{
	struct merge *self = (struct merge *)source;

	for (size_t i = 0; i < self->all_nr; i++)
		ftr_source_free(self->heap[i].source);
	free(self->heap);
	free(self);
}

static const struct ftr_source_ops merge_ops = {
	.next = merge_next,
	.free = merge_free,
};

/* One source after the other, in order. */
static ssize_t chain_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct merge *self = (struct merge *)source;

	while (self->nr < self->all_nr) {
		struct input *input = &self->heap[self->nr];
		ssize_t nr = ftr_source_next(input->source, evs, err);

		if (nr != 0)
			return nr;
		ftr_source_free(input->source);
		input->source = NULL;
		self->nr++;
	}
	return 0;
}

static const struct ftr_source_ops chain_ops = {
	.next = chain_next,
	.free = merge_free,
};

struct ftr_source *ftr_merge_new(struct ftr_source *const *sources, size_t nr, bool is_unordered)
{
	struct merge *self = NULL;

	if (nr == 1)
		return sources[0];
	self = calloc(1, sizeof(*self));
	if (self != NULL)
		self->heap = calloc(nr + 1, sizeof(*self->heap));
	if (self == NULL || self->heap == NULL) {
		for (size_t i = 0; i < nr; i++)
			ftr_source_free(sources[i]);
		free(self);
		return NULL;
	}
	self->base.ops = is_unordered ? &chain_ops : &merge_ops;
	self->all_nr = nr;
	for (size_t i = 0; i < nr; i++)
		self->heap[i] = (struct input){ .source = sources[i], .order = i };
	return &self->base;
}

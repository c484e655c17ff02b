/* SPDX-License-Identifier: MIT */
/*
 * A tree of merges of two.  Long runs of one side, the usual case between tasks that take turns,
 * are handed out where they lie; finely mixed sides are copied without branches, which
 * would be mispredicted.
 */
#include "utils/trace/merge.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/trace/input.h"
#include "utils/trace/task.h"

#define RUN_MIN 48	/* a run of so many events is worth a batch of its own */

struct merge {
	struct ftr_source base;
	struct ftr_input a;		/* first at equal times of one task */
	struct ftr_input b;
	struct ftr_event *batch;	/* (owned) allocated when needed */
};

static ssize_t input_hand_out(struct ftr_input *input, struct ftr_event **evs, size_t nr)
{
	*evs = input->evs;
	if (nr > 0)	/* else there may be no batch */
		input->evs += nr;
	input->nr -= nr;
	return (ssize_t)nr;
}

/* How many events of @input are before @limit_ns; 0 when fewer than a run. */
static size_t input_run(const struct ftr_input *input, uint64_t limit_ns)
{
	size_t low = RUN_MIN;
	size_t high = input->nr;

	if (high < RUN_MIN || input->evs[RUN_MIN - 1].time_ns >= limit_ns)
		return 0;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (input->evs[mid].time_ns < limit_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* @b where @is_b is 1, else @a: of "?:" the compiler would make a branch. */
static inline const struct ftr_event *either(const struct ftr_event *a, const struct ftr_event *b,
					     size_t is_b)
{
	return (const struct ftr_event *)((uintptr_t)a ^
					  (((uintptr_t)a ^ (uintptr_t)b) & (0 - is_b)));
}

/* Mix as much as fits without asking either side for more: its payloads live until then. */
static size_t merge_mix(struct merge *self)
{
	const struct ftr_event *a = self->a.evs, *a_end = a + self->a.nr;
	const struct ftr_event *b = self->b.evs, *b_end = b + self->b.nr;
	struct ftr_event *to = self->batch, *end = to + FTR_SOURCE_BATCH;

	while (to < end && a < a_end && b < b_end) {
		size_t is_b = b->time_ns < a->time_ns;

		if (__builtin_expect(b->time_ns == a->time_ns, 0))
			is_b = b->task->tid < a->task->tid;
		*to++ = *either(a, b, is_b);
		b += is_b;
		a += 1 - is_b;
	}
	self->a.nr = (size_t)(a_end - a);
	self->a.evs += a - self->a.evs;
	self->b.nr = (size_t)(b_end - b);
	self->b.evs += b - self->b.evs;
	return (size_t)(to - self->batch);
}

static ssize_t merge_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct merge *self = (struct merge *)source;
	int has_a = ftr_input_fill(&self->a, err);
	int has_b = has_a < 0 ? 0 : ftr_input_fill(&self->b, err);
	size_t run;

	if (has_a < 0 || has_b < 0)
		return has_a < 0 ? has_a : has_b;
	if (!has_b)
		return input_hand_out(&self->a, evs, self->a.nr);
	if (!has_a)
		return input_hand_out(&self->b, evs, self->b.nr);
	run = input_run(&self->a, self->b.evs[0].time_ns);
	if (run > 0)
		return input_hand_out(&self->a, evs, run);
	run = input_run(&self->b, self->a.evs[0].time_ns);
	if (run > 0)
		return input_hand_out(&self->b, evs, run);
	if (self->batch == NULL) {
		self->batch = aligned_alloc(FTR_CACHE_LINE,
					    FTR_SOURCE_BATCH * sizeof(*self->batch));
		if (self->batch == NULL)
			return ftr_err_set(err, ENOMEM, "out of memory");
	}
	*evs = self->batch;
	return (ssize_t)merge_mix(self);
}

static void merge_seek(struct ftr_source *source, const struct ftr_seek *seek)
{
	struct merge *self = (struct merge *)source;

	ftr_source_seek(self->a.source, seek);
	ftr_source_seek(self->b.source, seek);
}

static void merge_free(struct ftr_source *source)
{
	struct merge *self = (struct merge *)source;

	ftr_source_free(self->a.source);
	ftr_source_free(self->b.source);
	free(self->batch);
	free(self);
}

static const struct ftr_source_ops merge_ops = {
	.next = merge_next,
	.seek = merge_seek,
	.free = merge_free,
};

/* One source after the other, in order. */
static ssize_t chain_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct merge *self = (struct merge *)source;
	int has = ftr_input_fill(&self->a, err);

	if (has == 0)
		has = ftr_input_fill(&self->b, err);
	if (has < 0)
		return has;
	return self->a.nr > 0 ? input_hand_out(&self->a, evs, self->a.nr)
			      : input_hand_out(&self->b, evs, self->b.nr);
}

static void chain_wish(struct ftr_source *source, const struct ftr_run_wish *wish)
{
	struct merge *self = (struct merge *)source;

	ftr_source_wish(self->a.source, wish);
	ftr_source_wish(self->b.source, wish);
}

static int chain_run(struct ftr_source *source, struct ftr_run **run, struct ftr_err *err)
{
	struct merge *self = (struct merge *)source;
	struct ftr_input *input = self->a.source != NULL ? &self->a : &self->b;

	if (self->a.nr > 0 || self->b.nr > 0 || input->source == NULL)
		return 0;
	return ftr_source_run(input->source, run, err);
}

static const struct ftr_source_ops chain_ops = {
	.next = chain_next,
	.wish = chain_wish,
	.run = chain_run,
	.free = merge_free,
};

static struct ftr_source *pair_new(struct ftr_source *a, struct ftr_source *b,
				   const struct ftr_source_ops *ops)
{
	struct merge *self = a == NULL || b == NULL ? NULL : calloc(1, sizeof(*self));

	if (self == NULL) {
		ftr_source_free(a);
		ftr_source_free(b);
		return NULL;
	}
	self->base.ops = ops;
	self->a.source = a;
	self->b.source = b;
	return &self->base;
}

static ssize_t nothing_next(struct ftr_source *source, struct ftr_event **evs,
			    struct ftr_err *err)
{
	return 0;
}

static void nothing_free(struct ftr_source *source)
{
	free(source);
}

static const struct ftr_source_ops nothing_ops = {
	.next = nothing_next,
	.free = nothing_free,
};

struct ftr_source *ftr_merge_new(struct ftr_source *const *sources, size_t nr, bool is_unordered)
{
	const struct ftr_source_ops *ops = is_unordered ? &chain_ops : &merge_ops;
	struct ftr_source *nothing;

	if (nr == 1)
		return sources[0];
	if (nr > 1)
		return pair_new(ftr_merge_new(sources, nr / 2, is_unordered),
				ftr_merge_new(sources + nr / 2, nr - nr / 2, is_unordered), ops);
	nothing = calloc(1, sizeof(*nothing));
	if (nothing != NULL)
		nothing->ops = &nothing_ops;
	return nothing;
}

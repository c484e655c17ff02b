/* SPDX-License-Identifier: MIT */
/* See threshold_time.h. */
#include "utils/trace/threshold_time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/vec.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/hold.h"
#include "utils/trace/source.h"
#include "utils/trace/threshold_sum.h"

/* An open call.  Places are those of the hold; those of the batch follow them. */
struct level {
	uint64_t place;			/* of its ENTRY */
	uint64_t start_ns;
	uint64_t dropped_ns;		/* in callees that were left out */
	uint64_t is_kept;		/* 0, or 1: however short; read before it is set, too */
};

struct threshold_time {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	uint64_t threshold_ns;
	FTR_VEC(struct level) levels;	/* [1] = outermost, [0] = outside of all; nr is not used */
	size_t open_nr;
	uint64_t out, out_ns;		/* place and time of a sched-out that waits, or NOWHERE */
	uint64_t last_ns;
	struct ftr_hold hold;		/* what is not decided of the batches before */
	struct ftr_event *in;		/* (borrowed) the batch, as far as it is left */
	size_t nr;
	uint64_t lasting_end;		/* place behind the last event that outlives calls */
	bool is_ended;
	struct ftr_threshold_sum sum;	/* instead of all this, for sinks that add up */
};

/* The place of the batch's first event. */
static uint64_t batch_place(const struct threshold_time *self)
{
	return ftr_hold_next(&self->hold);
}

/* A call that did not return stays, and with it those that it is in. */
static void levels_keep(struct threshold_time *self, size_t depth)
{
	for (size_t i = depth + 1; i > 0 && !self->levels.v[i].is_kept; i--)
		self->levels.v[i].is_kept = 1;
}

/*
 * The call at @place, whose end is @exit, is left out with all in it, of which @kept events are in
 * the batch, but for what outlives calls.  Answers with the place that comes next.
 */
static uint64_t drop_slow(struct threshold_time *self, uint64_t place, const struct ftr_event *exit,
			  size_t kept)
{
	uint64_t first = batch_place(self);
	size_t from = place < first ? 0 : (size_t)(place - first), left = from;

	for (size_t i = from; i < kept; i++) {
		if (!ftr_event_outlives_calls(&self->in[i]))
			continue;
		self->in[left] = self->in[i];
		self->in[left++].depth = exit->depth;
	}
	if (place < first)
		ftr_hold_drop_from(&self->hold, place, exit->task);
	first = batch_place(self);
	self->lasting_end = first + left > place ? first + left : place;
	return first + left;
}

/*
 * ENTRY and EXIT from @i on, in place: what stays is moved to @kept.  All three, an ENTRY, an EXIT
 * that stays and one that takes its call along, are done in one, without a branch between them: it
 * would be mispredicted.  Returns the index of the first event that is something else.
 */
static size_t take_calls(struct threshold_time *self, size_t i, size_t nr, size_t *kept_nr)
{
	uint64_t threshold_ns = self->threshold_ns, first = batch_place(self);
	uint64_t slow_before = first > self->lasting_end ? first : self->lasting_end;
	struct level *levels = self->levels.v;
	struct ftr_event *in = self->in;
	uint64_t kept = *kept_nr;

	for (; i < nr && in[i].type <= FTR_EVENT_EXIT; i++) {
		struct ftr_event *ev = &in[i];
		struct level *level = &levels[ev->depth + 1];
		uint64_t duration_ns = ev->time_ns - ev->call.start_ns, place = level->place;
		uint64_t is_exit = 0 - (uint64_t)ev->type, is_short;	/* all bits or none */

		if (__builtin_expect(ev->flags & FTR_EVENT_UNFINISHED, 0))
			levels_keep(self, ev->depth);
		is_short = (0 - (uint64_t)((duration_ns < threshold_ns) & !level->is_kept)) &
			   is_exit;
		if (__builtin_expect((is_short & (0 - (uint64_t)(place < slow_before))) != 0, 0)) {
			place = drop_slow(self, place, ev, kept);
			first = batch_place(self);
			slow_before = first > self->lasting_end ? first : self->lasting_end;
		}
		if (kept != i)
			in[kept] = *ev;	/* before it changes: else it would wait for that */
		in[kept].call.child_ns -= level->dropped_ns & is_exit;
		level[-1].dropped_ns += duration_ns & is_short;
		*level = (struct level){ first + kept, in[kept].time_ns, 0, false };
		kept = is_short ? place - first : kept + 1;
	}
	*kept_nr = kept;
	return i;
}

/* From its sched-out to its sched-in a task is as in a call. */
static bool is_short_pause(const struct threshold_time *self, const struct ftr_event *ev)
{
	return self->out != FTR_HOLD_NOWHERE && ftr_event_is_sched_in(ev) &&
	       ev->time_ns - ev->point.start_ns < self->threshold_ns;
}

/* Only what is no call stands between the two. */
static size_t drop_pause(struct threshold_time *self, const struct ftr_event *ev, size_t kept)
{
	uint64_t first = batch_place(self);
	struct ftr_event *out = &self->in[self->out - first];

	self->levels.v[self->open_nr].dropped_ns += ev->time_ns - ev->point.start_ns;
	if (self->out < first) {
		ftr_hold_drop(&self->hold, self->out);
	} else {
		kept--;
		memmove(out, out + 1, (size_t)(self->in + kept - out) * sizeof(*out));
	}
	self->out = FTR_HOLD_NOWHERE;
	return kept;
}

static size_t take_other(struct threshold_time *self, size_t i, size_t kept)
{
	const struct ftr_event *ev = &self->in[i];

	if (ev->type == FTR_EVENT_POINT && ev->point.kind == FTR_POINT_INSTANT) {
		if (is_short_pause(self, ev))
			return drop_pause(self, ev, kept);
		if (ftr_event_is_sched_out(ev)) {
			self->out = batch_place(self) + kept;
			self->out_ns = ev->time_ns;
		} else if (ftr_event_is_sched_in(ev)) {
			self->out = FTR_HOLD_NOWHERE;
		}
	}
	self->in[kept] = *ev;
	if (ftr_event_outlives_calls(ev))
		self->lasting_end = batch_place(self) + kept + 1;
	return kept + 1;
}

static void take(struct threshold_time *self, size_t nr)
{
	size_t kept = 0, i = 0, from;

	while (i < nr) {
		from = i;
		i = take_calls(self, i, nr, &kept);
		if (i > from) {
			self->open_nr = self->in[i - 1].depth +
					(self->in[i - 1].type == FTR_EVENT_ENTRY);
			self->out = FTR_HOLD_NOWHERE;
		}
		if (i < nr)
			kept = take_other(self, i++, kept);
	}
	self->nr = kept;
}

/*
 * The place from which on nothing is decided: calls that are open, but not for long enough, and a
 * pause.  Those that began earlier are further out.
 */
static uint64_t undecided_from(const struct threshold_time *self)
{
	uint64_t place = FTR_HOLD_NOWHERE;

	if (self->is_ended)
		return place;
	if (self->out != FTR_HOLD_NOWHERE && self->last_ns - self->out_ns < self->threshold_ns)
		place = self->out;
	for (size_t i = self->open_nr; i > 0; i--) {
		const struct level *level = &self->levels.v[i];

		if (level->is_kept || self->last_ns - level->start_ns >= self->threshold_ns)
			break;
		place = level->place;
	}
	return place;
}

static int take_batch(struct threshold_time *self, struct ftr_err *err)
{
	ssize_t nr = ftr_source_next(self->inner, &self->in, err);
	size_t levels_nr;

	if (nr < 0)
		return (int)nr;
	self->is_ended = nr == 0;
	if (self->is_ended)
		return 0;
	levels_nr = self->open_nr + FTR_SOURCE_BATCH + 2;
	if (ftr_vec_reserve(&self->levels, levels_nr) < 0 || ftr_hold_reserve(&self->hold) < 0)
		return ftr_err_set(err, ENOMEM, "out of memory");
	self->last_ns = self->in[nr - 1].time_ns;
	take(self, (size_t)nr);
	return 0;
}

/* What is decided of the batch, unless something waits before it; the rest waits, too. */
static ssize_t batch_out(struct threshold_time *self, struct ftr_event **evs, struct ftr_err *err)
{
	uint64_t first = batch_place(self), from = undecided_from(self);
	size_t decided = from < first ? 0 : self->nr, i;

	if (from >= first && from - first < self->nr)
		decided = (size_t)(from - first);
	self->base.is_calls_only = self->inner->is_calls_only;

	ftr_hold_pass(&self->hold, decided);
	for (i = decided; i < self->nr; i++) {
		if (ftr_hold_append(&self->hold, &self->in[i]) < 0)
			return ftr_err_set(err, ENOMEM, "out of memory");
	}
	self->nr = 0;
	*evs = self->in;
	return (ssize_t)decided;
}

static ssize_t threshold_time_next(struct ftr_source *source, struct ftr_event **evs,
				   struct ftr_err *err)
{
	struct threshold_time *self = (struct threshold_time *)source;
	ssize_t out;

	ftr_hold_release(&self->hold);
	for (;;) {
		self->base.is_calls_only = false;
		out = (ssize_t)ftr_hold_take_before(&self->hold, undecided_from(self), evs);
		if (out == 0)
			out = batch_out(self, evs, err);
		if (out != 0 || self->is_ended)
			return out;
		out = take_batch(self, err);
		if (out < 0)
			return out;
	}
}

/* ---- for sinks that add up ---- */

static ssize_t summed_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct threshold_time *self = (struct threshold_time *)source;
	ssize_t nr, kept = (ssize_t)ftr_threshold_sum_more(&self->sum, evs);

	self->base.is_calls_only = false;
	if (kept > 0)
		return kept;
	do {
		nr = ftr_source_next(self->inner, evs, err);
		if (nr > 0)
			kept = ftr_threshold_sum_take(&self->sum, evs, (size_t)nr);
		if (kept < 0)
			return ftr_err_set(err, ENOMEM, "out of memory");
	} while (nr > 0 && kept == 0);
	self->base.is_calls_only = self->inner->is_calls_only && self->sum.left.nr == 0;
	return nr <= 0 ? nr : kept;
}

static int summed_run(struct ftr_source *source, struct ftr_run **run, struct ftr_err *err)
{
	struct threshold_time *self = (struct threshold_time *)source;
	int ret = 0;

	if (ftr_threshold_sum_is_idle(&self->sum))
		ret = ftr_source_run(self->inner, run, err);
	if (ret > 0 && ftr_threshold_sum_run(&self->sum, *run) < 0)
		return ftr_err_set(err, ENOMEM, "out of memory");
	return ret;
}

static void threshold_time_free(struct ftr_source *source)
{
	struct threshold_time *self = (struct threshold_time *)source;

	ftr_source_free(self->inner);
	ftr_vec_fini(&self->levels);
	ftr_hold_fini(&self->hold);
	ftr_threshold_sum_fini(&self->sum);
	free(self);
}

static const struct ftr_source_ops summed_ops = {
	.next = summed_next,
	.run = summed_run,
	.free = threshold_time_free,
};

static void threshold_time_wish(struct ftr_source *source, const struct ftr_run_wish *wish)
{
	struct threshold_time *self = (struct threshold_time *)source;
	struct ftr_run_wish of_long = *wish;

	if (!wish->takes_short)
		return;
	self->base.ops = &summed_ops;
	of_long.threshold_ns = self->threshold_ns;
	ftr_source_wish(self->inner, &of_long);
}

static const struct ftr_source_ops threshold_time_ops = {
	.next = threshold_time_next,
	.wish = threshold_time_wish,
	.free = threshold_time_free,
};

struct ftr_source *ftr_threshold_time_new(struct ftr_source *inner, uint64_t threshold_ns)
{
	struct threshold_time *self = calloc(1, sizeof(*self));

	if (self == NULL) {
		ftr_source_free(inner);
		return NULL;
	}
	self->base.ops = &threshold_time_ops;
	self->inner = inner;
	self->threshold_ns = self->sum.threshold_ns = threshold_ns;
	self->out = FTR_HOLD_NOWHERE;
	return &self->base;
}

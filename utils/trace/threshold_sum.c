/* SPDX-License-Identifier: MIT */
/* See threshold_sum.h. */
#include "utils/trace/threshold_sum.h"

#include <errno.h>

#include "utils/trace/event_kind.h"
#include "utils/trace/source.h"

enum verdict { COUNTS, IS_SHORT, WAITS };

static int levels_reserve(struct ftr_threshold_sum *self, size_t more_nr)
{
	if (self->short_ns.v == NULL && ftr_vec_push(&self->short_ns, 0) < 0)
		return -ENOMEM;
	return ftr_vec_reserve(&self->short_ns, self->open_nr + more_nr + 2);
}

static inline void take_call(struct ftr_threshold_sum *self, struct ftr_event *ev)
{
	uint64_t *short_ns = &self->short_ns.v[ev->depth];
	uint64_t duration_ns;

	self->is_out = false;
	self->open_nr = ev->depth + (ev->type == FTR_EVENT_ENTRY);
	if (ev->type == FTR_EVENT_ENTRY) {
		short_ns[1] = 0;
		return;
	}
	ev->call.child_ns -= short_ns[1];
	duration_ns = ev->time_ns - ev->call.start_ns;
	if (duration_ns < self->threshold_ns && !(ev->flags & FTR_EVENT_UNFINISHED)) {
		short_ns[0] += duration_ns;
		ev->flags |= FTR_EVENT_SHORT;
	}
}

/* A pause without calls is too short by itself; with calls, if that is which it ends in. */
static enum verdict sched_in_judge(struct ftr_threshold_sum *self, const struct ftr_event *ev)
{
	uint64_t duration_ns = ev->time_ns - ev->point.start_ns;
	bool was_out = self->is_out;

	self->is_out = false;
	if (duration_ns >= self->threshold_ns)
		return COUNTS;
	if (!was_out)
		return WAITS;
	self->short_ns.v[self->open_nr] += duration_ns;
	return IS_SHORT;
}

static enum verdict other_judge(struct ftr_threshold_sum *self, const struct ftr_event *ev)
{
	enum verdict verdict = COUNTS;

	if (ev->type != FTR_EVENT_POINT || ftr_event_outlives_calls(ev))
		return COUNTS;
	if (ftr_event_is_sched_out(ev))
		self->is_out = true;
	else if (ftr_event_is_sched_in(ev))
		verdict = sched_in_judge(self, ev);
	return verdict == WAITS && ev->depth == 0 ? COUNTS : verdict;
}

static int wait_push(struct ftr_threshold_sum *self, const struct ftr_event *ev)
{
	struct ftr_event copy = *ev;

	copy.payload = NULL;	/* which is of the batch */
	return ftr_vec_push(&self->waiting, copy);
}

/* A call ends: so does what waits in it, and is left where the call counts. */
static int waiting_settle(struct ftr_threshold_sum *self, const struct ftr_event *exit)
{
	size_t kept = self->waiting.nr;

	while (kept > 0 && self->waiting.v[kept - 1].depth > exit->depth)
		kept--;
	for (size_t i = kept; i < self->waiting.nr && !(exit->flags & FTR_EVENT_SHORT); i++) {
		if (ftr_vec_push(&self->left, self->waiting.v[i]) < 0)
			return -ENOMEM;
	}
	self->waiting.nr = kept;
	return 0;
}

/* What is left of one event, behind what is left of those before it. */
static int left_add(struct ftr_threshold_sum *self, struct ftr_event *ev)
{
	enum verdict verdict = COUNTS;

	if (ev->type > FTR_EVENT_EXIT)
		verdict = other_judge(self, ev);
	else
		take_call(self, ev);
	if (verdict == WAITS)
		return wait_push(self, ev);
	if (ev->type == FTR_EVENT_EXIT && waiting_settle(self, ev) < 0)
		return -ENOMEM;
	return verdict == IS_SHORT ? 0 : ftr_vec_push(&self->left, *ev);
}

size_t ftr_threshold_sum_more(struct ftr_threshold_sum *self, struct ftr_event **evs)
{
	size_t nr = self->left.nr - self->left_pos;

	*evs = self->left.v + self->left_pos;
	nr = nr < FTR_SOURCE_BATCH ? nr : FTR_SOURCE_BATCH;
	self->left_pos += nr;
	return nr;
}

/* In place, up to the first event that waits: *kept are left before it.  Returns its index. */
static size_t take_calls(struct ftr_threshold_sum *self, struct ftr_event *evs, size_t nr,
			 size_t *kept)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		enum verdict verdict = COUNTS;

		if (evs[i].type <= FTR_EVENT_EXIT)
			take_call(self, &evs[i]);
		else
			verdict = other_judge(self, &evs[i]);
		if (verdict == WAITS)
			break;
		if (*kept != i)
			evs[*kept] = evs[i];
		*kept += verdict == COUNTS;
	}
	return i;
}

ssize_t ftr_threshold_sum_take(struct ftr_threshold_sum *self, struct ftr_event **evs, size_t nr)
{
	size_t kept = 0, i = 0;

	self->left.nr = self->left_pos = 0;
	if (levels_reserve(self, nr) < 0)
		return -ENOMEM;
	if (self->waiting.nr == 0)
		i = take_calls(self, *evs, nr, &kept);
	if (i == nr)
		return (ssize_t)kept;
	for (size_t n = 0; n < kept; n++) {
		if (ftr_vec_push(&self->left, (*evs)[n]) < 0)
			return -ENOMEM;
	}
	for (; i < nr; i++) {
		if (left_add(self, &(*evs)[i]) < 0)
			return -ENOMEM;
	}
	return (ssize_t)ftr_threshold_sum_more(self, evs);
}

bool ftr_threshold_sum_is_idle(const struct ftr_threshold_sum *self)
{
	return self->waiting.nr == 0 && self->left_pos == self->left.nr;
}

/* What ended in the run may have had callees before it that do not count. */
int ftr_threshold_sum_run(struct ftr_threshold_sum *self, struct ftr_run *run)
{
	if (levels_reserve(self, run->open_nr) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < run->end_nr; i++)
		run->ends[i].child_ns -= self->short_ns.v[self->open_nr--];
	for (size_t i = 0; i < run->open_nr; i++)
		self->short_ns.v[++self->open_nr] = 0;
	self->is_out = false;
	return 0;
}

void ftr_threshold_sum_fini(struct ftr_threshold_sum *self)
{
	ftr_vec_fini(&self->short_ns);
	ftr_vec_fini(&self->waiting);
	ftr_vec_fini(&self->left);
}

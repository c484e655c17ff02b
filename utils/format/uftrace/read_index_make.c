/* SPDX-License-Identifier: MIT */
/*
 * Making marks: calls.h says what is open, of the same records and with all that it mends, and
 * each event tells where its record lies.
 */
#include "utils/format/uftrace/read_index.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/trace/calls.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/trace.h"
#include "utils/trace/watch.h"

/* Where a call's ENTRY lies that has no record. */
#define MADE	  (UINT64_MAX - 1)	/* it was lost */
#define INHERITED (UINT64_MAX - 2)	/* in a parent */

/* The first event of a pair, whose second has not come. */
struct half {
	uint64_t closed_by;	/* kind */
	uint64_t at;		/* UFT_NOWHERE: not in TID.dat */
	bool is_open;
};

struct maker {
	struct uft_index *index;
	struct uft_reader *reader;
	struct uft_data *data;		/* (borrowed) innermost of calls */
	struct ftr_source *calls;	/* (owned) */
	struct ftr_diag diag;		/* which counts: what is damaged has no marks */
	FTR_VEC(uint64_t) opens;	/* ENTRYs of open calls */
	uint32_t made_nr, inherited_nr;	/* of these */
	uint32_t kept_nr;		/* recorded ones that were open since the last mark */
	FTR_VEC(struct half) halves;
	uint64_t next_at;		/* no mark before */
	FTR_VEC(bool) is_called;	/* by func->id: the index has it */
	bool is_over;			/* what can be marked */
	uint64_t offsets[FTR_SOURCE_BATCH];
};

static bool is_of_data(const struct maker *self, const struct ftr_event *ev)
{
	return (uintptr_t)ev >= (uintptr_t)self->data->evs &&
	       (uintptr_t)ev < (uintptr_t)(self->data->evs + FTR_SOURCE_BATCH);
}

static uint64_t place_of(const struct maker *self, const struct ftr_event *ev)
{
	return is_of_data(self, ev) ? self->offsets[ev - self->data->evs] : UFT_NOWHERE;
}

static uint32_t recorded_nr(const struct maker *self)
{
	return (uint32_t)self->opens.nr - self->made_nr - self->inherited_nr;
}

static int halves_put(struct maker *self, struct uft_mark *mark)
{
	for (size_t i = 0; i < self->halves.nr; i++) {
		const struct half *half = &self->halves.v[i];

		if (!half->is_open || half->at == UFT_NOWHERE)
			continue;
		if (ftr_vec_push(&self->index->places, half->at) < 0)
			return -ENOMEM;
		mark->half_nr++;
	}
	return 0;
}

/* Before the ENTRY @ev at @at. */
static int mark_put(struct maker *self, const struct ftr_event *ev, uint64_t at)
{
	struct uft_index *index = self->index;
	struct uft_mark mark = {
		.at = at,
		.time_ns = ev->time_ns,
		.own_at = index->places.nr,
		.open_nr = recorded_nr(self),
		.inherited_nr = self->inherited_nr,
	};

	if (index->marks.nr > 0)
		mark.kept_nr = index->marks.v[index->marks.nr - 1].open_nr;
	if (mark.kept_nr > self->kept_nr)
		mark.kept_nr = self->kept_nr;
	for (uint32_t i = mark.inherited_nr + mark.kept_nr; i < self->opens.nr; i++)
		if (ftr_vec_push(&index->places, self->opens.v[i]) < 0)
			return -ENOMEM;
	if (halves_put(self, &mark) < 0 || ftr_vec_push(&index->marks, mark) < 0)
		return -ENOMEM;
	self->kept_nr = mark.open_nr;
	self->next_at = at + uft_index_step(self->reader);
	return 0;
}

static int take_entry(struct maker *self, const struct ftr_event *ev)
{
	uint64_t at = place_of(self, ev);

	if (at != UFT_NOWHERE && at >= self->next_at && self->made_nr == 0 &&
	    mark_put(self, ev, at) < 0)
		return -ENOMEM;
	if (at == UFT_NOWHERE) {
		at = is_of_data(self, ev) ? INHERITED : MADE;
		self->inherited_nr += at == INHERITED;
		self->made_nr += at == MADE;
	}
	return ftr_vec_push(&self->opens, at);
}

static void take_exit(struct maker *self)
{
	uint64_t at = self->opens.v[--self->opens.nr];

	self->inherited_nr -= at == INHERITED;
	self->made_nr -= at == MADE;
	if (recorded_nr(self) < self->kept_nr)
		self->kept_nr = recorded_nr(self);
}

/* The half that an event of kind @id closes. */
static struct half *half_of(struct maker *self, uint64_t id)
{
	for (size_t i = 0; i < self->halves.nr; i++) {
		if (self->halves.v[i].closed_by == id)
			return &self->halves.v[i];
	}
	return NULL;
}

static int take_point(struct maker *self, const struct ftr_event *ev)
{
	const struct ftr_event_kind *kind = ftr_event_kind_by_id(ev->point.id);
	struct half made = { .at = place_of(self, ev), .is_open = true }, *half;

	if (ev->point.kind != FTR_POINT_INSTANT || ev->point.id <= FTR_TRACEPOINT_ID_MAX)
		return 0;
	if (kind == NULL || kind->pair == 0) {
		half = half_of(self, ev->point.id);
		if (half != NULL) {
			/* What is not in TID.dat comes again, without what closes it. */
			self->is_over |= half->is_open && half->at == UFT_NOWHERE &&
					 made.at != UFT_NOWHERE;
			half->is_open = false;
		}
		return 0;
	}
	made.closed_by = kind->closed_by;
	half = half_of(self, made.closed_by);
	if (half == NULL)
		return ftr_vec_push(&self->halves, made);
	*half = made;
	return 0;
}

static int called_set(struct maker *self, const struct ftr_func *func)
{
	if (ftr_vec_reach(&self->is_called, func->id) < 0)
		return -ENOMEM;
	self->is_called.v[func->id] = true;
	return 0;
}

/* A call, or the end of one, that has a record. */
static int take_called(struct maker *self, const struct ftr_event *ev)
{
	const struct ftr_func *func = ev->call.func;
	const struct uft_called called = { ev->call.addr, ev->time_ns };

	if (__builtin_expect(func->id < self->is_called.nr && self->is_called.v[func->id], 1) ||
	    place_of(self, ev) == UFT_NOWHERE)
		return 0;
	if (called_set(self, func) < 0)
		return -ENOMEM;
	return ftr_vec_push(&self->index->called, called);
}

static int take(struct maker *self, const struct ftr_event *ev)
{
	if (ev->type <= FTR_EVENT_EXIT && take_called(self, ev) < 0)
		return -ENOMEM;
	/* So deep, what is mended depends on names. */
	if (ev->type <= FTR_EVENT_EXIT && (ev->flags & FTR_EVENT_INFERRED) &&
	    ev->depth >= FTR_RECORD_DEPTH_MAX)
		self->is_over = true;
	if (ev->type == FTR_EVENT_ENTRY)
		return take_entry(self, ev);
	if (ev->type == FTR_EVENT_EXIT)
		take_exit(self);
	return ev->type == FTR_EVENT_POINT ? take_point(self, ev) : 0;
}

/* 1; 0 = there is nothing more to mark; or -errno. */
static int step(struct maker *self, const struct ftr_seek *seek, struct ftr_err *err)
{
	struct ftr_event *evs;
	ssize_t nr = ftr_source_next(self->calls, &evs, err);
	bool is_interrupted = seek->watch != NULL && seek->watch->is_ending;

	if (nr < 0)
		return (int)nr;
	if (self->diag.nr > 0)
		self->is_over = true;
	if (nr == 0 || is_interrupted || (evs[0].type == FTR_EVENT_EXIT &&
					  (evs[0].flags & FTR_EVENT_UNFINISHED))) {
		if (!is_interrupted)
			self->index->seen_ns = UINT64_MAX;
		return 0;
	}
	for (ssize_t i = 0; i < nr && !self->is_over; i++) {
		if (take(self, &evs[i]) < 0)
			return ftr_err_set(err, ENOMEM, "out of memory");
	}
	if (evs[nr - 1].time_ns > self->index->seen_ns)
		self->index->seen_ns = evs[nr - 1].time_ns;
	self->index->is_final = self->is_over;
	return !self->is_over && self->index->seen_ns < seek->from_ns;
}

static int called_init(struct maker *self, const struct uft_task *task)
{
	for (size_t i = 0; i < self->index->called.nr; i++) {
		const struct ftr_func *func =
			uft_called_func(&self->index->called.v[i], self->reader, task);

		if (func == NULL || called_set(self, func) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Read as from the last mark, which stands for all that is before. */
static int maker_init(struct maker *self, struct uft_task *task, const struct ftr_seek *seek)
{
	struct ftr_source *source = uft_data_source(self->reader, task, &self->diag);
	const struct uft_index *index = self->index;

	self->next_at = uft_index_step(self->reader);
	self->kept_nr = UINT32_MAX;
	if (source == NULL)
		return -ENOMEM;
	if (called_init(self, task) < 0) {
		ftr_source_free(source);
		return -ENOMEM;
	}
	self->data = (struct uft_data *)source;
	self->data->offsets = self->offsets;
	if (uft_data_start(self->data) < 0 ||
	    (index->marks.nr > 0 &&
	     uft_prefix_set(self->data, index, &index->marks.v[index->marks.nr - 1]) < 0)) {
		ftr_source_free(source);
		return -ENOMEM;
	}
	if (index->marks.nr > 0)
		self->next_at += index->marks.v[index->marks.nr - 1].at;
	if (seek->watch != NULL)
		source = ftr_watch_new(source, seek->watch);
	self->calls = source != NULL ? ftr_calls_new(source, self->reader->trace) : NULL;
	return self->calls != NULL ? 0 : -ENOMEM;
}

int uft_index_make(struct uft_index *index, struct uft_reader *reader, struct uft_task *task,
		   const struct ftr_seek *seek, struct ftr_err *err)
{
	uint64_t bytes_read = reader->trace->bytes_read;
	struct maker *self = calloc(1, sizeof(*self));
	int ret;

	if (self == NULL)
		return ftr_err_set(err, ENOMEM, "out of memory");
	self->index = index;
	self->reader = reader;
	ret = maker_init(self, task, seek);
	if (ret < 0)
		ftr_err_set(err, ENOMEM, "out of memory");
	else
		while ((ret = step(self, seek, err)) > 0)
			;
	ftr_source_free(self->calls);
	reader->trace->bytes_read = bytes_read;	/* what is shown comes now */
	ftr_vec_fini(&self->opens);
	ftr_vec_fini(&self->halves);
	ftr_vec_fini(&self->is_called);
	free(self);
	return ret;
}

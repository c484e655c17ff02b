/* SPDX-License-Identifier: MIT */
/* See timeline.h.  A task is in one cell at a time, so only that one's functions are counted. */
#include "utils/analysis/timeline.h"

#include "utils/trace/event_kind.h"
#include "utils/trace/func.h"
#include "utils/trace/per_task.h"
#include "utils/trace/sink.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define COUNTED_MAX 64

struct place {
	FTR_VEC(const struct ftr_func *) open;	/* the innermost one last */
	uint64_t at_ns;			/* what was before is counted */
	size_t row;
	size_t cell;			/* whose functions these are */
	struct ftr_timeline_share counted[COUNTED_MAX];
	size_t counted_nr;
	bool has_begun, is_out;
};

struct timeline_sink {
	struct ftr_sink base;
	struct ftr_timeline timeline;
	struct ftr_per_task places;
};

static struct timeline_sink *timeline_of(struct ftr_sink *sink)
{
	return (struct timeline_sink *)sink;
}

static struct ftr_timeline_cell *cell_of(struct timeline_sink *self, const struct place *place)
{
	return &self->timeline.rows.v[place->row].cells[place->cell];
}

/* The largest shares, by insertion; what is equally large stays in the order of time. */
static void cell_finish(struct timeline_sink *self, struct place *place)
{
	struct ftr_timeline_share *shares = cell_of(self, place)->shares;

	for (size_t i = 0; i < place->counted_nr; i++) {
		struct ftr_timeline_share share = place->counted[i];
		size_t at = 0;

		while (at < FTR_TIMELINE_SHARES && shares[at].self_ns >= share.self_ns)
			at++;
		for (size_t j = FTR_TIMELINE_SHARES; j > at; j--)
			shares[j - 1] = j - 1 == at ? share : shares[j - 2];
	}
	place->counted_nr = 0;
}

/* Where there is no room, the least one gives its place, and its time, to the new one. */
static void count(struct place *place, const struct ftr_func *func, uint64_t ns)
{
	struct ftr_timeline_share *least = &place->counted[0];

	for (size_t i = 0; i < place->counted_nr; i++) {
		struct ftr_timeline_share *share = &place->counted[i];

		if (share->func->name_id == func->name_id) {
			share->self_ns += ns;
			return;
		}
		least = share->self_ns < least->self_ns ? share : least;
	}
	if (place->counted_nr < COUNTED_MAX) {
		least = &place->counted[place->counted_nr++];
		least->self_ns = 0;
	}
	least->func = func;
	least->self_ns += ns;
}

static void enter_cell(struct timeline_sink *self, struct place *place, size_t cell)
{
	if (place->cell == cell)
		return;
	cell_finish(self, place);
	place->cell = cell;
}

/* From where the task was up to @time_ns it was in its innermost call. */
static void advance(struct timeline_sink *self, struct place *place, uint64_t time_ns)
{
	const struct ftr_timeline *timeline = &self->timeline;
	size_t open_nr = place->open.nr;
	uint64_t at_ns = place->at_ns > timeline->from_ns ? place->at_ns : timeline->from_ns;

	place->at_ns = time_ns > place->at_ns ? time_ns : place->at_ns;
	if (open_nr == 0 || place->is_out)
		return;
	while (at_ns < time_ns) {
		size_t index = (at_ns - timeline->from_ns) / timeline->width_ns;
		uint64_t left_ns = timeline->width_ns -
				   (at_ns - timeline->from_ns) % timeline->width_ns;
		uint64_t ns = time_ns - at_ns < left_ns ? time_ns - at_ns : left_ns;
		struct ftr_timeline_cell *cell;

		if (index >= timeline->cell_nr)
			return;
		enter_cell(self, place, index);
		cell = cell_of(self, place);
		cell->busy_ns += ns;
		cell->depth_max = open_nr > cell->depth_max ? (uint32_t)open_nr : cell->depth_max;
		count(place, place->open.v[open_nr - 1], ns);
		at_ns += ns;
	}
}

/* A task that is new gets a row. */
static struct place *place_get(struct timeline_sink *self, const struct ftr_task *task)
{
	struct place *place = ftr_per_task_get(&self->places, task);
	struct ftr_timeline_row row = { .task = task };

	if (place == NULL || place->has_begun)
		return place;
	row.cells = calloc(self->timeline.cell_nr, sizeof(*row.cells));
	if (row.cells == NULL || ftr_vec_push(&self->timeline.rows, row) < 0) {
		free(row.cells);
		return NULL;
	}
	place->row = self->timeline.rows.nr - 1;
	place->has_begun = true;
	return place;
}

static void span_extend(struct ftr_timeline *timeline, uint64_t time_ns)
{
	if (timeline->last_ns == 0 || time_ns < timeline->first_ns)
		timeline->first_ns = time_ns;
	if (time_ns > timeline->last_ns)
		timeline->last_ns = time_ns;
}

/*
 * Of a task that a time filter cut, the calls that were open begin at its first event; they were
 * open since the filter's beginning, as nothing happened until then, or since the task's.
 */
static bool was_open_before(const struct place *place, const struct ftr_event *ev)
{
	return ev->type == FTR_EVENT_ENTRY && (ev->flags & FTR_EVENT_NO_ENTRY) != 0 &&
	       place->at_ns == 0 && ev->task->start_ns != 0 &&
	       ev->task->start_ns < ev->time_ns;
}

static void advance_to(struct timeline_sink *self, struct place *place, const struct ftr_event *ev)
{
	if (was_open_before(place, ev))
		return;			/* to the next event, with what was innermost */
	if (place->at_ns == 0 && place->open.nr > 0) {
		place->at_ns = ev->task->start_ns;
		place->is_out = ev->type == FTR_EVENT_POINT && ftr_event_is_sched_in(ev);
	}
	advance(self, place, ev->time_ns);
}

static int timeline_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct timeline_sink *self = timeline_of(sink);
	struct place *place = place_get(self, ev->task);
	int ret = place == NULL ? -ENOMEM : 0;

	if (ret == 0) {
		span_extend(&self->timeline, ev->time_ns);
		advance_to(self, place, ev);
		if (ev->type == FTR_EVENT_ENTRY)
			ret = ftr_vec_push(&place->open, ev->call.func);
		else if (ev->type == FTR_EVENT_EXIT)
			place->open.nr -= place->open.nr > 0;
		else if (ftr_event_is_sched_out(ev) || ftr_event_is_sched_in(ev))
			place->is_out = ftr_event_is_sched_out(ev);
	}
	return ret < 0 ? ftr_err_set(sink->err, ENOMEM, "timeline: out of memory") : 0;
}

static int timeline_end(struct ftr_sink *sink)
{
	struct place *place;
	size_t pos = 0;

	while ((place = ftr_per_task_next(&timeline_of(sink)->places, &pos)) != NULL)
		if (place->has_begun)
			cell_finish(timeline_of(sink), place);
	return 0;
}

static void timeline_fini(struct ftr_sink *sink)
{
	struct timeline_sink *self = timeline_of(sink);
	struct place *place;
	size_t pos = 0;

	while ((place = ftr_per_task_next(&self->places, &pos)) != NULL)
		ftr_vec_fini(&place->open);
	ftr_per_task_fini(&self->places);
	for (size_t i = 0; i < self->timeline.rows.nr; i++)
		free(self->timeline.rows.v[i].cells);
	ftr_vec_fini(&self->timeline.rows);
}

static const struct ftr_sink_ops timeline_ops = {
	.size	 = sizeof(struct timeline_sink),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT),
	.event	 = timeline_event,
	.end	 = timeline_end,
	.fini	 = timeline_fini,
};

struct ftr_sink *ftr_timeline_new(uint64_t from_ns, uint64_t to_ns, size_t cell_nr,
				  struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&timeline_ops, NULL, err);
	struct ftr_timeline *timeline;

	if (sink == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	timeline_of(sink)->places.bytes = sizeof(struct place);
	timeline = &timeline_of(sink)->timeline;
	timeline->from_ns = from_ns;
	timeline->cell_nr = cell_nr;
	timeline->width_ns = (to_ns - from_ns - 1) / cell_nr + 1;
	return sink;
}

const struct ftr_timeline *ftr_timeline_get(const struct ftr_sink *sink)
{
	return &((const struct timeline_sink *)sink)->timeline;
}

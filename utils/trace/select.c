/* SPDX-License-Identifier: MIT */
/* Leaving events out, in place. */
#include "utils/trace/select.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/trace/func.h"
#include "utils/trace/per_task.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/source.h"

#define PERF_EVENTS_BEGIN 200001
#define PERF_EVENTS_END	  300000

struct select {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	struct ftr_pipeline_options options;
	struct ftr_per_task hidden;	/* uint32_t: open library calls that are left out */
	bool is_about_points;		/* calls all stay */
};

bool ftr_select_is_needed(const struct ftr_pipeline_options *options)
{
	return options->tid_nr > 0 || options->depth_max > 0 || options->no_libcall ||
	       options->no_event || options->no_sched || options->no_preempt ||
	       !options->event_full;
}

static bool tid_is_wanted(const struct ftr_pipeline_options *options, int32_t tid)
{
	for (size_t i = 0; i < options->tid_nr; i++) {
		if (options->tids[i] == tid)
			return true;
	}
	return options->tid_nr == 0;
}

static bool id_is_sched(uint64_t id)
{
	return (id >= FTR_EVENT_ID_SCHED_IN && id < FTR_EVENT_ID_TASK_NEW) ||
	       id == FTR_EVENT_ID_SCHED_OUT_PREEMPTED || id == FTR_EVENT_ID_SCHED_OUT_PREEMPTED + 1;
}

/* Perf and kernel events say what happened around a call; outside of all calls they are noise. */
static bool id_needs_call(uint64_t id)
{
	return id <= FTR_TRACEPOINT_ID_MAX || (id >= PERF_EVENTS_BEGIN && id < PERF_EVENTS_END);
}

static bool point_is_wanted(const struct ftr_pipeline_options *options, const struct ftr_event *ev)
{
	uint64_t id = ftr_point_event_id(ev);

	if (options->no_event)
		return false;
	if (options->no_sched && id_is_sched(id))
		return false;
	if (options->no_preempt && (ev->flags & FTR_EVENT_PREEMPTED))
		return false;
	return options->event_full || ev->depth > 0 || id == 0 || !id_needs_call(id);
}

/* Library calls vanish; what they call moves up. */
static bool libcall_is_hidden(struct ftr_event *ev, uint32_t *hidden)
{
	bool is_entry = ev->type == FTR_EVENT_ENTRY;

	if ((is_entry || ev->type == FTR_EVENT_EXIT) && ev->call.func->symbol_type == 'P') {
		*hidden += is_entry ? 1u : -1u;
		return true;
	}
	ev->depth -= *hidden;
	return false;
}

static bool event_is_wanted(struct select *self, struct ftr_event *ev, uint32_t *hidden)
{
	const struct ftr_pipeline_options *options = &self->options;

	if (options->no_libcall && libcall_is_hidden(ev, hidden))
		return false;
	if (!tid_is_wanted(options, ev->task->tid))
		return false;
	switch (ev->type) {
	case FTR_EVENT_ENTRY:
	case FTR_EVENT_EXIT:
		return options->depth_max == 0 || ev->depth < options->depth_max;
	case FTR_EVENT_POINT:
		return (options->depth_max == 0 || ev->depth < options->depth_max) &&
		       point_is_wanted(options, ev);
	case FTR_EVENT_MESSAGE:
		return !options->no_event;
	default:
		return true;
	}
}

/* How deep a record is: as it says, else by counting; -ENOMEM. */
static int64_t record_depth(struct ftr_select_records *self, const struct ftr_event *ev)
{
	uint32_t *open_nr = ftr_per_task_get(&self->open_nr, ev->task);
	bool is_exit = ev->type == FTR_EVENT_EXIT;

	if (open_nr == NULL)
		return -ENOMEM;
	if (is_exit && *open_nr > 0)
		--*open_nr;
	return ev->depth != FTR_DEPTH_UNKNOWN ? ev->depth : is_exit ? *open_nr : (*open_nr)++;
}

static bool record_is_in_range(struct ftr_select_records *self, const struct ftr_event *ev)
{
	if (!self->has_ends) {
		self->ends = ftr_range_ends(self->options, self->first_ns != 0 ? self->first_ns : ev->time_ns);
		self->has_ends = true;
	}
	return ev->time_ns >= self->ends.from_ns && ev->time_ns <= self->ends.to_ns;
}

int ftr_select_record(struct ftr_select_records *self, const struct ftr_event *ev)
{
	const struct ftr_pipeline_options *options = self->options;
	bool is_wanted = record_is_in_range(self, ev) && tid_is_wanted(options, ev->task->tid);
	int64_t depth;

	if (ev->type == FTR_EVENT_POINT)
		return is_wanted && !options->no_event && !(options->no_sched && id_is_sched(ev->point.id));
	if (ev->type > FTR_EVENT_EXIT)
		return is_wanted;
	depth = record_depth(self, ev);
	if (depth < 0)
		return -ENOMEM;
	return is_wanted && !(options->no_libcall && ev->call.func->symbol_type == 'P') &&
	       (options->depth_max == 0 || depth < options->depth_max);
}

void ftr_select_records_fini(struct ftr_select_records *self)
{
	ftr_per_task_fini(&self->open_nr);
}

static ssize_t select_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct select *self = (struct select *)source;
	ssize_t nr, kept;

	do {
		nr = ftr_source_next(self->inner, evs, err);
		if (nr > 0 && self->is_about_points && self->inner->is_calls_only)
			return nr;
		kept = 0;
		for (ssize_t i = 0; i < nr; i++) {
			struct ftr_event *ev = &(*evs)[i];
			uint32_t *hidden = ftr_per_task_get(&self->hidden, ev->task);

			if (hidden == NULL)
				return ftr_err_set(err, ENOMEM, "out of memory");
			if (!event_is_wanted(self, ev, hidden))
				continue;
			if (kept != i)
				(*evs)[kept] = *ev;
			kept++;
		}
	} while (nr > 0 && kept == 0);
	return nr < 0 ? nr : kept;
}

static void select_free(struct ftr_source *source)
{
	struct select *self = (struct select *)source;

	ftr_source_free(self->inner);
	ftr_per_task_fini(&self->hidden);
	free(self);
}

static const struct ftr_source_ops select_ops = {
	.next = select_next,
	.free = select_free,
};

struct ftr_source *ftr_select_new(struct ftr_source *inner,
				  const struct ftr_pipeline_options *options)
{
	struct select *self = calloc(1, sizeof(*self));

	if (self == NULL) {
		ftr_source_free(inner);
		return NULL;
	}
	self->base.ops = &select_ops;
	self->inner = inner;
	self->options = *options;
	self->is_about_points = options->tid_nr == 0 && options->depth_max == 0 &&
				!options->no_libcall;
	self->hidden.bytes = sizeof(uint32_t);
	return &self->base;
}

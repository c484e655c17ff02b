/* SPDX-License-Identifier: MIT */
/* Leaving events out, in place. */
#include "utils/trace/select.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/trace/event_kind.h"
#include "utils/trace/func.h"
#include "utils/trace/per_task.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/source.h"
#include "utils/trace/trace.h"

/* A task's open calls. */
struct open_calls {
	uint32_t hidden_nr;		/* that are left out though what they call stays */
	uint32_t user_nr;		/* that are not the kernel's */
};

struct select {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	const struct ftr_trace *trace;	/* (borrowed) */
	struct ftr_pipeline_options options;
	struct ftr_per_task open;	/* struct open_calls */
	bool is_about_points;		/* calls all stay, but for the kernel's */
};

bool ftr_select_is_needed(const struct ftr_pipeline_options *options)
{
	return options->tid_nr > 0 || options->depth_max > 0 || options->no_libcall ||
	       options->no_event || options->no_sched || options->no_preempt ||
	       options->no_callsite || !options->event_full || !options->kernel_full ||
	       options->kernel_only;
}

/* Some calls are left out for being the kernel's, or for not being so. */
static bool kernel_matters(const struct select *self)
{
	return self->options.kernel_only || (self->trace->has_kernel && !self->options.kernel_full);
}

bool ftr_select_task_is_wanted(const struct ftr_pipeline_options *options,
			       const struct ftr_task *task)
{
	for (size_t i = 0; i < options->tid_nr; i++) {
		if (options->tids[i] == task->tid ||
		    (task->thread != NULL && options->tids[i] == task->thread->tid))
			return true;
	}
	return options->tid_nr == 0;
}

bool ftr_select_point_needs_call(const struct ftr_event *ev)
{
	uint64_t id = ftr_event_kind_id(ev);

	return (id != 0 && id <= FTR_TRACEPOINT_ID_MAX) ||
	       (id >= FTR_EVENT_ID_PERF_BEGIN && id < FTR_EVENT_ID_PERF_END);
}

/* Outside of the program's calls only what was asked for is shown, be they hidden or not. */
static bool point_is_inside(const struct ftr_pipeline_options *options, const struct ftr_event *ev,
			    const struct open_calls *open)
{
	if (options->kernel_only)
		return options->kernel_full || open->user_nr > 0;
	return ev->depth > 0;
}

static bool point_is_wanted(const struct ftr_pipeline_options *options, const struct ftr_event *ev,
			    const struct open_calls *open)
{
	uint64_t id = ftr_event_kind_id(ev);

	if (options->no_event || (options->kernel_only && !ftr_event_is_tracepoint(ev)))
		return false;
	if (options->no_sched && ftr_event_id_is_sched(id))
		return false;
	if (options->no_callsite && id == FTR_EVENT_ID_CALLSITE)
		return false;
	if (options->no_preempt && (ev->flags & FTR_EVENT_PREEMPTED))
		return false;
	return options->event_full || point_is_inside(options, ev, open) ||
	       !ftr_select_point_needs_call(ev);
}

/* How many calls that are not the kernel's does this one leave around it? */
static uint32_t user_calls_around(struct open_calls *open, const struct ftr_event *ev)
{
	if (ftr_func_is_kernel(ev->call.func))
		return open->user_nr;
	return ev->type == FTR_EVENT_ENTRY ? open->user_nr++ : --open->user_nr;
}

static bool call_is_hidden(struct select *self, struct open_calls *open, const struct ftr_event *ev)
{
	const struct ftr_pipeline_options *options = &self->options;

	if (kernel_matters(self)) {
		bool is_kernel = ftr_func_is_kernel(ev->call.func);
		uint32_t around = user_calls_around(open, ev);

		if (is_kernel ? !options->kernel_full && around == 0 : options->kernel_only)
			return true;
	}
	return options->no_libcall && ev->call.func->symbol_type == 'P';
}

/* Hidden calls vanish; what they call moves up. */
static bool event_is_hidden(struct select *self, struct open_calls *open, struct ftr_event *ev)
{
	if (ev->type <= FTR_EVENT_EXIT && call_is_hidden(self, open, ev)) {
		open->hidden_nr += ev->type == FTR_EVENT_ENTRY ? 1u : -1u;
		return true;
	}
	ev->depth -= open->hidden_nr;
	return false;
}

static bool event_is_wanted(struct select *self, struct ftr_event *ev, struct open_calls *open)
{
	const struct ftr_pipeline_options *options = &self->options;

	if (event_is_hidden(self, open, ev))
		return false;
	if (!ftr_select_task_is_wanted(options, ev->task))
		return false;
	switch (ev->type) {
	case FTR_EVENT_ENTRY:
	case FTR_EVENT_EXIT:
		return options->depth_max == 0 || ev->depth < options->depth_max;
	case FTR_EVENT_POINT:
		return (options->depth_max == 0 || ev->depth < options->depth_max) &&
		       point_is_wanted(options, ev, open);
	case FTR_EVENT_LOST:
		return ev->lost.source == FTR_LOST_OF_TASK || !options->no_event;
	case FTR_EVENT_MESSAGE:
		return !options->no_event &&
		       (options->depth_max == 0 || ev->depth < options->depth_max);
	default:
		return true;
	}
}

/* The depth of a record: as recorded, else counted. */
static uint32_t record_depth(struct ftr_select_open *open, const struct ftr_event *ev)
{
	bool is_exit = ev->type == FTR_EVENT_EXIT;
	uint32_t depth = ev->depth;

	if (depth == FTR_DEPTH_UNKNOWN)
		depth = open->nr - (is_exit && open->nr > 0);
	open->nr = depth + !is_exit;
	return depth;
}

/* Is a call wanted, being the kernel's or not being so? */
static bool record_is_of_wanted_side(const struct ftr_pipeline_options *options,
				     struct ftr_select_open *open, const struct ftr_event *ev)
{
	if (ftr_func_is_kernel(ev->call.func))
		return options->kernel_full || open->user_nr > 0;
	if (ev->type == FTR_EVENT_ENTRY)
		open->user_nr++;
	else if (open->user_nr > 0)
		open->user_nr--;
	return !options->kernel_only;
}

static bool record_is_in_range(struct ftr_select_records *self, const struct ftr_event *ev)
{
	if (!self->has_ends) {
		self->ends = ftr_range_ends(self->options,
					    self->first_ns != 0 ? self->first_ns : ev->time_ns);
		self->has_ends = true;
	}
	return ev->time_ns >= self->ends.from_ns && ev->time_ns <= self->ends.to_ns;
}

int ftr_select_record(struct ftr_select_records *self, const struct ftr_event *ev)
{
	const struct ftr_pipeline_options *options = self->options;
	bool is_wanted = record_is_in_range(self, ev) &&
			 ftr_select_task_is_wanted(options, ev->task);
	struct ftr_select_open *open;
	uint32_t depth;

	if (ev->type == FTR_EVENT_POINT)
		return is_wanted && !options->no_event &&
		       !(options->no_sched && ftr_event_id_is_sched(ev->point.id)) &&
		       (!options->kernel_only || ftr_event_is_tracepoint(ev));
	if (ev->type > FTR_EVENT_EXIT)
		return is_wanted;
	open = ftr_per_task_get(&self->open, ev->task);
	if (open == NULL)
		return -ENOMEM;
	depth = record_depth(open, ev);
	return record_is_of_wanted_side(options, open, ev) && is_wanted &&
	       !(options->no_libcall && ev->call.func->symbol_type == 'P') &&
	       (options->depth_max == 0 || depth < options->depth_max);
}

void ftr_select_records_fini(struct ftr_select_records *self)
{
	ftr_per_task_fini(&self->open);
}

static ssize_t select_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct select *self = (struct select *)source;
	ssize_t nr, kept;

	do {
		nr = ftr_source_next(self->inner, evs, err);
		if (nr > 0 && self->is_about_points && self->inner->is_calls_only &&
		    !kernel_matters(self))
			return nr;
		kept = 0;
		for (ssize_t i = 0; i < nr; i++) {
			struct ftr_event *ev = &(*evs)[i];
			struct open_calls *open = ftr_per_task_get(&self->open, ev->task);

			if (open == NULL)
				return ftr_err_set(err, ENOMEM, "out of memory");
			if (!event_is_wanted(self, ev, open))
				continue;
			if (kept != i)
				(*evs)[kept] = *ev;
			kept++;
		}
	} while (nr > 0 && kept == 0);
	return nr < 0 ? nr : kept;
}

static void select_wish(struct ftr_source *source, const struct ftr_run_wish *wish)
{
	ftr_source_wish(((struct select *)source)->inner, wish);
}

/* As for batches that hold calls alone, none of which is looked at. */
static int select_run(struct ftr_source *source, struct ftr_run **run, struct ftr_err *err)
{
	struct select *self = (struct select *)source;

	if (!self->is_about_points || kernel_matters(self))
		return 0;
	return ftr_source_run(self->inner, run, err);
}

static void select_free(struct ftr_source *source)
{
	struct select *self = (struct select *)source;

	ftr_source_free(self->inner);
	ftr_per_task_fini(&self->open);
	free(self);
}

static const struct ftr_source_ops select_ops = {
	.next = select_next,
	.wish = select_wish,
	.run = select_run,
	.free = select_free,
};

struct ftr_source *ftr_select_new(struct ftr_source *inner, const struct ftr_trace *trace,
				  const struct ftr_pipeline_options *options)
{
	struct select *self = calloc(1, sizeof(*self));

	if (self == NULL) {
		ftr_source_free(inner);
		return NULL;
	}
	self->base.ops = &select_ops;
	self->inner = inner;
	self->trace = trace;
	self->options = *options;
	self->is_about_points = options->tid_nr == 0 && options->depth_max == 0 &&
				!options->no_libcall;
	self->open.bytes = sizeof(struct open_calls);
	return &self->base;
}

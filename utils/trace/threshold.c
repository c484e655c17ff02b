/* SPDX-License-Identifier: MIT */
/*
 * A queue of events in order of time, in which an ENTRY is undecided until its EXIT, a sched-out
 * until its sched-in, or until so much time passed.  Only decided events leave at its head.  What
 * is left out is mostly all that stands behind an ENTRY: the queue is cut there.
 */
#include "utils/trace/threshold.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "utils/base/vec.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/filter.h"
#include "utils/trace/hold.h"
#include "utils/trace/per_task.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/rule_plan.h"
#include "utils/trace/source.h"
#include "utils/trace/stack.h"

/* Of a plan. */
#define CONCERNED ftr_rule_actions_in(FTR_IN_THRESHOLD)

/* An open call. */
struct level {
	uint64_t place;			/* of its ENTRY */
	uint64_t threshold_ns;		/* of what it calls, and its own */
	bool is_small;			/* and left out */
	bool is_hidden;			/* and will be left out: it keeps none around it */
	bool is_kept;			/* however short */
	bool leads;			/* it may stay */
	bool is_chosen;			/* in a call of FILTER, or one itself */
	bool is_muted;			/* the same of NOTRACE */
};

struct state {
	struct ftr_stack stack;		/* of calls that are not small */
	FTR_VEC(struct level) levels;	/* of all open calls */
	uint64_t out;			/* place of the sched-out that waits for its sched-in */
	bool is_begun;
};

struct threshold {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	struct ftr_rule_plans *plans;	/* (borrowed, nullable) */
	struct level outermost;		/* what holds outside of all calls */
	uint64_t size_min;		/* functions of less code are left out */
	bool has_callers;		/* only calls that lead somewhere stay */
	bool has_filter;		/* outside of FILTER only it and NOTRACE count */
	bool has_rules;			/* a call's function matters, not its time alone */
	bool is_told;			/* what filter leaves out: event.ahead */
	struct ftr_per_task states;
	size_t out_nr;			/* tasks whose sched-out waits */
	struct ftr_hold hold;		/* start_ns of an undecided event is its threshold */
};

static const struct ftr_rule_plan nothing;

/* Where there are rules filter does, since those of small functions count. */
static uint64_t size_min(const struct ftr_pipeline_options *options)
{
	return options->plans == NULL ? options->size_bytes : 0;
}

bool ftr_threshold_is_needed(const struct ftr_pipeline_options *options)
{
	return options->threshold_ns > 0 || size_min(options) > 0 ||
	       (options->plans != NULL && (ftr_rules_actions(options->plans->rules) &
					   (FTR_RULE_TIME | FTR_RULE_CALLER)));
}

bool ftr_threshold_is_time_alone(const struct ftr_pipeline_options *options)
{
	return options->threshold_ns > 0 && size_min(options) == 0 &&
	       (options->plans == NULL ||
		(ftr_rules_actions(options->plans->rules) & CONCERNED) == 0);
}

static int append_undecided(struct threshold *self, const struct ftr_event *ev,
			    uint64_t threshold_ns)
{
	uint64_t place = ftr_hold_next(&self->hold);
	int ret = ftr_hold_append(&self->hold, ev);
	struct ftr_event *last = ftr_hold_at(&self->hold, place);

	last->flags |= FTR_HOLD_UNDECIDED;
	if (ev->type == FTR_EVENT_ENTRY)
		last->call.start_ns = threshold_ns;
	else
		last->point.start_ns = threshold_ns;
	return ret;
}

static void decide(struct ftr_event *ev)
{
	ftr_hold_decide(ev);
	if (ev->type == FTR_EVENT_ENTRY)
		ev->call.start_ns = 0;
	else
		ev->point.start_ns = 0;
}

/* What is taken in. */

static void out_forget(struct threshold *self, struct state *state)
{
	self->out_nr -= state->out != FTR_HOLD_NOWHERE;
	state->out = FTR_HOLD_NOWHERE;
}

/* A sched-out without its sched-in stays. */
static void out_keep(struct threshold *self, struct state *state)
{
	if (ftr_hold_is_undecided(&self->hold, state->out))
		decide(ftr_hold_at(&self->hold, state->out));
	out_forget(self, state);
}

static const struct level *level_inside(const struct threshold *self, const struct state *state)
{
	return state->levels.nr > 0 ? &state->levels.v[state->levels.nr - 1] : &self->outermost;
}

/* What does not count is what `filter` will leave out. */
static void level_apply(const struct threshold *self, struct level *level,
			const struct ftr_rule_plan *plan)
{
	bool is_outside = self->has_filter && !level->is_chosen;

	if (level->is_muted ||
	    (is_outside && (plan->actions & (FTR_RULE_FILTER | FTR_RULE_NOTRACE)) == 0))
		return;
	level->is_chosen |= (plan->actions & FTR_RULE_FILTER) != 0;
	level->is_muted = (plan->actions & FTR_RULE_NOTRACE) != 0;
	if (level->is_muted)
		return;
	if (plan->actions & FTR_RULE_TIME)
		level->threshold_ns = plan->values.time_ns;
	level->is_kept = (plan->actions & FTR_RULE_TRACE) != 0;
	level->leads |= (plan->actions & FTR_RULE_CALLER) != 0;
}

static int take_entry(struct threshold *self, struct state *state, struct ftr_event *ev)
{
	const struct ftr_rule_plan *plan = &nothing;
	struct level level = *level_inside(self, state);
	uint32_t size = ev->call.func->size;

	if (self->plans != NULL)
		plan = ftr_rule_plans_at(self->plans, ev->call.func, ev->verdict);
	if (plan == NULL)
		return -ENOMEM;
	level.place = ftr_hold_next(&self->hold);
	level.is_kept = false;
	level.leads = !self->has_callers;
	if (plan->actions & (CONCERNED | FTR_RULE_FILTER | FTR_RULE_NOTRACE))
		level_apply(self, &level, plan);
	level.is_small = size != 0 && size < self->size_min;
	level.is_hidden = self->is_told && (ev->ahead & FTR_AHEAD_HIDDEN) != 0;
	if (ftr_vec_push(&state->levels, level) < 0)
		return -ENOMEM;
	if (level.is_small)
		return 0;
	ev->depth = FTR_DEPTH_UNKNOWN;
	if (ftr_stack_follow(&state->stack, ev) < 0)
		return -ENOMEM;
	return append_undecided(self, ev, level.leads ? level.threshold_ns : FTR_HOLD_NOWHERE);
}

/* A call that stays is called by calls that stay. */
static void levels_keep(struct threshold *self, struct state *state)
{
	for (size_t i = state->levels.nr; i > 0; i--) {
		const struct level *level = &state->levels.v[i - 1];

		if (level->is_small)
			continue;
		if (ftr_hold_is_undecided(&self->hold, level->place))
			decide(ftr_hold_at(&self->hold, level->place));
		else if (!level->is_hidden)	/* which is decided without those around it */
			break;
	}
}

/* A call that did not return is long enough: how long it would have taken is not known. */
static bool is_worth_it(const struct level *level, const struct ftr_event *ev)
{
	return (level->is_kept && !level->is_hidden) ||
	       (level->leads && ((ev->flags & FTR_EVENT_UNFINISHED) ||
				 ev->time_ns - ev->call.start_ns >= level->threshold_ns));
}

static int take_exit(struct threshold *self, struct state *state, struct ftr_event *ev)
{
	const struct level *level = &state->levels.v[state->levels.nr - 1];

	if (level->is_small) {
		state->levels.nr--;
		return 0;
	}
	ev->depth = FTR_DEPTH_UNKNOWN;
	if (ftr_stack_follow(&state->stack, ev) < 0)
		return -ENOMEM;
	if (ftr_hold_is_undecided(&self->hold, level->place)) {
		if (!is_worth_it(level, ev)) {
			ftr_hold_drop_from(&self->hold, level->place, ev->task);
			ftr_stack_top(&state->stack)->child_ns -= ev->time_ns - ev->call.start_ns;
			state->levels.nr--;
			return 0;
		}
		if (level->is_hidden)
			decide(ftr_hold_at(&self->hold, level->place));
		else
			levels_keep(self, state);
	}
	state->levels.nr--;
	return ftr_hold_append(&self->hold, ev);
}

/* From its sched-out to its sched-in a task is as in a call. */
static int take_sched(struct threshold *self, struct state *state, struct ftr_event *ev)
{
	bool is_in = ftr_event_is_sched_in(ev);
	uint64_t duration_ns = ev->time_ns - ev->point.start_ns;
	const struct level *level = level_inside(self, state);

	if (is_in && duration_ns < level->threshold_ns &&
	    ftr_hold_is_undecided(&self->hold, state->out)) {
		ftr_hold_drop(&self->hold, state->out);
		out_forget(self, state);
		ftr_stack_top(&state->stack)->child_ns -= duration_ns;
		return 0;
	}
	out_keep(self, state);
	if (is_in)
		return ftr_hold_append(&self->hold, ev);
	state->out = ftr_hold_next(&self->hold);
	self->out_nr++;
	return append_undecided(self, ev, level->threshold_ns);
}

static int take_other(struct threshold *self, struct state *state, struct ftr_event *ev)
{
	ev->depth = (uint32_t)state->stack.open_nr;
	if (ftr_stack_follow(&state->stack, ev) < 0)
		return -ENOMEM;
	if (ev->type == FTR_EVENT_POINT && ev->point.kind == FTR_POINT_INSTANT &&
	    (ftr_event_is_sched_out(ev) || ftr_event_is_sched_in(ev)))
		return take_sched(self, state, ev);
	return ftr_hold_append(&self->hold, ev);
}

static int take(struct ftr_source *source, struct ftr_event *ev)
{
	struct threshold *self = (struct threshold *)source;
	struct state *state = ftr_per_task_get(&self->states, ev->task);

	if (state == NULL)
		return -ENOMEM;
	if (!state->is_begun) {
		state->is_begun = true;
		state->out = FTR_HOLD_NOWHERE;
	}
	if (ev->type > FTR_EVENT_EXIT)
		return take_other(self, state, ev);
	if (state->out != FTR_HOLD_NOWHERE)
		out_keep(self, state);
	return ev->type == FTR_EVENT_ENTRY ? take_entry(self, state, ev) :
					     take_exit(self, state, ev);
}

/* What goes out. */

/* What is undecided is decided when the stream went on for long enough. */
static bool is_ready(void *arg, struct ftr_event *ev)
{
	struct threshold *self = arg;
	const struct ftr_hold *hold = &self->hold;
	uint64_t threshold_ns =
		ev->type == FTR_EVENT_ENTRY ? ev->call.start_ns : ev->point.start_ns;

	if (!hold->is_ended &&
	    hold->queue.v[hold->queue.nr - 1].time_ns - ev->time_ns < threshold_ns)
		return false;
	decide(ev);
	return true;
}

/*
 * Short calls of which all is in one batch, in which nothing happens but such calls, need no queue.
 * A sched-out that waits has to see them, though.  How many events are left.
 */
static ssize_t shed(struct ftr_source *source, struct ftr_event *in, ssize_t nr)
{
	const struct threshold *self = (struct threshold *)source;
	uint64_t threshold_ns = self->outermost.threshold_ns;
	ssize_t kept = 0;

	if (self->has_rules || !self->inner->is_calls_only || self->out_nr != 0)
		return nr;
	for (ssize_t i = 0; i < nr; i++) {
		const struct ftr_event *ev = &in[i], *entry = &in[kept - 1];

		if (ev->type == FTR_EVENT_EXIT && kept > 0 && entry->type == FTR_EVENT_ENTRY &&
		    ev->time_ns - entry->time_ns < threshold_ns && entry->task == ev->task &&
		    !(ev->flags & FTR_EVENT_UNFINISHED)) {
			kept--;
			continue;
		}
		if (kept != i)
			in[kept] = *ev;
		kept++;
	}
	return kept;
}

static const struct ftr_hold_ops hold_ops = {
	.shed	  = shed,
	.take	  = take,
	.is_ready = is_ready,
};

static ssize_t threshold_next(struct ftr_source *source, struct ftr_event **evs,
			      struct ftr_err *err)
{
	struct threshold *self = (struct threshold *)source;

	return ftr_hold_pull(&self->hold, source, self->inner, &hold_ops, evs, err);
}

static void threshold_free(struct ftr_source *source)
{
	struct threshold *self = (struct threshold *)source;
	struct state *state;
	size_t pos = 0;

	ftr_source_free(self->inner);
	while ((state = ftr_per_task_next(&self->states, &pos)) != NULL) {
		ftr_stack_fini(&state->stack);
		ftr_vec_fini(&state->levels);
	}
	ftr_per_task_fini(&self->states);
	ftr_hold_fini(&self->hold);
	free(self);
}

static const struct ftr_source_ops threshold_ops = {
	.next = threshold_next,
	.free = threshold_free,
};

struct ftr_source *ftr_threshold_new(struct ftr_source *inner,
				     const struct ftr_pipeline_options *options)
{
	struct threshold *self = calloc(1, sizeof(*self));

	assert(ftr_threshold_is_needed(options));
	if (self == NULL) {
		ftr_source_free(inner);
		return NULL;
	}
	self->base.ops = &threshold_ops;
	self->inner = inner;
	self->plans = options->plans;
	self->outermost.threshold_ns = options->threshold_ns;
	self->size_min = size_min(options);
	self->has_callers = self->plans != NULL &&
			    (ftr_rules_actions(self->plans->rules) & FTR_RULE_CALLER);
	self->has_filter = self->plans != NULL &&
			   (ftr_rules_actions(self->plans->rules) & FTR_RULE_FILTER);
	self->has_rules = !ftr_threshold_is_time_alone(options);
	self->is_told = ftr_filter_looks_ahead(options);
	self->states.bytes = sizeof(struct state);
	return &self->base;
}

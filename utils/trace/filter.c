/* SPDX-License-Identifier: MIT */
/* Rules applied to streams, in place. */
#include "utils/trace/filter.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "utils/trace/event_kind.h"
#include "utils/trace/filter_rules.h"
#include "utils/trace/filter_run.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/source.h"
#include "utils/trace/stacks.h"
#include "utils/trace/threshold.h"

/* What is done here; plans have cleared already. */
#define AT_ENTRY \
	(FTR_RULES_SHOWN & ~(ftr_rule_actions_in(FTR_IN_THRESHOLD) | (uint32_t)FTR_RULE_CLEAR))

/* An event costs a fraction of what a sum of a run does. */
#define RUN_EVENTS_A_SUM 8

struct filter {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	struct ftr_filter_rules rules;
	const struct ftr_stacks *stacks;	/* (borrowed, nullable) of calls */
	bool may_finish;
	bool has_backtraces;
	bool is_ahead;			/* tells another one what rules do at each call */
	bool takes_runs;
	enum ftr_run_kind run_kind;
	struct ftr_filter_run run;
	uint64_t finish_ns;
	size_t drain_pos;		/* of states */
	struct ftr_filter_state *draining;
	FTR_VEC(struct ftr_event) spread;	/* a batch with its backtraces */
	size_t spread_pos;		/* handed out */
	struct ftr_event made[FTR_SOURCE_BATCH];
};

/* What makes a call that stays keep those around it. */
#define KEEPERS (FTR_RULE_TRACE | FTR_RULE_TIME | FTR_RULE_CALLER)
/* What leaves out calls that threshold does not know to be. */
#define HIDERS (FTR_RULE_DEPTH | FTR_RULE_HIDE | FTR_RULE_SIZE)

bool ftr_filter_looks_ahead(const struct ftr_pipeline_options *options)
{
	uint32_t actions;

	if (options->plans == NULL || !ftr_threshold_is_needed(options))
		return false;
	actions = ftr_rules_actions(options->plans->rules);
	return (actions & (FTR_RULES_IN_ORDER | FTR_RULES_COUNTED)) != 0 ||
	       ((actions & KEEPERS) != 0 &&
		((actions & HIDERS) != 0 || options->depth_max != 0 || options->size_bytes != 0 ||
		 options->starts_off));
}

bool ftr_filter_is_needed(const struct ftr_pipeline_options *options)
{
	return options->plans != NULL &&
	       (options->starts_off || options->size_bytes != 0 ||
		(ftr_rules_actions(options->plans->rules) & AT_ENTRY) ||
		ftr_filter_looks_ahead(options));
}

bool ftr_filter_needs_all_tasks(const struct ftr_pipeline_options *options)
{
	return options->plans != NULL &&
	       (options->starts_off ||
		(ftr_rules_actions(options->plans->rules) & FTR_RULES_IN_ORDER));
}

/* What is shown is remembered, to be ended where the stream is. */
static int follow(struct filter *self, const struct ftr_event *ev)
{
	struct ftr_filter_state *state = ftr_per_task_get(&self->rules.states, ev->task);
	struct ftr_event copy = *ev;

	self->finish_ns = ev->time_ns;
	return state == NULL ? -ENOMEM : ftr_stack_follow(&state->shown, &copy);
}

/* Tell the filter that follows what rules do here.  0 or -ENOMEM. */
static int tell(struct filter *self, struct ftr_event *ev)
{
	const struct ftr_filter_state *state;
	struct ftr_event copy = *ev;	/* which is shown at some depth, or not */
	int is_shown;

	self->rules.is_counted_out = false;
	is_shown = ftr_filter_rules_take(&self->rules, &copy);
	if (is_shown < 0 || (self->may_finish && follow(self, ev) < 0))
		return -ENOMEM;
	state = ftr_per_task_get(&self->rules.states, ev->task);
	ev->ahead = (uint8_t)((*state->is_on ? 0 : FTR_AHEAD_OFF) |
			      (self->rules.is_counted_out ? FTR_AHEAD_COUNTED : 0) |
			      (is_shown ? 0 : FTR_AHEAD_HIDDEN));
	return 0;
}

/* All of a batch, up to where a rule ends the stream: how many, or -ENOMEM. */
static ssize_t tell_batch(struct filter *self, struct ftr_event *evs, ssize_t nr)
{
	ssize_t i = 0;

	while (i < nr && !self->rules.is_finished) {
		if (tell(self, &evs[i++]) < 0)
			return -ENOMEM;
	}
	return i;
}

/* Calls that are open where a rule ended the stream. */
static ssize_t drain(struct filter *self, struct ftr_event **evs)
{
	size_t nr = 0;

	*evs = self->made;
	while (nr < FTR_SOURCE_BATCH) {
		struct ftr_filter_state *state = self->draining;

		if (state == NULL || state->shown.open_nr == 0) {
			self->draining = ftr_per_task_next(&self->rules.states, &self->drain_pos);
			if (self->draining == NULL)
				break;
			continue;
		}
		nr += ftr_stack_finish(&state->shown, state->task, self->finish_ns,
				       &self->made[nr], FTR_SOURCE_BATCH - nr);
	}
	return (ssize_t)nr;
}

/* What is shown of a batch moves to its front: how many, or -ENOMEM. */
static ssize_t take_batch(struct filter *self, struct ftr_event *evs, ssize_t nr)
{
	ssize_t kept = 0;

	for (ssize_t i = 0; i < nr && !self->rules.is_finished; i++) {
		int is_shown = ftr_filter_rules_take(&self->rules, &evs[i]);

		if (__builtin_expect(is_shown < 0, 0))
			return is_shown;
		if (!is_shown)
			continue;
		if (kept != i)
			evs[kept] = evs[i];
		if (self->may_finish && follow(self, &evs[kept]) < 0)
			return -ENOMEM;
		kept++;
	}
	return kept;
}

/* The calls of the task, as they are now: what is said of @ev, which is not yet changed. */
static int open_follow(struct filter *self, const struct ftr_event *ev)
{
	struct ftr_filter_state *state = ftr_per_task_get(&self->rules.states, ev->task);

	if (ev->type > FTR_EVENT_EXIT)
		return 0;
	if (state == NULL)
		return -ENOMEM;
	if (ev->depth < state->open.nr)
		state->open.nr = ev->depth;
	if (ev->depth < state->stack_depth)
		state->stack = 0;	/* of a call whose ENTRY was lost */
	return ev->type == FTR_EVENT_ENTRY ? ftr_vec_push(&state->open, ev->call.func) : 0;
}

/* The call that comes next at the depth of @ev has the stack that this names. */
static int stack_note(struct filter *self, const struct ftr_event *ev)
{
	struct ftr_filter_state *state = ftr_per_task_get(&self->rules.states, ev->task);

	if (state == NULL)
		return -ENOMEM;
	state->stack = ftr_stack_noted(ev);
	state->stack_depth = ev->depth;
	return 0;
}

/* The number that was noted for @entry, as it is in the stream; it is forgotten. */
static uint32_t stack_take(struct ftr_filter_state *state, const struct ftr_event *entry)
{
	uint32_t stack = state->stack_depth == entry->depth ? state->stack : 0;

	if (stack != 0)
		state->stack = 0;
	return stack;
}

static int caller_put(struct filter *self, const struct ftr_event *entry, const char *name,
		      uint32_t nr)
{
	struct ftr_event caller = {
		.type = FTR_EVENT_MESSAGE, .time_ns = entry->time_ns, .task = entry->task,
		.message = { name, nr },
	};

	return ftr_vec_push(&self->spread, caller);
}

/* By the stack @number, or, where that is not known, the calls around it. */
static int backtrace_put(struct filter *self, const struct ftr_event *entry, uint32_t number)
{
	struct ftr_filter_state *state = ftr_per_task_get(&self->rules.states, entry->task);
	const struct ftr_func *const *funcs = NULL;
	size_t nr = ftr_stack_funcs(self->stacks, number, &funcs);
	int ret = 0;

	for (size_t i = nr; ret == 0 && i > 0; i--)
		ret = caller_put(self, entry, funcs[i - 1]->name, (uint32_t)(nr - i) + 1);
	for (size_t i = 0; ret == 0 && nr == 0 && i + 1 < state->open.nr; i++)
		ret = caller_put(self, entry, state->open.v[i]->name, (uint32_t)i + 1);
	return ret;
}

/* What is shown of @ev, behind what is spread.  0 or -ENOMEM. */
static int spread_event(struct filter *self, struct ftr_event *ev)
{
	const struct ftr_rule_plan *plan = NULL;
	const struct ftr_event as_it_is = *ev;
	uint32_t stack = 0;
	int is_shown;

	if (ev->type == FTR_EVENT_POINT && ftr_event_kind_id(ev) == FTR_EVENT_ID_BACKTRACE)
		return stack_note(self, ev);
	if (open_follow(self, ev) < 0)
		return -ENOMEM;
	is_shown = ftr_filter_rules_take(&self->rules, ev);
	if (is_shown <= 0 && ev->type != FTR_EVENT_ENTRY)
		return is_shown;
	if (ev->type == FTR_EVENT_ENTRY)
		plan = ftr_rule_plans_at(self->rules.plans, ev->call.func, ev->verdict);
	if (plan != NULL && (plan->actions & FTR_RULE_BACKTRACE) != 0)
		stack = stack_take(ftr_per_task_get(&self->rules.states, ev->task), &as_it_is);
	if (is_shown <= 0)
		return is_shown;
	if (self->may_finish && follow(self, ev) < 0)
		return -ENOMEM;
	if (plan != NULL && (plan->actions & FTR_RULE_BACKTRACE) &&
	    backtrace_put(self, ev, stack) < 0)
		return -ENOMEM;
	return ftr_vec_push(&self->spread, *ev);
}

/* Another batch, which grows by its backtraces.  How many events, or -ENOMEM. */
static ssize_t spread_batch(struct filter *self, struct ftr_event *evs, ssize_t nr)
{
	self->spread.nr = 0;
	self->spread_pos = 0;
	for (ssize_t i = 0; i < nr && !self->rules.is_finished; i++) {
		if (spread_event(self, &evs[i]) < 0)
			return -ENOMEM;
	}
	return (ssize_t)self->spread.nr;
}

static size_t spread_hand_out(struct filter *self, struct ftr_event **evs)
{
	size_t nr = self->spread.nr - self->spread_pos;

	if (nr > FTR_SOURCE_BATCH)
		nr = FTR_SOURCE_BATCH;
	*evs = self->spread.v + self->spread_pos;
	self->spread_pos += nr;
	return nr;
}

static ssize_t batch_take(struct filter *self, struct ftr_event *evs, ssize_t nr)
{
	if (self->is_ahead)
		return tell_batch(self, evs, nr);
	return self->has_backtraces ? spread_batch(self, evs, nr) : take_batch(self, evs, nr);
}

static ssize_t filter_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct filter *self = (struct filter *)source;
	ssize_t nr, kept = 0;

	if (self->spread_pos < self->spread.nr)
		return (ssize_t)spread_hand_out(self, evs);
	do {
		if (self->rules.is_finished)
			return drain(self, evs);
		nr = ftr_source_next(self->inner, evs, err);
		if (nr > 0)
			kept = batch_take(self, *evs, nr);
		if (kept < 0)
			return ftr_err_set(err, ENOMEM, "out of memory");
	} while (nr > 0 && kept == 0);
	self->base.is_calls_only = self->inner->is_calls_only && !self->has_backtraces;
	if (nr > 0 && self->has_backtraces)
		return (ssize_t)spread_hand_out(self, evs);
	return nr <= 0 ? nr : kept;
}

static void filter_wish(struct ftr_source *source, const struct ftr_run_wish *wish)
{
	struct filter *self = (struct filter *)source;
	struct ftr_run_wish by_callers = *wish;

	if (!self->takes_runs)
		return;
	self->run_kind = wish->kind;
	by_callers.kind = FTR_RUN_BY_CALLERS;
	by_callers.events_a_sum = RUN_EVENTS_A_SUM;
	ftr_source_wish(self->inner, &by_callers);
}

static int filter_run(struct ftr_source *source, struct ftr_run **run, struct ftr_err *err)
{
	struct filter *self = (struct filter *)source;
	int ret;

	if (!self->takes_runs)
		return 0;
	ret = ftr_source_run(self->inner, run, err);
	if (ret <= 0)
		return ret;
	if (ftr_filter_run_take(&self->run, &self->rules, *run, self->run_kind) < 0)
		return ftr_err_set(err, ENOMEM, "out of memory");
	*run = &self->run.left;
	return 1;
}

static void filter_free(struct ftr_source *source)
{
	struct filter *self = (struct filter *)source;

	ftr_source_free(self->inner);
	ftr_filter_rules_fini(&self->rules);
	ftr_filter_run_fini(&self->run);
	ftr_vec_fini(&self->spread);
	free(self);
}

static const struct ftr_source_ops filter_ops = {
	.next = filter_next,
	.wish = filter_wish,
	.run = filter_run,
	.free = filter_free,
};

static bool rules_finish(const struct ftr_pipeline_options *options)
{
	return (ftr_rules_actions(options->plans->rules) & FTR_RULE_FINISH) != 0;
}

struct ftr_source *ftr_filter_new(struct ftr_source *inner, const struct ftr_stacks *stacks,
				  const struct ftr_pipeline_options *options)
{
	struct filter *self = calloc(1, sizeof(*self));

	assert(ftr_filter_is_needed(options));
	if (self == NULL) {
		ftr_source_free(inner);
		return NULL;
	}
	self->base.ops = &filter_ops;
	self->inner = inner;
	self->stacks = stacks;
	ftr_filter_rules_init(&self->rules, options);
	self->rules.is_told = ftr_filter_looks_ahead(options);
	self->may_finish = !self->rules.is_told && rules_finish(options);
	self->has_backtraces = options->has_backtraces &&
			       (ftr_rules_actions(options->plans->rules) & FTR_RULE_BACKTRACE);
	self->takes_runs = !self->rules.is_told && !self->has_backtraces &&
			   ftr_filter_run_is_possible(options);
	return &self->base;
}

struct ftr_source *ftr_filter_ahead_new(struct ftr_source *inner,
					const struct ftr_pipeline_options *options)
{
	struct ftr_source *source = ftr_filter_new(inner, NULL, options);
	struct filter *self = (struct filter *)source;

	if (self == NULL)
		return NULL;
	self->is_ahead = self->rules.is_about_all = true;
	self->rules.is_told = false;
	self->rules.no_libcall = options->no_libcall;
	self->may_finish = rules_finish(options);
	self->has_backtraces = self->takes_runs = false;
	return source;
}

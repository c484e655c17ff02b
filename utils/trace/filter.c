/* SPDX-License-Identifier: MIT */
/*
 * Rules applied to streams, in place.  Calls that rules concern are on a stack.  Any other call is
 * shown if its depth, less the hidden calls around it, is below a limit: both are the same at its
 * ENTRY and at its EXIT, and change at calls on the stack alone.
 */
#include "utils/trace/filter.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/hashmap.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/per_task.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/rule_plan.h"
#include "utils/trace/select.h"
#include "utils/trace/source.h"
#include "utils/trace/stack.h"
#include "utils/trace/stacks.h"

#define SWITCHES (FTR_RULE_TRACE_ON | FTR_RULE_TRACE_OFF)

/* What is done here; plans have cleared already. */
#define AT_ENTRY \
	(FTR_RULES_SHOWN & ~(ftr_rule_actions_in(FTR_IN_THRESHOLD) | (uint32_t)FTR_RULE_CLEAR))

#define NO_DEPTH UINT32_MAX
#define NS_PER_S UINT64_C(1000000000)

/* An open call that a rule concerns, or that began while its process was switched off. */
struct frame {
	uint32_t depth;
	uint32_t shown_depth;
	uint32_t hidden_nr;	/* before it */
	uint32_t limit;		/* before it */
	bool is_shown;
	bool is_chosen;		/* counts in chosen_nr */
};

/* Calls of a function that rules count. */
struct counter {
	uint64_t sampled_nr;
	uint64_t second_ns;	/* when the second began; valid if rated_nr is not 0 */
	uint64_t rated_nr;	/* of that second */
};

struct state {
	FTR_VEC(struct frame) frames;
	uint32_t top_depth;	/* of the innermost of them; NO_DEPTH = none */
	uint32_t hidden_nr;	/* calls around the next one that are not shown */
	uint32_t limit;		/* only depths below it, less hidden_nr, are shown */
	uint32_t chosen_nr;	/* open calls of FILTER */
	uint32_t muted_from;	/* depth of the open call of NOTRACE; NO_DEPTH = none */
	bool *is_on;		/* of its process; NULL = the task is new */
	struct ftr_task *task;
	struct ftr_stack shown;	/* calls that are shown, where rules may end the stream */
	FTR_VEC(struct counter) counters;	/* by id of the function */
	FTR_VEC(const struct ftr_func *) open;	/* all calls, where there are backtraces */
	uint32_t stack;		/* number of that of the call that comes next; 0 = not known */
	uint32_t stack_depth;
};

struct filter {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	struct ftr_rule_plans *plans;	/* (borrowed) */
	const struct ftr_stacks *stacks;	/* (borrowed, nullable) of calls */
	struct ftr_per_task states;	/* struct state */
	struct ftr_hashmap is_on_by_pid;	/* bool (owned) */
	uint32_t depth_max;
	bool has_filter;		/* only what FILTER chooses is shown */
	bool starts_off;
	bool event_full;
	bool may_finish;
	bool has_backtraces;
	bool is_finished;
	uint64_t finish_ns;
	size_t drain_pos;		/* of states */
	struct state *draining;
	FTR_VEC(struct ftr_event) spread;	/* a batch with its backtraces */
	size_t spread_pos;		/* handed out */
	struct ftr_event made[FTR_SOURCE_BATCH];
};

bool ftr_filter_is_needed(const struct ftr_pipeline_options *options)
{
	return options->plans != NULL &&
	       (options->starts_off || (ftr_rules_actions(options->plans->rules) & AT_ENTRY));
}

bool ftr_filter_needs_all_tasks(const struct ftr_pipeline_options *options)
{
	return options->plans != NULL &&
	       (options->starts_off ||
		(ftr_rules_actions(options->plans->rules) & FTR_RULES_IN_ORDER));
}

/* The switch of a process, which begins as its parent's. */
static bool *process_switch(struct filter *self, const struct ftr_task *task)
{
	bool *is_on = ftr_hashmap_find(&self->is_on_by_pid, (uint64_t)task->pid);
	const bool *parent = NULL;

	if (is_on != NULL)
		return is_on;
	if (task->parent != NULL)
		parent = ftr_hashmap_find(&self->is_on_by_pid, (uint64_t)task->parent->pid);
	is_on = malloc(sizeof(*is_on));
	if (is_on == NULL)
		return NULL;
	*is_on = parent != NULL ? *parent : !self->starts_off;
	if (ftr_hashmap_set(&self->is_on_by_pid, (uint64_t)task->pid, is_on) < 0) {
		free(is_on);
		return NULL;
	}
	return is_on;
}

static int state_init(struct filter *self, struct state *state, struct ftr_task *task)
{
	state->task = task;
	state->is_on = process_switch(self, task);
	state->limit = self->has_filter ? 0 : self->depth_max;
	state->top_depth = NO_DEPTH;
	state->muted_from = NO_DEPTH;
	return state->is_on == NULL ? -ENOMEM : 0;
}

/* Is @ev, neither ENTRY nor EXIT of a call on the stack, shown?  Then at which depth. */
static bool is_below_limit(const struct state *state, struct ftr_event *ev)
{
	uint32_t depth = ev->depth - state->hidden_nr;

	ev->depth = depth < state->limit ? depth : state->limit;
	return depth < state->limit;
}

static struct frame *frame_push(struct state *state, uint32_t depth)
{
	uint32_t shown_depth = depth - state->hidden_nr;
	struct frame frame = {
		.depth = depth, .hidden_nr = state->hidden_nr, .limit = state->limit,
		.shown_depth = shown_depth < state->limit ? shown_depth : state->limit,
	};

	if (ftr_vec_push(&state->frames, frame) < 0)
		return NULL;
	state->top_depth = depth;
	return &state->frames.v[state->frames.nr - 1];
}

/* How many levels, that of the call included, may be shown from it on? */
static uint32_t levels_of(const struct filter *self, const struct frame *frame,
			  const struct ftr_rule_plan *plan)
{
	if (plan->actions & FTR_RULE_DEPTH)
		return plan->values.depth;
	if (plan->actions & FTR_RULE_FILTER)
		return self->depth_max;
	return frame->limit - frame->shown_depth;
}

static void frame_enter(struct state *state, struct frame *frame, uint32_t levels)
{
	state->hidden_nr = frame->depth + !frame->is_shown - frame->shown_depth;
	if (__builtin_add_overflow(frame->shown_depth, levels, &state->limit))
		state->limit = UINT32_MAX;
}

static bool is_outside(const struct filter *self, const struct state *state)
{
	return self->has_filter && state->chosen_nr == 0;
}

static struct counter *counter_of(struct state *state, const struct ftr_func *func)
{
	size_t nr = state->counters.nr;

	if (func->id >= nr) {
		if (ftr_vec_reserve(&state->counters, func->id + 1) < 0)
			return NULL;
		memset(&state->counters.v[nr], 0,
		       (func->id + 1 - nr) * sizeof(state->counters.v[0]));
		state->counters.nr = func->id + 1;
	}
	return &state->counters.v[func->id];
}

/* Is the call, which counts, one that the rules let through?  1, 0 or -ENOMEM. */
static int count(struct state *state, const struct ftr_event *ev, const struct ftr_rule_plan *plan)
{
	struct counter *counter;

	if ((plan->actions & FTR_RULES_COUNTED) == 0)
		return 1;
	counter = counter_of(state, ev->call.func);
	if (counter == NULL)
		return -ENOMEM;
	if ((plan->actions & FTR_RULE_SAMPLE) &&
	    counter->sampled_nr++ % plan->values.sample_nr != 0)
		return 0;
	if (!(plan->actions & FTR_RULE_RATE))
		return 1;
	if (counter->rated_nr == 0 || ev->time_ns - counter->second_ns >= NS_PER_S) {
		counter->second_ns = ev->time_ns;
		counter->rated_nr = 0;
	}
	return counter->rated_nr++ < plan->values.rate_per_s;
}

/* The ENTRY of a call that a rule concerns.  Is it shown?  1, 0 or -ENOMEM. */
static int take_entry(struct filter *self, struct state *state, struct ftr_event *ev,
		      const struct ftr_rule_plan *plan)
{
	bool is_chosen = (plan->actions & FTR_RULE_FILTER) != 0;
	bool is_muted = (plan->actions & FTR_RULE_NOTRACE) != 0;
	struct frame *frame;
	uint32_t levels;
	int counts;

	if (state->muted_from != NO_DEPTH ||
	    (is_outside(self, state) && !is_chosen && !is_muted))
		return is_below_limit(state, ev);
	counts = count(state, ev, plan);
	if (counts < 0)
		return counts;
	is_muted |= counts == 0;
	frame = frame_push(state, ev->depth);
	if (frame == NULL)
		return -ENOMEM;
	levels = is_muted ? 0 : levels_of(self, frame, plan);
	if (is_muted) {
		state->muted_from = ev->depth;
	} else {
		frame->is_chosen = is_chosen;
		state->chosen_nr += is_chosen;
		if (plan->actions & SWITCHES)
			*state->is_on = (plan->actions & FTR_RULE_TRACE_ON) != 0;
		self->is_finished = (plan->actions & FTR_RULE_FINISH) != 0;
	}
	frame->is_shown = levels > 0 && *state->is_on && !(plan->actions & FTR_RULE_HIDE);
	frame_enter(state, frame, levels);
	ev->depth = frame->shown_depth;
	ev->color = plan->values.color;
	return frame->is_shown;
}

/* The EXIT of the innermost call on the stack. */
static bool take_exit(struct state *state, struct ftr_event *ev)
{
	const struct frame *frame = &state->frames.v[--state->frames.nr];

	if (state->muted_from == frame->depth)
		state->muted_from = NO_DEPTH;
	state->chosen_nr -= frame->is_chosen;
	state->hidden_nr = frame->hidden_nr;
	state->limit = frame->limit;
	state->top_depth = state->frames.nr > 0 ? frame[-1].depth : NO_DEPTH;
	ev->depth = frame->shown_depth;
	return frame->is_shown;
}

/* Has the rule nothing to change: is the call one of FILTER within another, of any depth? */
static bool is_idle(const struct filter *self, const struct state *state,
		    const struct ftr_rule_plan *plan)
{
	return plan->actions == 0 || (plan->actions == FTR_RULE_FILTER && state->chosen_nr > 0 &&
				      (self->depth_max & state->limit) == UINT32_MAX);
}

/* Is a call shown?  1, 0 or -ENOMEM. */
static inline int take_call(struct filter *self, struct state *state, struct ftr_event *ev)
{
	const struct ftr_rule_plan *plan = ftr_rule_plans_get(self->plans, ev->call.func);

	if (__builtin_expect(plan == NULL, 0))
		return -ENOMEM;
	ev->color = 0;
	/* No call that begins is as deep as the innermost of the stack. */
	if (__builtin_expect((plan->actions == 0) & (ev->depth != state->top_depth) & *state->is_on,
			     1))
		return is_below_limit(state, ev);
	if (ev->type == FTR_EVENT_ENTRY) {
		plan = ftr_rule_plans_at(self->plans, ev->call.func, ev->verdict);
		if (plan == NULL)
			return -ENOMEM;
		return is_idle(self, state, plan) && *state->is_on ?
			       is_below_limit(state, ev) : take_entry(self, state, ev, plan);
	}
	return ev->depth == state->top_depth ? take_exit(state, ev) : is_below_limit(state, ev);
}

/* An instant is part of the call that it happens in; what outlives calls is not. */
static bool take_point(struct filter *self, struct state *state, struct ftr_event *ev)
{
	bool is_shown = is_below_limit(state, ev) && *state->is_on;

	if (ev->point.kind != FTR_POINT_INSTANT)
		return true;
	return is_shown && (self->event_full || ev->depth > 0 || !ftr_select_point_needs_call(ev));
}

static inline int take(struct filter *self, struct ftr_event *ev)
{
	struct state *state = ftr_per_task_get(&self->states, ev->task);

	if (__builtin_expect(state == NULL || state->is_on == NULL, 0) &&
	    (state == NULL || state_init(self, state, ev->task) < 0))
		return -ENOMEM;
	if (__builtin_expect(ev->type <= FTR_EVENT_EXIT, 1))
		return take_call(self, state, ev);
	if (ev->type == FTR_EVENT_POINT)
		return take_point(self, state, ev);
	return (is_below_limit(state, ev) && *state->is_on) || ev->type != FTR_EVENT_MESSAGE;
}

/* What is shown is remembered, to be ended where the stream is. */
static int follow(struct filter *self, const struct ftr_event *ev)
{
	struct state *state = ftr_per_task_get(&self->states, ev->task);
	struct ftr_event copy = *ev;

	self->finish_ns = ev->time_ns;
	return state == NULL ? -ENOMEM : ftr_stack_follow(&state->shown, &copy);
}

/* Calls that are open where a rule ended the stream. */
static ssize_t drain(struct filter *self, struct ftr_event **evs)
{
	size_t nr = 0;

	*evs = self->made;
	while (nr < FTR_SOURCE_BATCH) {
		struct state *state = self->draining;

		if (state == NULL || state->shown.open_nr == 0) {
			self->draining = ftr_per_task_next(&self->states, &self->drain_pos);
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

	for (ssize_t i = 0; i < nr && !self->is_finished; i++) {
		int is_shown = take(self, &evs[i]);

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
	struct state *state = ftr_per_task_get(&self->states, ev->task);

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
	struct state *state = ftr_per_task_get(&self->states, ev->task);

	if (state == NULL)
		return -ENOMEM;
	state->stack = ftr_stack_noted(ev);
	state->stack_depth = ev->depth;
	return 0;
}

/* The number that was noted for @entry, as it is in the stream; it is forgotten. */
static uint32_t stack_take(struct state *state, const struct ftr_event *entry)
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
	struct state *state = ftr_per_task_get(&self->states, entry->task);
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
	is_shown = take(self, ev);
	if (is_shown <= 0 && ev->type != FTR_EVENT_ENTRY)
		return is_shown;
	if (ev->type == FTR_EVENT_ENTRY)
		plan = ftr_rule_plans_at(self->plans, ev->call.func, ev->verdict);
	if (plan != NULL && (plan->actions & FTR_RULE_BACKTRACE) != 0)
		stack = stack_take(ftr_per_task_get(&self->states, ev->task), &as_it_is);
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
	for (ssize_t i = 0; i < nr && !self->is_finished; i++) {
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

static ssize_t filter_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct filter *self = (struct filter *)source;
	ssize_t nr, kept = 0;

	if (self->spread_pos < self->spread.nr)
		return (ssize_t)spread_hand_out(self, evs);
	do {
		if (self->is_finished)
			return drain(self, evs);
		nr = ftr_source_next(self->inner, evs, err);
		if (nr > 0)
			kept = self->has_backtraces ? spread_batch(self, *evs, nr) :
						      take_batch(self, *evs, nr);
		if (kept < 0)
			return ftr_err_set(err, ENOMEM, "out of memory");
	} while (nr > 0 && kept == 0);
	self->base.is_calls_only = self->inner->is_calls_only && !self->has_backtraces;
	if (nr > 0 && self->has_backtraces)
		return (ssize_t)spread_hand_out(self, evs);
	return nr <= 0 ? nr : kept;
}

static void filter_free(struct ftr_source *source)
{
	struct filter *self = (struct filter *)source;
	const struct ftr_hashmap_slot *slot;
	struct state *state;
	size_t pos = 0;

	ftr_source_free(self->inner);
	while ((state = ftr_per_task_next(&self->states, &pos)) != NULL) {
		ftr_vec_fini(&state->frames);
		ftr_vec_fini(&state->counters);
		ftr_vec_fini(&state->open);
		ftr_stack_fini(&state->shown);
	}
	ftr_per_task_fini(&self->states);
	for (pos = 0; (slot = ftr_hashmap_next(&self->is_on_by_pid, &pos)) != NULL;)
		free(slot->value);
	ftr_hashmap_fini(&self->is_on_by_pid);
	ftr_vec_fini(&self->spread);
	free(self);
}

static const struct ftr_source_ops filter_ops = {
	.next = filter_next,
	.free = filter_free,
};

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
	self->plans = options->plans;
	self->stacks = stacks;
	self->depth_max = options->depth_max > 0 ? options->depth_max : UINT32_MAX;
	self->has_filter = (ftr_rules_actions(options->plans->rules) & FTR_RULE_FILTER) != 0;
	self->starts_off = options->starts_off;
	self->may_finish = (ftr_rules_actions(options->plans->rules) & FTR_RULE_FINISH) != 0;
	self->event_full = options->event_full;
	self->has_backtraces = options->has_backtraces &&
			       (ftr_rules_actions(options->plans->rules) & FTR_RULE_BACKTRACE);
	self->states.bytes = sizeof(struct state);
	ftr_hashmap_init(&self->is_on_by_pid);
	return &self->base;
}

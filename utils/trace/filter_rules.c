/* SPDX-License-Identifier: MIT */
/*
 * See filter_rules.h.  What counts when rules meet: doc/adr/0028-rules-as-a-stream-transform.md
 */
#include "utils/trace/filter_rules.h"

#include <stdlib.h>

#include "utils/trace/pipeline.h"
#include "utils/trace/select.h"

#define SWITCHES (FTR_RULE_TRACE_ON | FTR_RULE_TRACE_OFF)
#define NS_PER_S UINT64_C(1000000000)

/* The switch of a process, which begins as its parent's. */
static bool *process_switch(struct ftr_filter_rules *self, const struct ftr_task *task)
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

static int state_init(struct ftr_filter_rules *self, struct ftr_filter_state *state,
		      struct ftr_task *task)
{
	state->task = task;
	state->is_on = process_switch(self, task);
	state->top_depth = FTR_FILTER_NO_DEPTH;
	state->place = (struct ftr_filter_place){
		.limit = self->has_filter ? 0 : self->depth_max,
		.muted_from = FTR_FILTER_NO_DEPTH,
		.size_min = self->size_min,
	};
	return state->is_on == NULL ? -ENOMEM : 0;
}

struct ftr_filter_state *ftr_filter_rules_state(struct ftr_filter_rules *self,
						struct ftr_task *task)
{
	struct ftr_filter_state *state = ftr_per_task_get(&self->states, task);

	if (state == NULL || (state->is_on == NULL && state_init(self, state, task) < 0))
		return NULL;
	return state;
}

static struct ftr_filter_frame *frame_push(struct ftr_filter_state *state, uint32_t depth)
{
	struct ftr_filter_frame frame = {
		.before = state->place, .depth = depth,
		.shown_depth = ftr_filter_shown_depth(&state->place, depth),
	};

	if (ftr_vec_push(&state->frames, frame) < 0)
		return NULL;
	state->top_depth = depth;
	return &state->frames.v[state->frames.nr - 1];
}

/* Does what the plan says count there? */
static bool plan_counts(const struct ftr_filter_rules *self, const struct ftr_filter_place *place,
			const struct ftr_rule_plan *plan)
{
	bool is_outside = self->has_filter && place->chosen_nr == 0;

	return place->muted_from == FTR_FILTER_NO_DEPTH &&
	       (!is_outside || (plan->actions & (FTR_RULE_FILTER | FTR_RULE_NOTRACE)) != 0);
}

/*
 * A call begins at @depth, of which nothing is shown if it is muted.  How many levels, its own
 * included, may be shown from it on?
 */
static uint32_t place_enter(const struct ftr_filter_rules *self, struct ftr_filter_place *place,
			    const struct ftr_rule_plan *plan, uint32_t depth, bool is_muted)
{
	if (is_muted) {
		place->muted_from = depth;
		return 0;
	}
	place->chosen_nr += (plan->actions & FTR_RULE_FILTER) != 0;
	if (plan->actions & FTR_RULE_SIZE)
		place->size_min = plan->values.size_bytes;
	if (plan->actions & FTR_RULE_DEPTH)
		return plan->values.depth;
	if (plan->actions & FTR_RULE_FILTER)
		return self->depth_max;
	return place->limit - ftr_filter_shown_depth(place, depth);
}

/* ... and what it calls is shown below it, if it is shown itself. */
static void place_show(struct ftr_filter_place *place, uint32_t depth, uint32_t shown_depth,
		       uint32_t levels, bool is_shown)
{
	place->hidden_nr = depth + !is_shown - shown_depth;
	if (__builtin_add_overflow(shown_depth, levels, &place->limit))
		place->limit = UINT32_MAX;
}

bool ftr_filter_rules_enter(const struct ftr_filter_rules *self, struct ftr_filter_place *place,
			    const struct ftr_rule_plan *plan, uint32_t depth,
			    uint32_t *shown_depth)
{
	bool is_muted = (plan->actions & FTR_RULE_NOTRACE) != 0, is_shown;
	uint32_t levels;

	*shown_depth = ftr_filter_shown_depth(place, depth);
	if (plan->actions == 0 || !plan_counts(self, place, plan))
		return *shown_depth < place->limit;
	levels = place_enter(self, place, plan, depth, is_muted);
	is_shown = levels > 0 && !(plan->actions & FTR_RULE_HIDE);
	place_show(place, depth, *shown_depth, levels, is_shown);
	return is_shown;
}

static struct ftr_filter_counter *counter_of(struct ftr_filter_state *state,
					      const struct ftr_func *func)
{
	if (ftr_vec_reach(&state->counters, func->id) < 0)
		return NULL;
	return &state->counters.v[func->id];
}

/* Is the call, which counts, one that the rules let through?  1, 0 or -ENOMEM. */
static int count(const struct ftr_filter_rules *self, struct ftr_filter_state *state,
		 const struct ftr_event *ev, const struct ftr_rule_plan *plan)
{
	struct ftr_filter_counter *counter;

	if ((plan->actions & FTR_RULES_COUNTED) == 0)
		return 1;
	if (self->is_told)
		return !self->is_counted_out;
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

/* What rules do to other calls than this and its callees. */
static void act(struct ftr_filter_rules *self, struct ftr_filter_state *state,
		const struct ftr_rule_plan *plan)
{
	if (self->is_told)
		return;
	if (plan->actions & SWITCHES)
		*state->is_on = (plan->actions & FTR_RULE_TRACE_ON) != 0;
	self->is_finished = (plan->actions & FTR_RULE_FINISH) != 0;
}

/* The ENTRY of a call that a rule concerns.  Is it shown?  1, 0 or -ENOMEM. */
static int take_entry(struct ftr_filter_rules *self, struct ftr_filter_state *state,
		      struct ftr_event *ev, const struct ftr_rule_plan *plan)
{
	bool is_muted = (plan->actions & FTR_RULE_NOTRACE) != 0;
	const struct ftr_func *func = ev->call.func;
	struct ftr_filter_frame *frame;
	uint32_t levels;
	int counts;

	if (!plan_counts(self, &state->place, plan))
		return ftr_filter_is_below_limit(state, ev);
	counts = count(self, state, ev, plan);
	if (counts < 0)
		return counts;
	self->is_counted_out = counts == 0;
	is_muted |= counts == 0;
	frame = frame_push(state, ev->depth);
	if (frame == NULL)
		return -ENOMEM;
	levels = place_enter(self, &state->place, plan, ev->depth, is_muted);
	if (!is_muted)
		act(self, state, plan);
	frame->is_small = !is_muted && func->size != 0 && func->size < state->place.size_min;
	frame->is_shown = levels > 0 && *state->is_on && !(plan->actions & FTR_RULE_HIDE) &&
			  !frame->is_small && !(self->no_libcall && func->symbol_type == 'P');
	place_show(&state->place, ev->depth, frame->shown_depth, levels, frame->is_shown);
	ev->depth = frame->shown_depth;
	ev->color = plan->values.color;
	return frame->is_shown;
}

/* Own time of a call that is left out for its size is its caller's. */
static void time_give(struct ftr_filter_frame *frame, struct ftr_event *ev, size_t below_nr)
{
	ev->call.child_ns -= frame->given_ns;
	if (frame->is_small && below_nr > 0)
		frame[-1].given_ns += ev->time_ns - ev->call.start_ns - ev->call.child_ns;
}

/* The EXIT of the innermost call on the stack. */
static bool take_exit(struct ftr_filter_state *state, struct ftr_event *ev)
{
	struct ftr_filter_frame *frame = &state->frames.v[--state->frames.nr];

	time_give(frame, ev, state->frames.nr);
	state->place = frame->before;
	state->top_depth = state->frames.nr > 0 ? frame[-1].depth : FTR_FILTER_NO_DEPTH;
	ev->depth = frame->shown_depth;
	return frame->is_shown;
}

/* Has the rule nothing to change: is the call one of FILTER within another, of any depth? */
static bool is_idle(const struct ftr_filter_rules *self, const struct ftr_filter_state *state,
		    const struct ftr_rule_plan *plan)
{
	return plan->actions == 0 ||
	       (plan->actions == FTR_RULE_FILTER && state->place.chosen_nr > 0 &&
		(self->depth_max & state->place.limit) == UINT32_MAX);
}

int ftr_filter_rules_take_call(struct ftr_filter_rules *self, struct ftr_filter_state *state,
			       struct ftr_event *ev)
{
	const struct ftr_rule_plan *plan = ftr_rule_plans_get(self->plans, ev->call.func);

	if (plan == NULL)
		return -ENOMEM;
	ev->color = 0;
	if (ev->type == FTR_EVENT_ENTRY) {
		plan = ftr_rule_plans_at(self->plans, ev->call.func, ev->verdict);
		if (plan == NULL)
			return -ENOMEM;
		return is_idle(self, state, plan) && *state->is_on && !self->is_about_all ?
			       ftr_filter_is_below_limit(state, ev) :
			       take_entry(self, state, ev, plan);
	}
	return ev->depth == state->top_depth ? take_exit(state, ev) :
					       ftr_filter_is_below_limit(state, ev);
}

/* An instant is part of the call that it happens in; what outlives calls is not. */
static bool take_point(const struct ftr_filter_rules *self, struct ftr_filter_state *state,
		       struct ftr_event *ev)
{
	bool is_shown = ftr_filter_is_below_limit(state, ev) && *state->is_on;

	if (ev->point.kind != FTR_POINT_INSTANT)
		return true;
	return is_shown && (self->event_full || ev->depth > 0 || !ftr_select_point_needs_call(ev));
}

static void told_take(struct ftr_filter_rules *self, struct ftr_filter_state *state,
		      struct ftr_event *ev)
{
	*state->is_on = (ev->ahead & FTR_AHEAD_OFF) == 0;
	self->is_counted_out = (ev->ahead & FTR_AHEAD_COUNTED) != 0;
	ev->color = 0;
}

int ftr_filter_rules_take_any(struct ftr_filter_rules *self, struct ftr_event *ev)
{
	struct ftr_filter_state *state = ftr_filter_rules_state(self, ev->task);

	if (state == NULL)
		return -ENOMEM;
	if (self->is_told)
		told_take(self, state, ev);
	if (ev->type <= FTR_EVENT_EXIT)
		return ftr_filter_rules_take_call(self, state, ev);
	if (ev->type == FTR_EVENT_POINT)
		return take_point(self, state, ev);
	return (ftr_filter_is_below_limit(state, ev) && *state->is_on) ||
	       ev->type != FTR_EVENT_MESSAGE;
}

void ftr_filter_rules_init(struct ftr_filter_rules *self,
			   const struct ftr_pipeline_options *options)
{
	uint32_t actions = ftr_rules_actions(options->plans->rules);

	*self = (struct ftr_filter_rules){
		.plans = options->plans,
		.states = { .bytes = sizeof(struct ftr_filter_state) },
		.depth_max = options->depth_max > 0 ? options->depth_max : UINT32_MAX,
		.size_min = options->size_bytes,
		.has_filter = (actions & FTR_RULE_FILTER) != 0,
		.starts_off = options->starts_off,
		.event_full = options->event_full,
		.is_about_all = options->size_bytes != 0 || (actions & FTR_RULE_SIZE) != 0,
	};
	ftr_hashmap_init(&self->is_on_by_pid);
}

void ftr_filter_rules_fini(struct ftr_filter_rules *self)
{
	const struct ftr_hashmap_slot *slot;
	struct ftr_filter_state *state;
	size_t pos = 0;

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
}

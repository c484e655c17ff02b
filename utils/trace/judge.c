/* SPDX-License-Identifier: MIT */
/* Verdicts about calls, given at their ENTRY or, in a queue, once their EXIT is there. */
#include "utils/trace/judge.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "utils/trace/condition.h"
#include "utils/trace/hold.h"
#include "utils/trace/per_task.h"
#include "utils/trace/rule_plan.h"
#include "utils/trace/source.h"

struct state {
	FTR_VEC(uint64_t) entries;	/* of open calls: places of those that wait, else NOWHERE */
};

struct judge {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	struct ftr_rule_plans *plans;	/* (borrowed) */
	struct ftr_per_task states;
	struct ftr_hold hold;
};

bool ftr_judge_is_needed(const struct ftr_rule_plans *plans)
{
	return plans != NULL && plans->has_conditions;
}

static int take_entry(struct judge *self, struct state *state, struct ftr_event *ev)
{
	const struct ftr_rule_plan *plan = ftr_rule_plans_get(self->plans, ev->call.func);
	const struct ftr_condition_facts facts = { .args = ev->payload };
	uint64_t place = FTR_HOLD_NOWHERE;

	if (plan == NULL)
		return -ENOMEM;
	ev->verdict = 0;
	if (plan->actions & FTR_RULE_CONDITIONAL) {
		if (plan->needs_exit)
			place = ftr_hold_next(&self->hold);
		else
			ev->verdict = ftr_rule_plan_judge(self->plans, plan, &facts);
	}
	if (ftr_vec_push(&state->entries, place) < 0 || ftr_hold_append(&self->hold, ev) < 0)
		return -ENOMEM;
	if (place != FTR_HOLD_NOWHERE)
		ftr_hold_at(&self->hold, place)->flags |= FTR_HOLD_UNDECIDED;
	return 0;
}

/* A call that did not return has no return value, and no duration that could be known. */
static int take_exit(struct judge *self, struct state *state, const struct ftr_event *ev)
{
	uint64_t place = state->entries.v[--state->entries.nr];

	if (place != FTR_HOLD_NOWHERE) {
		struct ftr_event *entry = ftr_hold_at(&self->hold, place);
		const struct ftr_condition_facts facts = {
			.args = entry->payload, .retval = ev->payload,
			.duration_ns = ev->time_ns - ev->call.start_ns,
			.has_exit = !(ev->flags & FTR_EVENT_UNFINISHED),
		};

		entry->verdict = ftr_rule_plan_judge(
			self->plans, ftr_rule_plans_get(self->plans, ev->call.func), &facts);
		ftr_hold_decide(entry);
	}
	return ftr_hold_append(&self->hold, ev);
}

static int take(struct ftr_source *source, struct ftr_event *ev)
{
	struct judge *self = (struct judge *)source;
	struct state *state = ftr_per_task_get(&self->states, ev->task);

	if (state == NULL)
		return -ENOMEM;
	if (ev->type == FTR_EVENT_ENTRY)
		return take_entry(self, state, ev);
	if (ev->type == FTR_EVENT_EXIT)
		return take_exit(self, state, ev);
	return ftr_hold_append(&self->hold, ev);
}

static bool is_ready(void *arg, struct ftr_event *ev)
{
	return false;
}

static const struct ftr_hold_ops hold_ops = {
	.take	  = take,
	.is_ready = is_ready,
};

static ssize_t judge_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct judge *self = (struct judge *)source;

	return ftr_hold_pull(&self->hold, source, self->inner, &hold_ops, evs, err);
}

static void judge_free(struct ftr_source *source)
{
	struct judge *self = (struct judge *)source;
	struct state *state;
	size_t pos = 0;

	ftr_source_free(self->inner);
	while ((state = ftr_per_task_next(&self->states, &pos)) != NULL)
		ftr_vec_fini(&state->entries);
	ftr_per_task_fini(&self->states);
	ftr_hold_fini(&self->hold);
	free(self);
}

static const struct ftr_source_ops judge_ops = {
	.next = judge_next,
	.free = judge_free,
};

struct ftr_source *ftr_judge_new(struct ftr_source *inner, struct ftr_rule_plans *plans)
{
	struct judge *self = calloc(1, sizeof(*self));

	assert(ftr_judge_is_needed(plans));
	if (self == NULL) {
		ftr_source_free(inner);
		return NULL;
	}
	self->base.ops = &judge_ops;
	self->inner = inner;
	self->plans = plans;
	self->states.bytes = sizeof(struct state);
	return &self->base;
}

/* SPDX-License-Identifier: MIT */
/* See filter_run.h. */
#include "utils/trace/filter_run.h"

#include <errno.h>

#include "utils/trace/func.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/rule_plan.h"

/* What one call does to others than its callees, or what is of a call alone. */
#define OF_SINGLE_CALLS \
	(FTR_RULES_IN_ORDER | FTR_RULES_COUNTED | FTR_RULE_SIZE | FTR_RULE_CONDITIONAL)

bool ftr_filter_run_is_possible(const struct ftr_pipeline_options *options)
{
	return !options->starts_off && options->size_bytes == 0 &&
	       !options->plans->has_conditions &&
	       (ftr_rules_actions(options->plans->rules) & OF_SINGLE_CALLS) == 0;
}

/* An ENTRY or EXIT of the task, as the rules take them. */
static int take_call(struct ftr_filter_rules *rules, const struct ftr_run *run,
		     enum ftr_event_type type, const struct ftr_func *func, uint32_t *depth)
{
	struct ftr_event ev = { .task = run->task, .type = type, .depth = *depth,
				.call = { .func = func } };
	int is_shown = ftr_filter_rules_take_any(rules, &ev);

	*depth = ev.depth;
	return is_shown;
}

/* ---- what is left: the sums ---- */

/* The new sum's index, or -ENOMEM. */
static int sum_add(struct ftr_filter_run *self, const struct ftr_run_sum *sum)
{
	return ftr_vec_push(&self->sums, *sum) < 0 ? -ENOMEM : (int)self->sums.nr - 1;
}

/* By func: the index of the sum of @func, which is that of all its calls; or -ENOMEM. */
static int sum_of(struct ftr_filter_run *self, const struct ftr_run_sum *like)
{
	uint32_t id = like->func->id;
	int sum;

	if (ftr_vec_reach(&self->sum_by_func, id) < 0)
		return -ENOMEM;
	if (self->sum_by_func.v[id] != 0)
		return (int)self->sum_by_func.v[id];
	sum = sum_add(self, &(struct ftr_run_sum){ .addr = like->addr, .func = like->func,
						   .first_ns = like->first_ns });
	if (sum > 0)
		self->sum_by_func.v[id] = (uint32_t)sum;
	return sum;
}

static void sums_forget(struct ftr_filter_run *self)
{
	for (size_t i = 1; i < self->sums.nr; i++)
		if (self->sums.v[i].func != NULL && self->sum_by_func.nr > self->sums.v[i].func->id)
			self->sum_by_func.v[self->sums.v[i].func->id] = 0;
}

/* Is a call of node @i in another one of its function, which is shown, too? */
static bool is_nested(const struct ftr_filter_run *self, const struct ftr_run *run, uint32_t i)
{
	const struct ftr_func *func = run->sums[i].func;

	for (i = self->nodes.v[run->sums[i].parent].callers; i != 0;
	     i = self->nodes.v[run->sums[i].parent].callers) {
		if (run->sums[i].func->id == func->id)
			return true;
	}
	return false;
}

/* Calls that are shown: their sum's index, or -ENOMEM. */
static int sum_take(struct ftr_filter_run *self, const struct ftr_run *run, uint32_t i,
		    enum ftr_run_kind kind)
{
	const struct ftr_run_sum *in = &run->sums[i];
	struct ftr_run_sum below = *in, *sum;
	int index;

	below.parent = self->nodes.v[in->parent].sum;
	if (kind == FTR_RUN_BY_CALLERS)
		return sum_add(self, &below);
	index = sum_of(self, in);
	if (index < 0)
		return index;
	sum = &self->sums.v[index];
	sum->calls += in->calls;
	sum->open_nr += in->open_nr;
	sum->total_ns += in->total_ns;
	sum->self_ns += in->self_ns;
	if (is_nested(self, run, i))
		sum->nested_ns += in->total_ns;
	return index;
}

/* ---- in the order of the sums ---- */

/* What calls are below that began before the run: so many are left open. */
static int base_add(struct ftr_filter_run *self, struct ftr_filter_rules *rules,
		    const struct ftr_run *run, uint32_t depth)
{
	const struct ftr_filter_state *state = ftr_filter_rules_state(rules, run->task);
	struct ftr_filter_run_node node = { .depth = depth, .sum = self->base_sum };

	if (state == NULL)
		return -ENOMEM;
	node.place = state->place;
	return ftr_vec_push(&self->nodes, node);
}

/* A call ends that began before the run: its caller is where others are below from here on. */
static int end_take(struct ftr_filter_run *self, struct ftr_filter_rules *rules,
		    const struct ftr_run *run, size_t end_pos, enum ftr_run_kind kind)
{
	uint32_t depth = run->base_depth - 1 - (uint32_t)end_pos, shown_depth = depth;
	const struct ftr_run_end *in = &run->ends[end_pos];
	struct ftr_run_end end = *in;
	int index, is_shown = take_call(rules, run, FTR_EVENT_EXIT, in->func, &shown_depth);

	if (is_shown < 0)
		return -ENOMEM;
	if (!is_shown)
		return base_add(self, rules, run, depth);
	if (kind == FTR_RUN_BY_CALLERS) {
		index = sum_add(self, &(struct ftr_run_sum){ .addr = FTR_RUN_BASE,
							     .first_ns = in->time_ns });
		end.base = self->base_sum = (uint32_t)index;
	} else {
		index = sum_of(self, &(struct ftr_run_sum){ .addr = in->addr, .func = in->func,
							    .first_ns = in->time_ns });
		end.sum = (uint32_t)index;
	}
	if (index < 0)
		return -ENOMEM;
	if (kind == FTR_RUN_BY_FUNC)
		end.outer_ns = self->sums.v[index].total_ns - self->sums.v[index].nested_ns;
	if (ftr_vec_push(&self->ends, end) < 0)
		return -ENOMEM;
	return base_add(self, rules, run, depth);
}

static int node_take(struct ftr_filter_run *self, const struct ftr_filter_rules *rules,
		     const struct ftr_run *run, uint32_t i, enum ftr_run_kind kind)
{
	const struct ftr_run_sum *in = &run->sums[i];
	const struct ftr_rule_plan *plan = ftr_rule_plans_get(rules->plans, in->func);
	struct ftr_filter_run_node node = self->nodes.v[in->parent];
	uint32_t shown_depth;
	bool is_shown;
	int index;

	if (plan == NULL)
		return -ENOMEM;
	is_shown = ftr_filter_rules_enter(rules, &node.place, plan, node.depth, &shown_depth);
	node.depth++;
	if (is_shown && (in->calls > 0 || in->open_nr > 0)) {
		index = sum_take(self, run, i, kind);
		if (index < 0)
			return -ENOMEM;
		if (shown_depth == 0)
			self->left.outside_ns += in->total_ns;
		node.callers = i;
		node.sum = (uint32_t)index;
	}
	return ftr_vec_push(&self->nodes, node);
}

static int opens_take(struct ftr_filter_run *self, struct ftr_filter_rules *rules,
		      const struct ftr_run *run)
{
	uint32_t depth = run->base_depth - (uint32_t)run->end_nr;

	for (size_t i = 0; i < run->open_nr; i++) {
		struct ftr_run_open open = run->opens[i];
		uint32_t shown_depth = depth + (uint32_t)i;
		int is_shown = take_call(rules, run, FTR_EVENT_ENTRY, run->sums[open.sum].func,
					 &shown_depth);

		open.sum = self->nodes.v[open.sum].sum;
		if (is_shown < 0 || (is_shown && ftr_vec_push(&self->opens, open) < 0))
			return -ENOMEM;
	}
	return 0;
}

static int begin(struct ftr_filter_run *self, struct ftr_filter_rules *rules,
		 const struct ftr_run *run)
{
	const struct ftr_filter_state *state = ftr_filter_rules_state(rules, run->task);

	self->sums.nr = self->ends.nr = self->opens.nr = self->nodes.nr = 0;
	if (state == NULL)
		return -ENOMEM;
	self->left = *run;
	self->left.base_depth = ftr_filter_shown_depth(&state->place, run->base_depth);
	self->left.outside_ns = 0;
	self->base_sum = 0;
	if (sum_add(self, &run->sums[0]) < 0)
		return -ENOMEM;
	return base_add(self, rules, run, run->base_depth);
}

static int take(struct ftr_filter_run *self, struct ftr_filter_rules *rules,
		const struct ftr_run *run, enum ftr_run_kind kind)
{
	int ret = begin(self, rules, run);
	size_t end_pos = 0;

	for (uint32_t i = 1; i < run->sum_nr && ret == 0; i++) {
		if (run->sums[i].func == NULL)
			ret = end_take(self, rules, run, end_pos++, kind);
		else
			ret = node_take(self, rules, run, i, kind);
	}
	return ret == 0 ? opens_take(self, rules, run) : ret;
}

int ftr_filter_run_take(struct ftr_filter_run *self, struct ftr_filter_rules *rules,
			const struct ftr_run *run, enum ftr_run_kind kind)
{
	int ret = take(self, rules, run, kind);

	sums_forget(self);
	self->left.sums = self->sums.v;
	self->left.sum_nr = self->sums.nr;
	self->left.ends = self->ends.v;
	self->left.end_nr = self->ends.nr;
	self->left.opens = self->opens.v;
	self->left.open_nr = self->opens.nr;
	return ret;
}

void ftr_filter_run_fini(struct ftr_filter_run *self)
{
	ftr_vec_fini(&self->sums);
	ftr_vec_fini(&self->ends);
	ftr_vec_fini(&self->opens);
	ftr_vec_fini(&self->nodes);
	ftr_vec_fini(&self->sum_by_func);
}

/* SPDX-License-Identifier: MIT */
/*
 * What rules together ask for at the calls of each function of a trace: looked up by the function's
 * name once, by its id from then on.
 */
#ifndef FTR_TRACE_RULE_PLAN_H
#define FTR_TRACE_RULE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/arena.h"
#include "utils/base/vec.h"
#include "utils/trace/condition.h"
#include "utils/trace/func.h"
#include "utils/trace/rule.h"

struct ftr_trace;

/* As many rules of a function may have conditions: a call's verdict has a bit for each. */
#define FTR_RULE_CONDITIONS_MAX 8

struct ftr_rule_plan {
	uint32_t actions;	/* enum ftr_rule_action; HIDE stands for LOCATION, too */
	struct ftr_rule_values values;

	/* Of a conditional plan: what is above is without the rules that have conditions. */
	bool     needs_exit;	/* its conditions can be told only when the call returns */
	uint32_t rule_nr;
	const uint32_t *rules;	/* all rules of the function, by index */
	const struct ftr_rule_plan **variants;	/* by verdict; NULL = not made yet */
};

struct ftr_rule_plans {
	const struct ftr_rules *rules;	/* (borrowed) */
	struct ftr_trace *trace;	/* (borrowed) */
	FTR_VEC(const struct ftr_rule_plan *) by_func;	/* NULL = not looked up yet */
	uint32_t *matched;		/* functions that each rule is about, by its index */
	/* ... and of one with a condition: */
	struct ftr_rule_answers {
		bool is_known;		/* it was true or false of a call */
		struct ftr_condition_misfit misfit;
	} *answers;
	bool has_locations;		/* functions of other files are hidden */
	bool has_conditions;
	struct ftr_arena arena;
};

/* Do so many conditions at most meet at any function?  0, or -EINVAL with the reason. */
int ftr_rule_plans_check(const struct ftr_rules *rules, struct ftr_err *err);

/* -ENOMEM, then there is nothing to release, or 0. */
int  ftr_rule_plans_init(struct ftr_rule_plans *plans, const struct ftr_rules *rules,
			 struct ftr_trace *trace);
void ftr_rule_plans_fini(struct ftr_rule_plans *plans);

const struct ftr_rule_plan *ftr_rule_plans_find(struct ftr_rule_plans *plans,
						const struct ftr_func *func);

/* What is asked for at calls of @func, before they are judged; NULL when out of memory. */
static inline const struct ftr_rule_plan *ftr_rule_plans_get(struct ftr_rule_plans *plans,
							     const struct ftr_func *func)
{
	if (__builtin_expect(func->id < plans->by_func.nr, 1) &&
	    __builtin_expect(plans->by_func.v[func->id] != NULL, 1))
		return plans->by_func.v[func->id];
	return ftr_rule_plans_find(plans, func);
}

/* Which conditions are true of a call: its verdict. */
uint8_t ftr_rule_plan_judge(struct ftr_rule_plans *plans, const struct ftr_rule_plan *plan,
			    const struct ftr_condition_facts *facts);

/* What a conditional plan asks for at a call of this verdict; NULL when out of memory. */
const struct ftr_rule_plan *ftr_rule_plan_variant(struct ftr_rule_plans *plans,
						  const struct ftr_rule_plan *plan,
						  uint8_t verdict);

/* What is asked for at a call of @func; NULL when out of memory. */
static inline const struct ftr_rule_plan *ftr_rule_plans_at(struct ftr_rule_plans *plans,
							    const struct ftr_func *func,
							    uint8_t verdict)
{
	const struct ftr_rule_plan *plan = ftr_rule_plans_get(plans, func);

	if (__builtin_expect(plan != NULL && (plan->actions & FTR_RULE_CONDITIONAL), 0))
		return ftr_rule_plan_variant(plans, plan, verdict);
	return plan;
}

/*
 * Iterate over the rules that no function of the trace is of, after all of it was read: *pos starts
 * at 0; NULL at the end.
 */
const struct ftr_rule *ftr_rule_plans_next_unmatched(struct ftr_rule_plans *plans, size_t *pos);

/*
 * The same over rules whose conditions ask for what no call of theirs has; *misfit becomes what
 * they compare with what it is not.
 */
const struct ftr_rule *ftr_rule_plans_next_unknown(const struct ftr_rule_plans *plans, size_t *pos,
						   struct ftr_condition_misfit *misfit);

#endif /* FTR_TRACE_RULE_PLAN_H */

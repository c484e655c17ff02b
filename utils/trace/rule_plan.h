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
#include "utils/trace/func.h"
#include "utils/trace/rule.h"

struct ftr_trace;

struct ftr_rule_plan {
	uint32_t actions;	/* enum ftr_rule_action; HIDE stands for LOCATION, too */
	uint32_t depth;
	uint64_t time_ns;
	uint64_t size_bytes;
	char     color;
};

struct ftr_rule_plans {
	const struct ftr_rules *rules;	/* (borrowed) */
	struct ftr_trace *trace;	/* (borrowed) */
	FTR_VEC(const struct ftr_rule_plan *) by_func;	/* NULL = not looked up yet */
	uint32_t *matched;		/* functions that each rule is about, by its index */
	bool has_locations;		/* functions of other files are hidden */
	struct ftr_arena arena;
};

/* -ENOMEM, then there is nothing to release, or 0. */
int  ftr_rule_plans_init(struct ftr_rule_plans *plans, const struct ftr_rules *rules,
			 struct ftr_trace *trace);
void ftr_rule_plans_fini(struct ftr_rule_plans *plans);

const struct ftr_rule_plan *ftr_rule_plans_find(struct ftr_rule_plans *plans,
						const struct ftr_func *func);

/* What is asked for at calls of @func; NULL when out of memory. */
static inline const struct ftr_rule_plan *ftr_rule_plans_get(struct ftr_rule_plans *plans,
							     const struct ftr_func *func)
{
	if (__builtin_expect(func->id < plans->by_func.nr, 1) &&
	    __builtin_expect(plans->by_func.v[func->id] != NULL, 1))
		return plans->by_func.v[func->id];
	return ftr_rule_plans_find(plans, func);
}

/*
 * Iterate over the rules that no function of the trace is of, after all of it was read: *pos starts
 * at 0; NULL at the end.
 */
const struct ftr_rule *ftr_rule_plans_next_unmatched(struct ftr_rule_plans *plans, size_t *pos);

#endif /* FTR_TRACE_RULE_PLAN_H */

/* SPDX-License-Identifier: MIT */
/*
 * What rules leave of a run (run.h): of a sum for each line of callers, those of calls that are
 * shown.  Only for rules that a call's callers and its function answer, whenever it is made.
 */
#ifndef FTR_TRACE_FILTER_RUN_H
#define FTR_TRACE_FILTER_RUN_H

#include "utils/base/vec.h"
#include "utils/trace/filter_rules.h"
#include "utils/trace/run.h"

/* Of one sum, by its index: what holds for the calls that its calls make. */
struct ftr_filter_run_node {
	struct ftr_filter_place place;
	uint32_t depth;
	uint32_t callers;	/* the innermost node of calls that are shown; 0 = of none */
	uint32_t sum;		/* of what is left, for that; 0 = by func, there is none */
};

/* Zeroed at first. */
struct ftr_filter_run {
	struct ftr_run left;	/* valid until the next one */
	FTR_VEC(struct ftr_run_sum) sums;
	FTR_VEC(struct ftr_run_end) ends;
	FTR_VEC(struct ftr_run_open) opens;
	FTR_VEC(struct ftr_filter_run_node) nodes;
	FTR_VEC(uint32_t) sum_by_func;	/* by its id: 0 = none */
	uint32_t base_sum;	/* of what is left: stands for what was open before, from here on */
};

/* Can these rules be applied to runs? */
bool ftr_filter_run_is_possible(const struct ftr_pipeline_options *options);

/*
 * Apply @rules to @run, which is by callers and went through calls, and go on behind it: self->left
 * is what is left, of @kind.  0 or -ENOMEM.
 */
int  ftr_filter_run_take(struct ftr_filter_run *self, struct ftr_filter_rules *rules,
			 const struct ftr_run *run, enum ftr_run_kind kind);
void ftr_filter_run_fini(struct ftr_filter_run *self);

#endif /* FTR_TRACE_FILTER_RUN_H */

/* SPDX-License-Identifier: MIT */
/* What the calls of each function weigh, all its places in a tree by weight together. */
#ifndef FTR_ANALYSIS_WEIGHT_SUMS_H
#define FTR_ANALYSIS_WEIGHT_SUMS_H

#include <stdint.h>

#include "utils/base/vec.h"

struct ftr_graph;

struct ftr_weight_sum {
	uint32_t name_id;
	const char *name;	/* (borrowed from the trace) */
	uint64_t total;		/* with what it called; calls inside of others count once */
};

struct ftr_weight_sums {
	FTR_VEC(struct ftr_weight_sum) v;	/* by name_id, ascending */
};

/* @graph is that of a sink of weights.h.  0 or -ENOMEM; ftr_weight_sums_fini() in either case. */
int  ftr_weight_sums_make(struct ftr_weight_sums *sums, const struct ftr_graph *graph);
void ftr_weight_sums_fini(struct ftr_weight_sums *sums);
/* 0: nothing of it. */
uint64_t ftr_weight_sums_of(const struct ftr_weight_sums *sums, uint32_t name_id);

#endif /* FTR_ANALYSIS_WEIGHT_SUMS_H */

/* SPDX-License-Identifier: MIT */
/* The calls of one function out of a whole tree: what led to it, and what it called. */
#ifndef FTR_ANALYSIS_GRAPH_FOCUS_H
#define FTR_ANALYSIS_GRAPH_FOCUS_H

#include "utils/analysis/graph.h"

/* One line of callers that led to the function. */
struct ftr_graph_backtrace {
	uint32_t node; /* of the whole tree: the function; its callers are the node's parents */
	uint32_t depth;		/* callers above it; without the root */
	uint32_t root;		/* index in whole->roots and in focus->graph.roots */
};

struct ftr_graph_focus {
	/*
	 * A root for each of the whole tree's: the function's outermost calls added up.  Calls it
	 * made of itself are below.
	 */
	struct ftr_graph graph;
	FTR_VEC(struct ftr_graph_backtrace) backtraces;	/* by root; the one that began last first */
	FTR_VEC(uint32_t) tops;	/* by node of whole: its ancestor of depth top_depth, or itself */
	uint32_t top_depth;
};

/*
 * @name as displayed.  @levels: so many of the tree, 0 = all; each call of the function inside of
 * itself has as many anew, below the nearest caller that is there.  @top_depth: for which ancestors
 * tops has to tell. 0 or -ENOMEM; ftr_graph_focus_fini() in either case.
 */
int  ftr_graph_focus_init(struct ftr_graph_focus *focus, const struct ftr_graph *whole,
			  const char *name, uint64_t levels, uint32_t top_depth);
void ftr_graph_focus_fini(struct ftr_graph_focus *focus);

#endif /* FTR_ANALYSIS_GRAPH_FOCUS_H */

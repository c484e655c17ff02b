/* SPDX-License-Identifier: MIT */
/*
 * A tree of calls by the weight of what happened in them, not by their time: requests for memory,
 * waits, CPU samples, each with the line of open calls of its task, and below them the function
 * that made the request where that is not traced.
 */
#ifndef FTR_ANALYSIS_WEIGHTS_H
#define FTR_ANALYSIS_WEIGHTS_H

#include "utils/analysis/graph.h"
#include "utils/analysis/weight.h"

/* What happened in a node itself. */
struct ftr_weighed {
	uint64_t nr;		/* what the tree counts; of a leak, blocks not given back */
	uint64_t blocks, bytes;	/* of memory: all that were given */
};

/*
 * A sink for a stream ordered by time, with its events outside of calls.  @depth_max: what happens
 * deeper counts for the call there; 0 = all.  Its end fails with -ENODATA where the trace has no
 * such events.  NULL = out of memory.
 */
struct ftr_sink *ftr_weights_new(enum ftr_weight_by by, uint32_t depth_max, struct ftr_err *err);

/*
 * After the pump: the tree, without functions where there is nothing, siblings in the order of
 * their first calls, roots as ftr_graph_get has them.  Valid as long as the sink.
 */
struct ftr_graph *ftr_weights_graph(struct ftr_sink *sink);
const struct ftr_weighed *ftr_weights_of_node(const struct ftr_sink *sink, uint32_t node);

#endif /* FTR_ANALYSIS_WEIGHTS_H */

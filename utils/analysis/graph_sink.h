/* SPDX-License-Identifier: MIT */
/* What the sinks that make the tree of calls have in common; for graph_sink.c and graph_late.c. */
#ifndef FTR_ANALYSIS_GRAPH_SINK_H
#define FTR_ANALYSIS_GRAPH_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/analysis/graph.h"
#include "utils/analysis/graph_roots.h"
#include "utils/trace/per_task.h"

struct ftr_graph_sink {
	struct ftr_sink base;
	struct ftr_graph graph;
	struct ftr_per_task places;	/* of tasks in the tree */
	struct ftr_graph_roots roots;
	bool has_details;
};

/* A sink whose places have so many bytes; NULL = out of memory. */
struct ftr_sink *ftr_graph_sink_new(const struct ftr_sink_ops *ops, size_t place_bytes,
				    struct ftr_err *err);
int  ftr_graph_sink_begin(struct ftr_sink *sink, const struct ftr_trace *trace);
int  ftr_graph_sink_end(struct ftr_sink *sink);
/* But for what places own. */
void ftr_graph_sink_fini(struct ftr_sink *sink);

#endif /* FTR_ANALYSIS_GRAPH_SINK_H */

/* SPDX-License-Identifier: MIT */
/* The roots of a tree of calls: one for each session, which a task's outermost calls belong to. */
#ifndef FTR_ANALYSIS_GRAPH_ROOTS_H
#define FTR_ANALYSIS_GRAPH_ROOTS_H

#include "utils/analysis/graph.h"

struct ftr_task;

struct ftr_graph_roots {
	const struct ftr_trace *trace;		/* (borrowed) */
	FTR_VEC(uint32_t) by_session;		/* FTR_GRAPH_NONE: no call yet */
	uint32_t of_none;			/* of tasks without a session */
};

/* What a task ran at its last outermost call; zeros at first. */
struct ftr_graph_image {
	uint32_t root;			/* if has_root */
	uint32_t session_nr;		/* sessions that began until then */
	bool has_root;
};

void ftr_graph_roots_init(struct ftr_graph_roots *roots, const struct ftr_trace *trace);
void ftr_graph_roots_fini(struct ftr_graph_roots *roots);

/*
 * The root of the image that @task runs by @time_ns, made where it is new; times of one @image
 * ascend.  FTR_GRAPH_NONE = out of memory.
 */
uint32_t ftr_graph_root_at(struct ftr_graph_roots *roots, struct ftr_graph *graph,
			   struct ftr_graph_image *image, const struct ftr_task *task,
			   uint64_t time_ns);

#endif /* FTR_ANALYSIS_GRAPH_ROOTS_H */

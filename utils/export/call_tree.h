/* SPDX-License-Identifier: MIT */
/*
 * What exports of the call tree share: a sink that builds the tree (utils/analysis/graph.h) and
 * leaves out events outside of calls.  A format adds its end, which writes the tree:
 *
 *	static int draw_end(struct ftr_sink *sink)
 *	{
 *		const struct ftr_graph *graph = ftr_call_tree_finish(sink);
 *
 *		if (graph == NULL)
 *			return -ENOMEM;
 *		...
 *	}
 *
 *	static const struct ftr_sink_ops draw_ops = FTR_CALL_TREE_OPS(draw_end);
 *
 * and in struct ftr_format FTR_CALL_TREE_OPTIONS, unless it has options of its own.
 */
#ifndef FTR_EXPORT_CALL_TREE_H
#define FTR_EXPORT_CALL_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "utils/analysis/graph.h"
#include "utils/analysis/weight.h"
#include "utils/base/option.h"
#include "utils/trace/sink.h"

struct ftr_call_tree {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_sink *builder;	/* (owned) */
	const struct ftr_trace *trace;
	enum ftr_weight_by by;
};

/* The option of a format that has a begin of its own, which says what @member_ is set to. */
#define FTR_CALL_TREE_BY(values_, member_) \
	FTR_OPTION("by", 0, "WHAT", \
		   "What a call weighs: its time (default); bytes or blocks of memory that were given in " \
		   "it, leak (those that nobody gave back), wait (time of waits), or CPU samples", \
		   ftr_opt_choice, values_, member_, .words = ftr_weight_words)

/* For formats that have no other option. */
struct ftr_call_tree_values {
	int by;				/* enum ftr_weight_by */
};

extern const struct ftr_option ftr_call_tree_options[];

int  ftr_call_tree_begin(struct ftr_sink *sink, const struct ftr_trace *trace);	/* by these */
int  ftr_call_tree_begin_by(struct ftr_sink *sink, const struct ftr_trace *trace,
			    enum ftr_weight_by by);
int  ftr_call_tree_batch(struct ftr_sink *sink, const struct ftr_event *evs, size_t nr);
void ftr_call_tree_fini(struct ftr_sink *sink);

#define FTR_CALL_TREE_OPS(end_) FTR_CALL_TREE_OPS_BY(ftr_call_tree_begin, end_)
#define FTR_CALL_TREE_OPS_BY(begin_, end_) { \
	.size	 = sizeof(struct ftr_call_tree), \
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT), \
	.begin	 = begin_, \
	.batch	 = ftr_call_tree_batch, \
	.end	 = end_, \
	.fini	 = ftr_call_tree_fini, \
}

#define FTR_CALL_TREE_OPTIONS \
	.options = ftr_call_tree_options, .values_bytes = sizeof(struct ftr_call_tree_values)

/* Once, at the end: the tree, until the sink is freed.  NULL: there is none, which is described. */
const struct ftr_graph *ftr_call_tree_finish(struct ftr_sink *sink);
const struct ftr_trace *ftr_call_tree_trace(const struct ftr_sink *sink);

/*
 * Depth first: the node after @at, its first child, else the next sibling of the nearest node that
 * has one; FTR_GRAPH_NONE at the end.  *up: levels left on the way.
 */
uint32_t ftr_call_tree_next(const struct ftr_graph *graph, uint32_t at, unsigned *up);

#endif /* FTR_EXPORT_CALL_TREE_H */

/* SPDX-License-Identifier: MIT */
/* What exports of the call tree share: building it, and walking over it. */
#include "utils/export/call_tree.h"

#include <errno.h>

#include "utils/analysis/weights.h"

static struct ftr_call_tree *tree_of(struct ftr_sink *sink)
{
	return (struct ftr_call_tree *)sink;
}

int ftr_call_tree_begin_by(struct ftr_sink *sink, const struct ftr_trace *trace,
			   enum ftr_weight_by by)
{
	struct ftr_call_tree *self = tree_of(sink);

	self->trace = trace;
	self->by = by;
	self->builder = by == FTR_WEIGHT_TIME ? ftr_graph_new(false, sink->err) :
						ftr_weights_new(by, 0, sink->err);
	if (self->builder == NULL)
		return -ENOMEM;
	self->builder->err = sink->err;
	return self->builder->ops->begin(self->builder, trace);
}

const struct ftr_option ftr_call_tree_options[] = {
	FTR_CALL_TREE_BY(struct ftr_call_tree_values, by),
	{ 0 }
};

int ftr_call_tree_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	const struct ftr_call_tree_values *values = sink->values;

	return ftr_call_tree_begin_by(sink, trace,
				      values == NULL ? FTR_WEIGHT_TIME :
						       (enum ftr_weight_by)values->by);
}

/* In runs, without what is outside of calls. */
static int times_take(struct ftr_sink *builder, const struct ftr_event *evs, size_t nr)
{
	int ret = 0;

	for (size_t i = 0, run; i < nr && ret == 0; i += run + 1) {
		for (run = 0; i + run < nr; run++)
			if (evs[i + run].type == FTR_EVENT_POINT && evs[i + run].depth == 0)
				break;
		ret = builder->ops->batch(builder, &evs[i], run);
	}
	return ret;
}

int ftr_call_tree_batch(struct ftr_sink *sink, const struct ftr_event *evs, size_t nr)
{
	struct ftr_sink *builder = tree_of(sink)->builder;
	int ret = 0;

	if (tree_of(sink)->by == FTR_WEIGHT_TIME)
		return times_take(builder, evs, nr);
	for (size_t i = 0; i < nr && ret == 0; i++)
		ret = builder->ops->event(builder, &evs[i]);
	return ret;
}

void ftr_call_tree_fini(struct ftr_sink *sink)
{
	ftr_sink_free(tree_of(sink)->builder);
}

const struct ftr_graph *ftr_call_tree_finish(struct ftr_sink *sink)
{
	const struct ftr_call_tree *self = tree_of(sink);

	if (self->builder->ops->end(self->builder) < 0)
		return NULL;
	return self->by == FTR_WEIGHT_TIME ? ftr_graph_get(self->builder) :
					     ftr_weights_graph(self->builder);
}

const struct ftr_trace *ftr_call_tree_trace(const struct ftr_sink *sink)
{
	return ((const struct ftr_call_tree *)sink)->trace;
}

uint32_t ftr_call_tree_next(const struct ftr_graph *graph, uint32_t at, unsigned *up)
{
	const struct ftr_graph_node *nodes = graph->nodes.v;

	*up = 0;
	if (nodes[at].first_child != FTR_GRAPH_NONE)
		return nodes[at].first_child;
	for (; nodes[at].parent != FTR_GRAPH_NONE; at = nodes[at].parent) {
		++*up;
		if (nodes[at].next != FTR_GRAPH_NONE)
			return nodes[at].next;
	}
	return FTR_GRAPH_NONE;
}

/* SPDX-License-Identifier: MIT */
/* See leak_sums.h: the nodes of a tree by leak (weights.h), a row each. */
#include "utils/analysis/leak_sums.h"

#include <errno.h>

#include "utils/analysis/weights.h"
#include "utils/base/strbuf.h"
#include "utils/base/strpool.h"

struct leak_sums {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_sums sums;
	struct ftr_strpool names;	/* id = row */
	struct ftr_strbuf text;
	struct ftr_sink *tree;		/* (owned) */
};

static struct leak_sums *sums_of(struct ftr_sink *sink)
{
	return (struct leak_sums *)sink;
}

/* The innermost one first; of what no function is known of, the program. */
static void put_name(struct leak_sums *self, const struct ftr_graph *graph, uint32_t at)
{
	const struct ftr_graph_node *node = &graph->nodes.v[at];

	ftr_strbuf_clear(&self->text);
	ftr_strbuf_puts(&self->text, node->name);
	while (node->parent != FTR_GRAPH_NONE &&
	       graph->nodes.v[node->parent].parent != FTR_GRAPH_NONE) {
		node = &graph->nodes.v[node->parent];
		ftr_strbuf_puts(&self->text, " < ");
		ftr_strbuf_puts(&self->text, node->name);
	}
}

/* Images that did the same in the same functions are one row. */
static int row_add(struct leak_sums *self, const struct ftr_graph *graph, uint32_t node)
{
	const struct ftr_weighed *weighed = ftr_weights_of_node(self->tree, node);
	struct ftr_sum *sum;
	uint32_t row;

	if (weighed->nr == 0)
		return 0;
	put_name(self, graph, node);
	if (self->text.failed ||
	    ftr_sums_row(&self->sums, &self->names,
			 ftr_slice_make(ftr_strbuf_str(&self->text), self->text.len), &row) < 0)
		return -ENOMEM;
	sum = &self->sums.rows.v[row];
	sum->calls += weighed->blocks;
	sum->bytes += weighed->bytes;
	sum->live_blocks += weighed->nr;
	sum->live_bytes += graph->nodes.v[node].self_ns;
	return 0;
}

static int leak_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	struct ftr_sink *tree = sums_of(sink)->tree;

	tree->err = sink->err;
	return tree->ops->begin(tree, trace);
}

static int leak_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct ftr_sink *tree = sums_of(sink)->tree;

	return tree->ops->event(tree, ev);
}

static int leak_end(struct ftr_sink *sink)
{
	struct leak_sums *self = sums_of(sink);
	const struct ftr_graph *graph = ftr_weights_graph(self->tree);
	int ret = self->tree->ops->end(self->tree);

	if (ret == -ENODATA)		/* the table says that there is nothing */
		return 0;
	self->sums.may_be_empty = true;
	for (uint32_t i = 0; ret == 0 && i < graph->nodes.nr; i++)
		ret = row_add(self, graph, i);
	return ret < 0 ? ftr_err_set(sink->err, ENOMEM, "out of memory") : 0;
}

static void leak_fini(struct ftr_sink *sink)
{
	struct leak_sums *self = sums_of(sink);

	ftr_vec_fini(&self->sums.rows);
	ftr_strpool_fini(&self->names);
	ftr_strbuf_fini(&self->text);
	ftr_sink_free(self->tree);
}

static const struct ftr_sink_ops leak_ops = {
	.size	 = sizeof(struct leak_sums),
	.accepts = FTR_SUMS_ACCEPTS,
	.begin	 = leak_begin,
	.event	 = leak_event,
	.end	 = leak_end,
	.fini	 = leak_fini,
};

struct ftr_sink *ftr_leak_sums_new(uint32_t depth_max, struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&leak_ops, NULL, err);
	struct leak_sums *self = sums_of(sink);

	if (sink == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	ftr_strpool_init(&self->names);
	ftr_strbuf_init(&self->text);
	self->tree = ftr_weights_new(FTR_WEIGHT_LEAK, depth_max, err);
	if (self->tree == NULL) {
		ftr_sink_free(sink);
		return NULL;
	}
	return sink;
}

const struct ftr_sums *ftr_leak_sums_get(const struct ftr_sink *sink)
{
	return &((const struct leak_sums *)sink)->sums;
}

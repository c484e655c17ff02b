/* SPDX-License-Identifier: MIT */
/* Trees of calls and of tasks of whatever a fuzz target reads, checked and printed. */
#include "tests/fuzz/graphs.h"

#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/analysis/graph.h"
#include "utils/analysis/graph_task.h"
#include "utils/analysis/weights.h"
#include "utils/base/ostream.h"
#include "utils/trace/trace.h"
#include "utils/view/graph.h"
#include "utils/view/graph_task.h"

void graphs_begin(struct graphs *graphs, const struct ftr_trace *trace)
{
	struct ftr_err err = { 0 };

	graphs->calls = ftr_graph_new(true, &err);
	graphs->tasks = ftr_task_tree_new(&err);
	check(graphs->calls != NULL && graphs->tasks != NULL);
	check(graphs->calls->ops->begin(graphs->calls, trace) == 0);
	check(graphs->tasks->ops->begin(graphs->tasks, trace) == 0);
	for (int by = FTR_WEIGHT_TIME + 1; by < FTR_WEIGHTS; by++) {
		graphs->weights[by] = ftr_weights_new((enum ftr_weight_by)by, 0, &err);
		check(graphs->weights[by] != NULL);
		check(graphs->weights[by]->ops->begin(graphs->weights[by], trace) ==
		      (by == FTR_WEIGHT_LEAK && trace->is_narrowed ? -EINVAL : 0));
	}
}

void graphs_batch(struct graphs *graphs, const struct ftr_event *evs, size_t nr)
{
	check(graphs->calls->ops->batch(graphs->calls, evs, nr) == 0);
	check(graphs->tasks->ops->batch(graphs->tasks, evs, nr) == 0);
	for (int by = FTR_WEIGHT_TIME + 1; by < FTR_WEIGHTS; by++)
		for (size_t i = 0; i < nr; i++)
			check(graphs->weights[by]->ops->event(graphs->weights[by], &evs[i]) == 0);
}

/* Every node is below one root, and found once by following first children and siblings. */
static void check_tree(const struct ftr_graph *graph)
{
	size_t linked = graph->roots.nr;

	for (uint32_t i = 0; i < graph->nodes.nr; i++) {
		const struct ftr_graph_node *node = &graph->nodes.v[i];

		check(node->parent == FTR_GRAPH_NONE || node->parent < i);
		for (uint32_t at = node->first_child; at != FTR_GRAPH_NONE;
		     at = graph->nodes.v[at].next) {
			check(graph->nodes.v[at].parent == i);
			linked++;
		}
	}
	check(linked == graph->nodes.nr);
}

static void check_task_tree(const struct ftr_task_tree *tree)
{
	size_t linked = 0;

	for (uint32_t at = tree->first_root; at != FTR_TASK_NONE; at = tree->nodes.v[at].next)
		linked++;
	for (size_t i = 0; i < tree->nodes.nr; i++)
		for (uint32_t at = tree->nodes.v[i].first_child; at != FTR_TASK_NONE;
		     at = tree->nodes.v[at].next)
			linked++;
	check(linked == tree->nodes.nr);
}

static void print(const struct graphs *graphs)
{
	struct ftr_graph *graph = ftr_graph_get(graphs->calls);
	struct ftr_graph_task_opts of_tasks = { .fields = "all" };
	struct ftr_graph_opts of_calls = { .fields = "all" };
	struct ftr_err err = { 0 };
	struct ftr_ostream out;
	int ret;

	check(ftr_ostream_to_memory(&out) == 0);
	ret = ftr_graph_print(graph, &of_calls, &out, &err);
	check(ret == (graph->roots.nr > 0 ? 0 : -ENOENT));
	if (graph->nodes.nr > graph->roots.nr) {
		of_calls.func = graph->nodes.v[graph->nodes.nr - 1].name;
		of_calls.levels = graph->nodes.nr % 3;
		of_calls.sort = graph->nodes.nr % 2 ? "call,self-max" : NULL;
		ret = ftr_graph_print(graph, &of_calls, &out, &err);
		check(ret == 0 || ret == -ENOENT);	/* a root may be the last one */
	}
	ret = ftr_graph_task_print(ftr_task_tree_get(graphs->tasks), &of_tasks, &out, &err);
	check(ret == 0 || ret == -ENOENT);
	ftr_ostream_close(&out, &err);
}

/* Nothing weighs more than the roots, and nothing is lost on the way up to them. */
static void check_weights(struct ftr_sink *sink)
{
	struct ftr_err err = { 0 };
	const struct ftr_graph *graph = ftr_weights_graph(sink);
	uint64_t total = 0, of_roots = 0;
	int ret;

	sink->err = &err;
	ret = sink->ops->end(sink);
	check(ret == 0 || ret == -ENODATA);
	for (size_t i = 0; ret == 0 && i < graph->nodes.nr; i++)
		total += graph->nodes.v[i].self_ns;
	for (size_t i = 0; ret == 0 && i < graph->roots.nr; i++)
		of_roots += graph->nodes.v[graph->roots.v[i].node].total_ns;
	check(total == of_roots);
	if (ret == 0)
		check_tree(graph);
	ftr_sink_free(sink);
}

void graphs_end(struct graphs *graphs)
{
	for (int by = FTR_WEIGHT_TIME + 1; by < FTR_WEIGHTS; by++)
		check_weights(graphs->weights[by]);
	check(graphs->calls->ops->end(graphs->calls) == 0);
	check(graphs->tasks->ops->end(graphs->tasks) == 0);
	check_tree(ftr_graph_get(graphs->calls));
	check_task_tree(ftr_task_tree_get(graphs->tasks));
	print(graphs);
	ftr_sink_free(graphs->calls);
	ftr_sink_free(graphs->tasks);
}

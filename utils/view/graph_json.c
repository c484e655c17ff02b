/* SPDX-License-Identifier: MIT */
/* graph --json: an object a node of the tree, parents before their callees. */
#include "utils/view/graph.h"

#include "utils/analysis/graph.h"
#include "utils/analysis/weight.h"
#include "utils/view/json.h"

static void put_node(const struct ftr_graph *graph, uint32_t id, struct ftr_ostream *out)
{
	const struct ftr_graph_node *node = &graph->nodes.v[id];
	struct ftr_json line;

	ftr_json_begin(&line, out, "node");
	ftr_json_u64(&line, "id", id);
	if (node->parent != FTR_GRAPH_NONE)
		ftr_json_u64(&line, "parent", node->parent);
	ftr_json_text(&line, "func", node->name);
	ftr_json_u64(&line, "call", node->calls);
	ftr_json_u64(&line, "total", node->total_ns);
	ftr_json_u64(&line, "self", node->self_ns);
	if (graph->weight != NULL)
		ftr_json_text(&line, "by", ftr_weight_words[graph->weight->by]);
	ftr_json_end(&line);
}

void ftr_graph_print_json(const struct ftr_graph *graph, struct ftr_ostream *out)
{
	for (uint32_t i = 0; i < graph->nodes.nr; i++)
		put_node(graph, i, out);
}

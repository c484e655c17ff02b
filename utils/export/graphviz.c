/* SPDX-License-Identifier: MIT */
/* Who calls whom as a digraph for dot(1): a line for each function, and for each pair of them. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/ostream.h"
#include "utils/base/strpool.h"
#include "utils/base/vec.h"
#include "utils/export/call_tree.h"
#include "utils/trace/format.h"

#define WEIGHT_MAX    100	/* of the edge that takes most time; dot is slow with larger ones */
#define PEN_WIDTH_MAX 6

static void put_comment(struct ftr_ostream *out, const char *key, const char *value)
{
	if (value == NULL)
		return;
	ftr_ostream_printf(out, "# %s ", key);
	ftr_ostream_json_string(out, value, strlen(value));
	ftr_ostream_putc(out, '\n');
}

static void put_escaped(struct ftr_ostream *out, const char *name)
{
	for (; *name != '\0'; name++) {
		if (*name == '"' || *name == '\\')
			ftr_ostream_putc(out, '\\');
		ftr_ostream_putc(out, *name == '\n' ? ' ' : *name);
	}
}

static void put_quoted(struct ftr_ostream *out, const char *name)
{
	ftr_ostream_putc(out, '"');
	put_escaped(out, name);
	ftr_ostream_putc(out, '"');
}

static void put_weight(struct ftr_ostream *out, const struct ftr_graph *tree, uint64_t value)
{
	char text[FTR_WEIGHT_TEXT_MAX];

	ftr_weight_text(text, tree->weight, value);
	ftr_ostream_puts(out, text);
}

/* ---- functions and edges out of the tree ---- */

struct func {
	const char *name;
	uint64_t self_ns;
	uint32_t open_nr;	/* calls of it around the node at hand */
};

struct edge {
	uint32_t from, to;	/* ids of names */
	uint64_t calls;
	uint64_t total_ns;	/* without calls inside of others of the same function */
};

struct digraph {
	const struct ftr_graph *tree;
	struct ftr_strpool names;
	FTR_VEC(struct func) funcs;	/* by id of the name */
	FTR_VEC(struct edge) edges;
	FTR_VEC(uint32_t) ids;		/* of names, by node */
};

static int ids_fill(struct digraph *digraph)
{
	const struct ftr_graph *tree = digraph->tree;

	for (size_t i = 0; i < tree->nodes.nr; i++) {
		const char *name = tree->nodes.v[i].name;
		const struct ftr_str *str = ftr_strpool_get(&digraph->names, name, strlen(name));
		struct func func = { .name = name };

		if (str == NULL || ftr_vec_push(&digraph->ids, str->id) < 0)
			return -ENOMEM;
		if (str->id == digraph->funcs.nr && ftr_vec_push(&digraph->funcs, func) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int node_add(struct digraph *digraph, uint32_t at)
{
	const struct ftr_graph_node *node = &digraph->tree->nodes.v[at];
	uint32_t to = digraph->ids.v[at];
	struct func *func = &digraph->funcs.v[to];
	struct edge edge = { .to = to, .calls = node->calls };

	edge.total_ns = func->open_nr++ == 0 ? node->total_ns : 0;
	func->self_ns += node->self_ns;
	if (node->parent == FTR_GRAPH_NONE)
		return 0;
	edge.from = digraph->ids.v[node->parent];
	return ftr_vec_push(&digraph->edges, edge);
}

/* From @at on up to @up callers are left. */
static void nodes_leave(struct digraph *digraph, uint32_t at, unsigned up)
{
	for (; up > 0 && at != FTR_GRAPH_NONE; up--, at = digraph->tree->nodes.v[at].parent)
		digraph->funcs.v[digraph->ids.v[at]].open_nr--;
}

static int root_add(struct digraph *digraph, uint32_t root)
{
	uint32_t at = root, next;
	unsigned up;

	while (at != FTR_GRAPH_NONE) {
		if (node_add(digraph, at) < 0)
			return -ENOMEM;
		next = ftr_call_tree_next(digraph->tree, at, &up);
		nodes_leave(digraph, at, next == FTR_GRAPH_NONE ? UINT_MAX : up);
		at = next;
	}
	return 0;
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* One edge a pair, in the order in which the functions were first called. */
static void edges_merge(struct digraph *digraph)
{
	struct edge *edges = digraph->edges.v;
	size_t nr = 0;

	if (digraph->edges.nr > 1)
		qsort(edges, digraph->edges.nr, sizeof(*edges), compare_edges);
	for (size_t i = 0; i < digraph->edges.nr; i++) {
		if (nr == 0 || compare_edges(&edges[nr - 1], &edges[i]) != 0) {
			edges[nr++] = edges[i];
			continue;
		}
		edges[nr - 1].calls += edges[i].calls;
		edges[nr - 1].total_ns += edges[i].total_ns;
	}
	digraph->edges.nr = nr;
}

static int digraph_make(struct digraph *digraph)
{
	const struct ftr_graph *tree = digraph->tree;
	int ret = ids_fill(digraph);

	for (size_t i = 0; ret == 0 && i < tree->roots.nr; i++)
		ret = root_add(digraph, tree->roots.v[i].node);
	edges_merge(digraph);
	return ret;
}

static void digraph_fini(struct digraph *digraph)
{
	ftr_vec_fini(&digraph->funcs);
	ftr_vec_fini(&digraph->edges);
	ftr_vec_fini(&digraph->ids);
	ftr_strpool_fini(&digraph->names);
}

/* ---- lines ---- */

static double share(uint64_t ns, uint64_t most_ns)
{
	return most_ns == 0 ? 0 : (double)ns / (double)most_ns;
}

/* From white to red, by its own time. */
static void put_funcs(const struct digraph *digraph, struct ftr_ostream *out)
{
	uint64_t most_ns = 0;

	for (size_t i = 0; i < digraph->funcs.nr; i++)
		if (digraph->funcs.v[i].self_ns > most_ns)
			most_ns = digraph->funcs.v[i].self_ns;
	for (size_t i = 0; i < digraph->funcs.nr; i++) {
		const struct func *func = &digraph->funcs.v[i];

		ftr_ostream_puts(out, "    ");
		put_quoted(out, func->name);
		ftr_ostream_puts(out, " [label = \"");
		put_escaped(out, func->name);
		ftr_ostream_puts(out, "\\n");
		put_weight(out, digraph->tree, func->self_ns);
		ftr_ostream_printf(out, "\", style = filled, fillcolor = \"0.000 %.3f 1.000\"]\n",
				   share(func->self_ns, most_ns));
	}
}

/* Heavier and thicker, the more time is spent there. */
static void put_edges(const struct digraph *digraph, struct ftr_ostream *out)
{
	uint64_t most_ns = 0;

	for (size_t i = 0; i < digraph->edges.nr; i++)
		if (digraph->edges.v[i].total_ns > most_ns)
			most_ns = digraph->edges.v[i].total_ns;
	for (size_t i = 0; i < digraph->edges.nr; i++) {
		const struct edge *edge = &digraph->edges.v[i];
		double part = share(edge->total_ns, most_ns);

		ftr_ostream_puts(out, "    ");
		put_quoted(out, digraph->funcs.v[edge->from].name);
		ftr_ostream_puts(out, " -> ");
		put_quoted(out, digraph->funcs.v[edge->to].name);
		ftr_ostream_printf(out, " [xlabel = \"%llu\", label = \"",
				   (unsigned long long)edge->calls);
		put_weight(out, digraph->tree, edge->total_ns);
		ftr_ostream_printf(out, "\", weight = %d, penwidth = %.2f]\n",
				   1 + (int)(part * (WEIGHT_MAX - 1)),
				   1 + part * (PEN_WIDTH_MAX - 1));
	}
}

static int dot_end(struct ftr_sink *sink)
{
	const struct ftr_graph *graph = ftr_call_tree_finish(sink);
	const struct ftr_trace *trace = ftr_call_tree_trace(sink);
	struct digraph digraph = { .tree = graph };
	const char *name;
	int ret;

	if (graph == NULL)
		return -ENODATA;
	ftr_strpool_init(&digraph.names);
	ret = digraph_make(&digraph);
	if (ret < 0) {
		digraph_fini(&digraph);
		return ftr_err_set(sink->err, ENOMEM, "graphviz: out of memory");
	}
	name = graph->roots.nr > 0 ? graph->nodes.v[graph->roots.v[0].node].name : "";
	put_comment(sink->out, "version", trace->info.recorder_version);
	put_comment(sink->out, "command_line", trace->info.cmdline);
	ftr_ostream_puts(sink->out, "\ndigraph ");
	put_quoted(sink->out, name);
	ftr_ostream_puts(sink->out, " { \n");
	put_funcs(&digraph, sink->out);
	put_edges(&digraph, sink->out);
	ftr_ostream_puts(sink->out, "}\n");
	digraph_fini(&digraph);
	return 0;
}

static const struct ftr_sink_ops dot_ops = FTR_CALL_TREE_OPS(dot_end);

const struct ftr_format ftr_format_graphviz = {
	.name	 = "graphviz",
	.summary = "who calls whom, as a digraph for dot",
	.suffix	 = ".dot",
	.dump_option = FTR_FORMAT_DUMP_OPTION("graphviz"),
	.kind	 = FTR_FORMAT_FILE,
	.write	 = &dot_ops,
	FTR_CALL_TREE_OPTIONS,
};

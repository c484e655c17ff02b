/* SPDX-License-Identifier: MIT */
/* The call tree as a digraph for dot(1), a line an edge. */
#include <errno.h>
#include <string.h>

#include "utils/base/ostream.h"
#include "utils/export/call_tree.h"
#include "utils/trace/format.h"

static void put_comment(struct ftr_ostream *out, const char *key, const char *value)
{
	if (value == NULL)
		return;
	ftr_ostream_printf(out, "# %s ", key);
	ftr_ostream_json_string(out, value, strlen(value));
	ftr_ostream_putc(out, '\n');
}

static void put_quoted(struct ftr_ostream *out, const char *name)
{
	ftr_ostream_putc(out, '"');
	for (; *name != '\0'; name++) {
		if (*name == '"' || *name == '\\')
			ftr_ostream_putc(out, '\\');
		ftr_ostream_putc(out, *name == '\n' ? ' ' : *name);
	}
	ftr_ostream_putc(out, '"');
}

static void put_edges(const struct ftr_graph *graph, uint32_t root, struct ftr_ostream *out)
{
	unsigned up;

	for (uint32_t at = ftr_call_tree_next(graph, root, &up); at != FTR_GRAPH_NONE;
	     at = ftr_call_tree_next(graph, at, &up)) {
		const struct ftr_graph_node *node = &graph->nodes.v[at];

		ftr_ostream_puts(out, "    ");
		put_quoted(out, graph->nodes.v[node->parent].name);
		ftr_ostream_puts(out, " -> ");
		put_quoted(out, node->name);
		ftr_ostream_printf(out, " [xlabel = \"%llu\"]\n", (unsigned long long)node->calls);
	}
}

static int dot_end(struct ftr_sink *sink)
{
	const struct ftr_graph *graph = ftr_call_tree_finish(sink);
	const struct ftr_trace *trace = ftr_call_tree_trace(sink);
	const char *name;

	if (graph == NULL)
		return -ENOMEM;
	name = graph->roots.nr > 0 ? graph->nodes.v[graph->roots.v[0].node].name : "";
	put_comment(sink->out, "version", trace->info.recorder_version);
	put_comment(sink->out, "command_line", trace->info.cmdline);
	ftr_ostream_puts(sink->out, "\ndigraph ");
	put_quoted(sink->out, name);
	ftr_ostream_puts(sink->out, " { \n");
	for (size_t i = 0; i < graph->roots.nr; i++)
		put_edges(graph, graph->roots.v[i].node, sink->out);
	ftr_ostream_puts(sink->out, "}\n");
	return 0;
}

static const struct ftr_sink_ops dot_ops = FTR_CALL_TREE_OPS(dot_end);

const struct ftr_format ftr_format_graphviz = {
	.name	 = "graphviz",
	.summary = "the call tree as a digraph for dot",
	.suffix	 = ".dot",
	.kind	 = FTR_FORMAT_FILE,
	.write	 = &dot_ops,
};

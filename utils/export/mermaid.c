/* SPDX-License-Identifier: MIT */
/*
 * The call tree as a flowchart for mermaid, a node a line and a line an edge: how many calls, or
 * what they weigh.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "utils/base/ostream.h"
#include "utils/export/call_tree.h"
#include "utils/trace/format.h"

/* Labels are in quotes; what means something to the renderer becomes an entity. */
static void put_label(struct ftr_ostream *out, uint32_t index, const char *name)
{
	ftr_ostream_printf(out, "    n%u[\"", index);
	for (; *name != '\0'; name++) {
		if (strchr("\"#<>&", *name) != NULL)
			ftr_ostream_printf(out, "#%d;", *name);
		else
			ftr_ostream_putc(out, *name == '\n' ? ' ' : *name);
	}
	ftr_ostream_puts(out, "\"]\n");
}

static int mermaid_end(struct ftr_sink *sink)
{
	const struct ftr_graph *graph = ftr_call_tree_finish(sink);
	char text[FTR_WEIGHT_TEXT_MAX];

	if (graph == NULL)
		return -ENODATA;
	ftr_ostream_puts(sink->out, "flowchart TB\n");
	for (uint32_t i = 0; i < graph->nodes.nr; i++) {
		const struct ftr_graph_node *node = &graph->nodes.v[i];

		put_label(sink->out, i, node->name);
		if (node->parent == FTR_GRAPH_NONE)
			continue;
		if (graph->weight != NULL)
			ftr_weight_text(text, graph->weight, node->total_ns);
		else
			snprintf(text, sizeof(text), "%" PRIu64, node->calls);
		ftr_ostream_printf(sink->out, "    n%u -->|%s| n%u\n", node->parent, text, i);
	}
	return 0;
}

static const struct ftr_sink_ops mermaid_ops = FTR_CALL_TREE_OPS(mermaid_end);

const struct ftr_format ftr_format_mermaid = {
	.name	 = "mermaid",
	.summary = "the call tree as a flowchart for mermaid",
	.suffix	 = ".mmd",
	.dump_option = FTR_FORMAT_DUMP_OPTION("mermaid"),
	.kind	 = FTR_FORMAT_FILE,
	.write	 = &mermaid_ops,
	FTR_CALL_TREE_OPTIONS,
};

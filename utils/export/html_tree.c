/* SPDX-License-Identifier: MIT */
/* The call tree of a whole trace, for a page. */
#include "utils/export/html_tree.h"

#include "utils/analysis/graph.h"
#include "utils/base/ostream.h"
#include "utils/export/html_put.h"

#include <errno.h>
#include <stdlib.h>

#define SEEN 20000u		/* what takes less than that part of all is no pixel wide */
#define NODES_MAX 200000u	/* of a tree that is that wide in many depths */

enum { NOT_RUNNING, REST, FUNC_0 };

struct kept {
	uint32_t at;		/* its number in the page, plus 1; 0 = not kept */
	uint64_t rest_ns, rest_calls;	/* of callees that are not */
};

/* A wait is no call: its time is its caller's, as in the timeline. */
static bool is_wait(const struct ftr_graph_node *node)
{
	return node->name_id >= FTR_GRAPH_WAITS && node->name_id < FTR_GRAPH_SCHEDULE;
}

static uint64_t func_of(const struct ftr_graph_node *node)
{
	return node->name_id >= FTR_GRAPH_SCHEDULE ? NOT_RUNNING : (uint64_t)node->name_id + FUNC_0;
}

/* Numbers those that take @least_ns or more; how many. */
static size_t keep(const struct ftr_graph *graph, uint64_t least_ns, struct kept *kept)
{
	uint32_t nr = 1;

	for (size_t i = 0; i < graph->nodes.nr; i++) {
		const struct ftr_graph_node *node = &graph->nodes.v[i];
		struct kept *parent;

		kept[i] = (struct kept){ .at = node->parent == FTR_GRAPH_NONE };
		if (node->parent == FTR_GRAPH_NONE || is_wait(node))
			continue;
		parent = &kept[node->parent];
		if (parent->at == 0)
			continue;
		if (node->total_ns >= least_ns) {
			kept[i].at = ++nr;
			continue;
		}
		parent->rest_ns += node->total_ns;
		parent->rest_calls += node->calls;
	}
	return nr - 1;
}

static void put(const struct ftr_graph *graph, const struct kept *kept, size_t nr,
		struct ftr_ostream *out)
{
	struct ftr_html_base64 to = { .out = out };

	for (size_t i = 0; i < graph->nodes.nr; i++) {
		const struct ftr_graph_node *node = &graph->nodes.v[i];

		if (kept[i].at < 2)
			continue;
		ftr_html_put_number(&to, kept[i].at - kept[node->parent].at);
		ftr_html_put_number(&to, func_of(node));
		ftr_html_put_number(&to, node->total_ns);
		ftr_html_put_number(&to, node->calls);
	}
	for (size_t i = 0; i < graph->nodes.nr; i++) {
		if (kept[i].rest_calls == 0)
			continue;
		ftr_html_put_number(&to, ++nr + 1 - kept[i].at);
		ftr_html_put_number(&to, REST);
		ftr_html_put_number(&to, kept[i].rest_ns);
		ftr_html_put_number(&to, kept[i].rest_calls);
	}
	ftr_html_put_end(&to);
}

static size_t rest_count(const struct ftr_graph *graph, const struct kept *kept)
{
	size_t nr = 0;

	for (size_t i = 0; i < graph->nodes.nr; i++)
		nr += kept[i].rest_calls != 0;
	return nr;
}

int ftr_html_tree_put(const struct ftr_graph *graph, struct ftr_ostream *out)
{
	struct kept *kept = calloc(graph->nodes.nr + 1, sizeof(*kept));
	uint64_t all_ns = 0, least_ns;
	size_t nr;

	if (kept == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < graph->roots.nr; i++)
		all_ns += graph->nodes.v[graph->roots.v[i].node].total_ns;
	least_ns = all_ns / SEEN;
	while ((nr = keep(graph, least_ns, kept)) > NODES_MAX)
		least_ns = 2 * least_ns + 1;
	ftr_ostream_u64(out, nr + rest_count(graph, kept));
	ftr_ostream_puts(out, ",\"tree\":\"");
	put(graph, kept, nr, out);
	ftr_ostream_puts(out, "\"");
	free(kept);
	return 0;
}

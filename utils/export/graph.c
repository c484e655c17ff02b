/* SPDX-License-Identifier: MIT */
/*
 * The call tree for other tools, one line a node: folded stacks for flame graphs, a digraph for
 * dot(1), a flowchart for mermaid.  Events outside of calls belong to none of them.
 */
#include "utils/export/graph.h"

#include "utils/analysis/graph.h"
#include "utils/base/ostream.h"
#include "utils/base/strbuf.h"
#include "utils/format/format.h"
#include "utils/trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_NS 1000

struct graph_sink {
	struct ftr_sink base;
	struct ftr_sink *tree;		/* (owned) makes the tree */
	const struct ftr_trace *trace;
	uint64_t sample_ns;		/* 0 = SAMPLE_NS */
};

static struct graph_sink *graph_of(struct ftr_sink *sink)
{
	return (struct graph_sink *)sink;
}

static int graph_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	struct graph_sink *self = graph_of(sink);

	self->trace = trace;
	self->tree = ftr_graph_new(false, sink->err);
	if (self->tree == NULL)
		return -ENOMEM;
	self->tree->err = sink->err;
	return self->tree->ops->begin(self->tree, trace);
}

static int graph_batch(struct ftr_sink *sink, const struct ftr_event *evs, size_t nr)
{
	struct ftr_sink *tree = graph_of(sink)->tree;
	int ret = 0;

	for (size_t i = 0, run; i < nr && ret == 0; i += run + 1) {
		for (run = 0; i + run < nr; run++)
			if (evs[i + run].type == FTR_EVENT_POINT && evs[i + run].depth == 0)
				break;
		ret = tree->ops->batch(tree, &evs[i], run);
	}
	return ret;
}

static const struct ftr_graph *graph_finish(struct graph_sink *self)
{
	return self->tree->ops->end(self->tree) < 0 ? NULL : ftr_graph_get(self->tree);
}

static void graph_fini(struct ftr_sink *sink)
{
	ftr_sink_free(graph_of(sink)->tree);
}

/*
 * The node after @at: its first child, else the next sibling of whoever has one; or NONE.  *up:
 * levels left.
 */
static uint32_t node_next(const struct ftr_graph *graph, uint32_t at, unsigned *up)
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

/* ---- flame graph: "main;middle;leaf 12" ---- */

/*
 * Samples of each node: its own time, and what was left of its callees' times because it made no
 * whole sample, so that no time is lost and none counts twice.  Children stand behind their
 * parents.
 */
static uint64_t *samples_of(const struct ftr_graph *graph, uint64_t sample_ns)
{
	uint64_t *samples = malloc((graph->nodes.nr + 1) * sizeof(*samples));

	if (samples == NULL)
		return NULL;
	for (size_t i = 0; i < graph->nodes.nr; i++)
		samples[i] = graph->nodes.v[i].self_ns;
	for (size_t i = graph->nodes.nr; i-- > 0;) {
		uint32_t parent = graph->nodes.v[i].parent;

		if (parent != FTR_GRAPH_NONE)
			samples[parent] += samples[i] % sample_ns;
		samples[i] /= sample_ns;
	}
	return samples;
}

/* A semicolon would be a level. */
static void put_level(struct ftr_strbuf *path, const char *name)
{
	if (path->len > 0)
		ftr_strbuf_putc(path, ';');
	for (; *name != '\0'; name++)
		ftr_strbuf_putc(path, *name == ';' || *name == '\n' ? ':' : *name);
}

static void path_cut(struct ftr_strbuf *path, size_t len)
{
	if (len < path->len) {
		path->len = len;
		path->s[len] = '\0';
	}
}

/* Lengths of the path's beginnings are kept, as names can hold what separates them. */
static int put_folded(const struct ftr_graph *graph, uint32_t root, const uint64_t *samples,
		      struct ftr_ostream *out)
{
	FTR_VEC(size_t) lengths = { 0 };
	struct ftr_strbuf path;
	unsigned up;
	int ret = 0;

	ftr_strbuf_init(&path);
	for (uint32_t at = node_next(graph, root, &up); at != FTR_GRAPH_NONE && ret == 0;) {
		ret = ftr_vec_push(&lengths, path.len);
		put_level(&path, graph->nodes.v[at].name);
		if (samples[at] > 0) {
			ftr_ostream_write(out, ftr_strbuf_str(&path), path.len);
			ftr_ostream_putc(out, ' ');
			ftr_ostream_u64(out, samples[at]);
			ftr_ostream_putc(out, '\n');
		}
		at = node_next(graph, at, &up);
		for (; ret == 0 && up > 0 && lengths.nr > 0; up--)
			path_cut(&path, lengths.v[--lengths.nr]);
	}
	if (path.failed)
		ret = -ENOMEM;
	ftr_strbuf_fini(&path);
	ftr_vec_fini(&lengths);
	return ret;
}

static int flame_end(struct ftr_sink *sink)
{
	struct graph_sink *self = graph_of(sink);
	const struct ftr_graph *graph = graph_finish(self);
	uint64_t *samples = NULL;
	int ret = -ENOMEM;

	if (graph != NULL)
		samples = samples_of(graph, self->sample_ns > 0 ? self->sample_ns : SAMPLE_NS);
	if (samples != NULL)
		ret = 0;
	for (size_t i = 0; ret == 0 && i < graph->roots.nr; i++)
		ret = put_folded(graph, graph->roots.v[i].node, samples, sink->out);
	free(samples);
	return ret == 0 ? 0 : ftr_err_set(sink->err, ENOMEM, "flame-graph: out of memory");
}

void ftr_flame_graph_sample_set(struct ftr_sink *sink, uint64_t sample_ns)
{
	graph_of(sink)->sample_ns = sample_ns;
}

/* ---- graphviz ---- */

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

	for (uint32_t at = node_next(graph, root, &up); at != FTR_GRAPH_NONE;
	     at = node_next(graph, at, &up)) {
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
	struct graph_sink *self = graph_of(sink);
	const struct ftr_graph *graph = graph_finish(self);
	const char *name;

	if (graph == NULL)
		return -ENOMEM;
	name = graph->roots.nr > 0 ? graph->nodes.v[graph->roots.v[0].node].name : "";
	put_comment(sink->out, "version", self->trace->info.recorder_version);
	put_comment(sink->out, "command_line", self->trace->info.cmdline);
	ftr_ostream_puts(sink->out, "\ndigraph ");
	put_quoted(sink->out, name);
	ftr_ostream_puts(sink->out, " { \n");
	for (size_t i = 0; i < graph->roots.nr; i++)
		put_edges(graph, graph->roots.v[i].node, sink->out);
	ftr_ostream_puts(sink->out, "}\n");
	return 0;
}

/* ---- mermaid ---- */

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
	const struct ftr_graph *graph = graph_finish(graph_of(sink));

	if (graph == NULL)
		return -ENOMEM;
	ftr_ostream_puts(sink->out, "flowchart TB\n");
	for (uint32_t i = 0; i < graph->nodes.nr; i++) {
		const struct ftr_graph_node *node = &graph->nodes.v[i];

		put_label(sink->out, i, node->name);
		if (node->parent != FTR_GRAPH_NONE)
			ftr_ostream_printf(sink->out, "    n%u -->|%llu| n%u\n", node->parent,
					   (unsigned long long)node->calls, i);
	}
	return 0;
}

#define GRAPH_OPS(end_) { \
	.size	 = sizeof(struct graph_sink), \
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT), \
	.begin	 = graph_begin, \
	.batch	 = graph_batch, \
	.end	 = end_, \
	.fini	 = graph_fini, \
}

static const struct ftr_sink_ops flame_ops = GRAPH_OPS(flame_end);
static const struct ftr_sink_ops dot_ops = GRAPH_OPS(dot_end);
static const struct ftr_sink_ops mermaid_ops = GRAPH_OPS(mermaid_end);

const struct ftr_format ftr_format_flame_graph = {
	.name	 = "flame-graph",
	.summary = "folded stacks with own times, for flamegraph.pl and speedscope",
	.suffix	 = ".folded",
	.kind	 = FTR_FORMAT_FILE,
	.write	 = &flame_ops,
};

const struct ftr_format ftr_format_graphviz = {
	.name	 = "graphviz",
	.summary = "the call tree as a digraph for dot",
	.suffix	 = ".dot",
	.kind	 = FTR_FORMAT_FILE,
	.write	 = &dot_ops,
};

const struct ftr_format ftr_format_mermaid = {
	.name	 = "mermaid",
	.summary = "the call tree as a flowchart for mermaid",
	.suffix	 = ".mmd",
	.kind	 = FTR_FORMAT_FILE,
	.write	 = &mermaid_ops,
};

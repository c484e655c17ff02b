/* SPDX-License-Identifier: MIT */
/*
 * The call tree as text.  A node that has several callees moves them three columns to the right, an
 * only callee stands right below:
 *
 *	    3.195 us :  +-(1) main
 *	    0.060 us :     +-(2) paint
 *	             :     |
 *	    0.181 us :     +-(1) call
 *	    0.050 us :       (1) leaf
 */
#include "utils/view/graph.h"

#include "utils/analysis/graph.h"
#include "utils/analysis/graph_focus.h"
#include "utils/analysis/weight.h"
#include "utils/base/bits.h"
#include "utils/base/duration.h"
#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/trace/func.h"
#include "utils/trace/session.h"
#include "utils/trace/trace.h"
#include "utils/view/graph_columns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDENT_BYTES 3
#define INDENT_MAX   1024 /* deeper nodes get no more indentation but the number of their level */
#define TRACE_MAX    1024	/* functions of a backtrace that are all shown; of a deeper one */
#define TRACE_PART   32		/* so many at each end */

struct view {
	const struct ftr_graph *graph;
	struct ftr_ostream *out;
	uint64_t mask;
	struct graph_sort sort;
	bool use_color;
	struct ftr_strbuf indent;	/* of the node at hand: " | " and "   " */
	size_t level;			/* parts of it, with those that INDENT_MAX left out */
	const struct ftr_func **funcs;	/* (owned, nullable) by name id: with source lines */
	size_t func_nr;			/* 0 without */
	bool root_is_func;
	bool has_no_addr;		/* the graph has no addresses */
};

static void put_head(const struct view *view)
{
	if (view->mask == 0)
		return;
	ftr_ostream_puts(view->out, "# ");
	graph_columns_put_heads(view->out, view->mask, view->graph->weight);
	ftr_ostream_puts(view->out,
			 view->funcs != NULL ? "   FUNCTION [SOURCE]\n" : "   FUNCTION\n");
}

/* ---- the tree ---- */

/* Does it stand to the right of its caller? */
static bool is_branch(const struct ftr_graph *graph, const struct ftr_graph_node *node)
{
	const struct ftr_graph_node *above = &graph->nodes.v[node->parent];

	return above->first_child != above->last_child;
}

static void indent_push(struct view *view, bool is_last)
{
	if (view->level++ < INDENT_MAX)
		ftr_strbuf_puts(&view->indent, is_last ? "   " : " | ");
}

static void indent_pop(struct view *view)
{
	if (--view->level >= INDENT_MAX || view->indent.failed)
		return;
	view->indent.len -= INDENT_BYTES;
	view->indent.s[view->indent.len] = '\0';
}

static const struct ftr_func *func_find(const struct view *view, const char *name)
{
	for (size_t i = 0; i < view->func_nr; i++)
		if (view->funcs[i] != NULL && strcmp(view->funcs[i]->name, name) == 0)
			return view->funcs[i];
	return NULL;
}

/* A root has a name alone, which may be that of a program. */
static void put_place(const struct view *view, const struct ftr_graph_node *node)
{
	const struct ftr_func *func = NULL;

	if (node->parent == FTR_GRAPH_NONE)
		func = view->root_is_func ? func_find(view, node->name) : NULL;
	else if (node->name_id < view->func_nr)
		func = view->funcs[node->name_id];
	if (func != NULL && func->src_file != NULL)
		ftr_ostream_printf(view->out, " [%s:%u]", func->src_file, func->src_line);
}

static void put_node(const struct view *view, const struct ftr_graph_node *node, bool is_branch)
{
	struct ftr_ostream *out = view->out;

	graph_columns_put(view->out, view->mask, view->graph->weight, node, view->use_color);
	ftr_ostream_write(out, view->indent.s, view->indent.len);
	if (is_branch)
		ftr_ostream_puts(out, " +-");
	if (view->level > INDENT_MAX)
		ftr_ostream_printf(out, "[%zu]", view->level);
	ftr_ostream_putc(out, '(');
	ftr_ostream_u64(out, node->calls);
	ftr_ostream_puts(out, ") ");
	ftr_ostream_puts(out, node->name);
	put_place(view, node);
	ftr_ostream_putc(out, '\n');
}

/* Between two callees of one caller. */
static void put_gap(const struct view *view)
{
	graph_columns_put(view->out, view->mask, view->graph->weight, NULL, view->use_color);
	ftr_ostream_write(view->out, view->indent.s, view->indent.len);
	ftr_ostream_puts(view->out, " | \n");
}

/*
 * Down to the first callee, else on to the next one of whichever caller has one; NONE at the end.
 */
static uint32_t tree_next(struct view *view, uint32_t at, uint32_t root)
{
	const struct ftr_graph *graph = view->graph;
	const struct ftr_graph_node *node = &graph->nodes.v[at];

	if (node->first_child != FTR_GRAPH_NONE)
		return node->first_child;
	while (at != root) {
		if (is_branch(graph, node))
			indent_pop(view);
		if (node->next != FTR_GRAPH_NONE) {
			put_gap(view);
			return node->next;
		}
		at = node->parent;
		node = &graph->nodes.v[at];
	}
	return FTR_GRAPH_NONE;
}

static void put_tree(struct view *view, uint32_t root)
{
	uint32_t at = root;

	while (at != FTR_GRAPH_NONE) {
		const struct ftr_graph_node *node = &view->graph->nodes.v[at];
		bool branches = at != root && is_branch(view->graph, node);

		put_node(view, node, branches);
		if (branches)
			indent_push(view, node->next == FTR_GRAPH_NONE);
		at = tree_next(view, at, root);
	}
	ftr_ostream_putc(view->out, '\n');
}

static void put_title(const struct view *view, const struct ftr_graph_root *root)
{
	ftr_ostream_printf(view->out, "# Function Call Graph for '%s'",
			   view->graph->nodes.v[root->node].name);
	if (root->session != NULL && root->session->sid[0] != '\0')
		ftr_ostream_printf(view->out, " (session: %s)", root->session->sid);
	if (view->graph->weight != NULL)
		ftr_ostream_printf(view->out, " by %s", view->graph->weight->title);
	ftr_ostream_putc(view->out, '\n');
}

static void put_graph(struct view *view, uint32_t root)
{
	ftr_ostream_puts(view->out, "========== FUNCTION CALL GRAPH ==========\n");
	put_head(view);
	put_tree(view, root);
}

static int print_whole(struct view *view, struct ftr_graph *graph,
		       const struct ftr_graph_opts *opts)
{
	if (graph_columns_sort(graph, &view->sort) < 0)
		return -ENOMEM;
	view->graph = graph;
	for (size_t i = 0; i < graph->roots.nr; i++) {
		put_title(view, &graph->roots.v[i]);
		put_graph(view, graph->roots.v[i].node);
	}
	return graph->roots.nr > 0 ? 0 : -ENOENT;
}

/* ---- one function ---- */

static void put_frames(const struct view *view, const struct ftr_graph *whole, uint32_t node,
		       uint32_t nr, uint32_t depth)
{
	FTR_VEC(uint32_t) frames = { 0 };

	while (nr-- > 0 && ftr_vec_push(&frames, node) == 0)
		node = whole->nodes.v[node].parent;
	depth = depth + 1 - (uint32_t)frames.nr;
	for (size_t i = frames.nr; i-- > 0; depth++) {
		const struct ftr_graph_node *frame = &whole->nodes.v[frames.v[i]];

		ftr_ostream_printf(view->out, "   [%u] %s", depth, frame->name);
		if (!view->has_no_addr && (frame->addr != 0 || whole->weight == NULL))
			ftr_ostream_printf(view->out, " (0x%llx)", (unsigned long long)frame->addr);
		ftr_ostream_putc(view->out, '\n');
	}
	ftr_vec_fini(&frames);
}

static void put_backtrace(const struct view *view, const struct ftr_graph *whole,
			  const struct ftr_graph_focus *focus,
			  const struct ftr_graph_backtrace *backtrace)
{
	uint32_t nr = backtrace->depth + 1;

	if (nr <= TRACE_MAX) {
		put_frames(view, whole, backtrace->node, nr, backtrace->depth);
		return;
	}
	put_frames(view, whole, focus->tops.v[backtrace->node], TRACE_PART, TRACE_PART - 1);
	ftr_ostream_printf(view->out, "   ... %u more\n", nr - 2 * TRACE_PART);
	put_frames(view, whole, backtrace->node, TRACE_PART, backtrace->depth);
}

/* " backtrace #0: hit 2, time   1.234 us", "block 2, bytes 1234" */
static void put_hit(const struct view *view, const struct ftr_graph_node *node, unsigned number)
{
	const struct ftr_weight *weight = view->graph->weight;
	unsigned long long nr = node->calls;
	char text[FTR_DURATION_BYTES];

	ftr_ostream_printf(view->out, " backtrace #%u: ", number);
	if (weight != NULL && weight->unit != NULL) {
		ftr_ostream_printf(view->out, "%s %llu, %s %llu\n", weight->each, nr, weight->unit,
				   (unsigned long long)node->total_ns);
		return;
	}
	*ftr_duration_put(text, node->total_ns, view->use_color) = '\0';
	ftr_ostream_printf(view->out, "%s %llu, time %s\n",
			   weight != NULL ? weight->each : "hit", nr, text);
}

/* Those of one root, from @at on; returns the index of the next root's first one. */
static size_t put_backtraces(const struct view *view, const struct ftr_graph *whole,
			     const struct ftr_graph_focus *focus, size_t at)
{
	uint32_t root = focus->backtraces.v[at].root;

	ftr_ostream_puts(view->out, "=============== BACKTRACE ===============\n");
	for (unsigned number = 0; at < focus->backtraces.nr; at++, number++) {
		const struct ftr_graph_backtrace *backtrace = &focus->backtraces.v[at];

		if (backtrace->root != root)
			break;
		put_hit(view, &whole->nodes.v[backtrace->node], number);
		put_backtrace(view, whole, focus, backtrace);
		ftr_ostream_putc(view->out, '\n');
	}
	return at;
}

static int print_focus(struct view *view, struct ftr_graph *whole,
		       const struct ftr_graph_opts *opts)
{
	struct ftr_graph_focus focus;
	int ret = ftr_graph_focus_init(&focus, whole, opts->func, opts->levels, TRACE_PART - 1);

	view->graph = &focus.graph;
	if (ret == 0 && focus.backtraces.nr == 0)
		ret = -ENOENT;
	if (ret == 0)
		ret = graph_columns_sort(&focus.graph, &view->sort);
	for (size_t i = 0; ret == 0 && i < focus.backtraces.nr;) {
		const struct ftr_graph_root *root =
			&focus.graph.roots.v[focus.backtraces.v[i].root];

		put_title(view, root);
		i = put_backtraces(view, whole, &focus, i);
		put_graph(view, root->node);
	}
	ftr_graph_focus_fini(&focus);
	return ret;
}

static int print_root(struct view *view, struct ftr_graph *graph,
		      const struct ftr_graph_opts *opts)
{
	if (graph_columns_sort(graph, &view->sort) < 0)
		return -ENOMEM;
	view->graph = graph;
	put_head(view);
	put_tree(view, graph->roots.v[0].node);
	return 0;
}

typedef int print_fn(struct view *view, struct ftr_graph *graph,
		     const struct ftr_graph_opts *opts);

static int print_by(print_fn *print, struct ftr_graph *graph, const struct ftr_graph_opts *opts,
		    struct ftr_ostream *out, struct ftr_err *err)
{
	struct view view = {
		.out = out,
		.use_color = opts->use_color,
		.root_is_func = print != print_whole,
		.has_no_addr = opts->has_no_addr,
	};
	int ret = graph_columns_parse(opts->fields, &view.mask, err);

	if (ret == 0)
		ret = graph_columns_parse_sort(opts->sort, &view.sort, err);
	if (ret < 0)
		return ret;
	if (graph->weight != NULL)
		view.mask = graph_columns_of_weight(view.mask);
	if (opts->has_srcline && opts->trace != NULL) {
		view.func_nr = opts->trace->names.nr;
		view.funcs = ftr_trace_funcs_by_name(opts->trace);
		if (view.funcs == NULL)
			return ftr_err_set(err, ENOMEM, "graph: out of memory");
	}
	ftr_strbuf_init(&view.indent);
	ret = print(&view, graph, opts);
	if (ret == -ENOMEM || view.indent.failed)
		ret = ftr_err_set(err, ENOMEM, "graph: out of memory");
	ftr_strbuf_fini(&view.indent);
	free(view.funcs);
	return ret;
}

int ftr_graph_print(struct ftr_graph *graph, const struct ftr_graph_opts *opts,
		    struct ftr_ostream *out, struct ftr_err *err)
{
	return print_by(opts->func == NULL ? print_whole : print_focus, graph, opts, out, err);
}

int ftr_graph_print_root(struct ftr_graph *graph, const struct ftr_graph_opts *opts,
			 struct ftr_ostream *out, struct ftr_err *err)
{
	return print_by(print_root, graph, opts, out, err);
}

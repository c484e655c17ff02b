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
#include "utils/base/bits.h"
#include "utils/base/duration.h"
#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/trace/func.h"
#include "utils/trace/session.h"
#include "utils/trace/trace.h"
#include "utils/view/fields.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDENT_BYTES 3
#define INDENT_MAX   1024 /* deeper nodes get no more indentation but the number of their level */
#define TRACE_MAX    1024	/* functions of a backtrace that are all shown; of a deeper one */
#define TRACE_PART   32		/* so many at each end */
#define ADDR_WIDTH   12

enum {
	COLUMN_TOTAL, COLUMN_SELF, COLUMN_ADDR,
	COLUMN_TOTAL_AVG, COLUMN_TOTAL_MAX, COLUMN_TOTAL_MIN,
	COLUMN_SELF_AVG, COLUMN_SELF_MAX, COLUMN_SELF_MIN,
	COLUMNS,
	KEY_CALLS = COLUMNS, KEY_FUNC,	/* what one can sort by besides the times */
	KEYS
};

static const struct ftr_field_name names[COLUMNS + 1] = {
	[COLUMN_TOTAL]	   = { "total" },
	[COLUMN_SELF]	   = { "self" },
	[COLUMN_ADDR]	   = { "addr" },
	[COLUMN_TOTAL_AVG] = { "total-avg" },
	[COLUMN_TOTAL_MAX] = { "total-max" },
	[COLUMN_TOTAL_MIN] = { "total-min" },
	[COLUMN_SELF_AVG]  = { "self-avg" },
	[COLUMN_SELF_MAX]  = { "self-max" },
	[COLUMN_SELF_MIN]  = { "self-min" },
};

static const char *const heads[COLUMNS] = {
	[COLUMN_TOTAL]	   = "TOTAL TIME",
	[COLUMN_SELF]	   = " SELF TIME",
	[COLUMN_ADDR]	   = "   ADDRESS  ",
	[COLUMN_TOTAL_AVG] = " TOTAL AVG",
	[COLUMN_TOTAL_MAX] = " TOTAL MAX",
	[COLUMN_TOTAL_MIN] = " TOTAL MIN",
	[COLUMN_SELF_AVG]  = "  SELF AVG",
	[COLUMN_SELF_MAX]  = "  SELF MAX",
	[COLUMN_SELF_MIN]  = "  SELF MIN",
};

#define DETAILS (~(FTR_BIT64(COLUMN_TOTAL) | FTR_BIT64(COLUMN_SELF) | FTR_BIT64(COLUMN_ADDR) | \
		   FTR_BIT64(COLUMN_TOTAL_AVG) | FTR_BIT64(COLUMN_SELF_AVG)))

/* What callees are ordered by, the first key first. */
struct sort {
	int keys[KEYS];
	unsigned nr;
};

struct view {
	const struct ftr_graph *graph;
	struct ftr_ostream *out;
	uint64_t mask;
	struct sort sort;
	bool use_color;
	struct ftr_strbuf indent;	/* of the node at hand: " | " and "   " */
	size_t level;			/* parts of it, with those that INDENT_MAX left out */
	const struct ftr_func **funcs;	/* (owned, nullable) by name id: with source lines */
	size_t func_nr;			/* 0 without */
	bool root_is_func;
	bool has_no_addr;		/* the graph has no addresses */
};

/* ---- columns ---- */

static uint64_t average(uint64_t sum_ns, uint64_t calls)
{
	return calls == 0 ? 0 : sum_ns / calls;
}

static uint64_t least(const struct ftr_graph_span *span)
{
	return span->min_ns > span->max_ns ? 0 : span->min_ns;
}

static uint64_t time_of(const struct ftr_graph_node *node, int column)
{
	switch (column) {
	case COLUMN_TOTAL:
		return node->total_ns;
	case COLUMN_SELF:
		return node->self_ns;
	case COLUMN_TOTAL_AVG:
		return average(node->total_ns, node->calls);
	case COLUMN_TOTAL_MAX:
		return node->total_span.max_ns;
	case COLUMN_TOTAL_MIN:
		return least(&node->total_span);
	case COLUMN_SELF_AVG:
		return average(node->self_ns, node->calls);
	case COLUMN_SELF_MAX:
		return node->self_span.max_ns;
	default:
		return least(&node->self_span);
	}
}

static int compare_by(int key, const struct ftr_graph_node *x, const struct ftr_graph_node *y)
{
	uint64_t of_x, of_y;

	if (key == KEY_FUNC)
		return strcmp(x->name, y->name);
	of_x = key == KEY_CALLS ? x->calls : time_of(x, key);
	of_y = key == KEY_CALLS ? y->calls : time_of(y, key);
	return of_x > of_y ? -1 : of_x < of_y;
}

static int compare_nodes(const struct ftr_graph_node *x, const struct ftr_graph_node *y,
			 const void *arg)
{
	const struct sort *sort = arg;
	int order = 0;

	for (unsigned i = 0; order == 0 && i < sort->nr; i++)
		order = compare_by(sort->keys[i], x, y);
	return order;
}

static int view_sort(const struct view *view, struct ftr_graph *graph)
{
	struct ftr_graph_order order = { compare_nodes, &view->sort };

	return view->sort.nr == 0 ? 0 : ftr_graph_sort(graph, &order);
}

static void put_addr(struct ftr_ostream *out, uint64_t addr)
{
	if (addr == 0)
		ftr_ostream_pad(out, ' ', ADDR_WIDTH);
	else
		ftr_ostream_printf(out, "%*llx", ADDR_WIDTH, (unsigned long long)addr);
}

/* @node NULL: a line that shows no node. */
static void put_columns(const struct view *view, const struct ftr_graph_node *node)
{
	for (int i = 0; i < COLUMNS; i++) {
		if (!(view->mask & FTR_BIT64(i)))
			continue;
		ftr_ostream_puts(view->out, "  ");
		if (i == COLUMN_ADDR)
			put_addr(view->out, node == NULL ? 0 : node->addr);
		else
			ftr_duration_write(view->out, node == NULL ? 0 : time_of(node, i),
					   view->use_color);
	}
	if (view->mask != 0)
		ftr_ostream_puts(view->out, " : ");
}

static void put_head(const struct view *view)
{
	const char *separator = "# ";

	if (view->mask == 0)
		return;
	for (int i = 0; i < COLUMNS; i++) {
		if (!(view->mask & FTR_BIT64(i)))
			continue;
		ftr_ostream_puts(view->out, separator);
		ftr_ostream_puts(view->out, heads[i]);
		separator = "  ";
	}
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

	put_columns(view, node);
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
	put_columns(view, NULL);
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
	if (view_sort(view, graph) < 0)
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
		if (!view->has_no_addr)
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

/* Those of one root, from @at on; returns the index of the next root's first one. */
static size_t put_backtraces(const struct view *view, const struct ftr_graph *whole,
			     const struct ftr_graph_focus *focus, size_t at)
{
	uint32_t root = focus->backtraces.v[at].root;
	char text[FTR_DURATION_BYTES];

	ftr_ostream_puts(view->out, "=============== BACKTRACE ===============\n");
	for (unsigned number = 0; at < focus->backtraces.nr; at++, number++) {
		const struct ftr_graph_backtrace *backtrace = &focus->backtraces.v[at];
		const struct ftr_graph_node *node = &whole->nodes.v[backtrace->node];

		if (backtrace->root != root)
			break;
		*ftr_duration_put(text, node->total_ns, view->use_color) = '\0';
		ftr_ostream_printf(view->out, " backtrace #%u: hit %llu, time %s\n", number,
				   (unsigned long long)node->calls, text);
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
		ret = view_sort(view, &focus.graph);
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

static int parse_fields(const struct ftr_graph_opts *opts, uint64_t *mask, struct ftr_err *err)
{
	*mask = FTR_BIT64(COLUMN_TOTAL);
	return ftr_fields_parse(names, opts->fields, mask, err);
}

static int find_key(struct ftr_slice word)
{
	if (ftr_slice_eq(word, "call"))
		return KEY_CALLS;
	if (ftr_slice_eq(word, "func"))
		return KEY_FUNC;
	for (int i = 0; i < COLUMNS; i++)
		if (i != COLUMN_ADDR && ftr_slice_eq(word, names[i].name))
			return i;
	return -1;
}

static int parse_sort(const struct ftr_graph_opts *opts, struct sort *sort, struct ftr_err *err)
{
	struct ftr_slice rest, word;

	sort->nr = 0;
	if (opts->sort == NULL)
		return 0;
	rest = ftr_slice_make(opts->sort, strlen(opts->sort));
	while (ftr_slice_split(&rest, ',', &word)) {
		int key = find_key(word);

		if (key < 0)
			return ftr_err_set(err, EINVAL,
					   "unknown sort key \"%.*s\"; the keys are: func call total "
					   "self total-avg total-max total-min self-avg self-max "
					   "self-min", (int)word.len, word.s);
		if (sort->nr < KEYS)
			sort->keys[sort->nr++] = key;
	}
	return 0;
}

int ftr_graph_check_fields(const struct ftr_graph_opts *opts, bool *has_details,
			   struct ftr_err *err)
{
	struct sort sort;
	uint64_t mask;
	int ret = parse_fields(opts, &mask, err);

	if (ret == 0)
		ret = parse_sort(opts, &sort, err);
	for (unsigned i = 0; ret == 0 && i < sort.nr; i++)
		if (sort.keys[i] < COLUMNS)
			mask |= FTR_BIT64(sort.keys[i]);
	*has_details = (mask & DETAILS) != 0;
	return ret;
}

static int print_root(struct view *view, struct ftr_graph *graph,
		      const struct ftr_graph_opts *opts)
{
	if (view_sort(view, graph) < 0)
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
	int ret = parse_fields(opts, &view.mask, err);

	if (ret == 0)
		ret = parse_sort(opts, &view.sort, err);
	if (ret < 0)
		return ret;
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

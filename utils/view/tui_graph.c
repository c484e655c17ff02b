/* SPDX-License-Identifier: MIT */
/*
 * The browser's pages of call trees: graph's lines, which can be folded.  That of one function
 * begins with the lines of callers that led to it.
 */
#include "utils/view/tui_page.h"

#include "utils/analysis/graph.h"
#include "utils/analysis/graph_focus.h"
#include "utils/base/bits.h"
#include "utils/base/duration.h"
#include "utils/base/ostream.h"
#include "utils/base/vec.h"
#include "utils/trace/session.h"
#include "utils/view/graph_columns.h"
#include "utils/view/tui.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INDENT_BYTES 3
#define INDENT_MAX   1024 /* deeper nodes get no more indentation but the number of their level */
#define CALLERS_MAX  64		/* of a backtrace; those nearest to the function */

enum row_kind {
	ROW_NODE,		/* index: of page->graph */
	ROW_BACKTRACE,		/* index: of page->focus.backtraces */
	ROW_FRAME,		/* index: of the whole graph */
	ROW_GAP,
};

struct row {
	enum row_kind kind;
	uint32_t index;
};

struct graph_page {
	struct tui_page base;
	struct ftr_graph *graph;	/* (borrowed) the one below, or the whole one */
	const struct ftr_graph *whole;	/* (borrowed, nullable) of a function: where it was found */
	struct ftr_graph_focus focus;	/* of a function */
	char *sort;			/* (owned, nullable) */
	uint64_t mask;
	bool *is_folded;		/* (owned) by node */
	FTR_VEC(struct row) rows;
};

static struct graph_page *graph_of(struct tui_page *page)
{
	return (struct graph_page *)page;
}

static const struct graph_page *const_of(const struct tui_page *page)
{
	return (const struct graph_page *)page;
}

static const struct ftr_graph_node *node_at(const struct graph_page *self, uint32_t index)
{
	return &self->graph->nodes.v[index];
}

/* ---- rows ---- */

static int row_add(struct graph_page *self, enum row_kind kind, uint32_t index)
{
	return ftr_vec_push(&self->rows, ((struct row){ kind, index }));
}

/* After @at below @root; FTR_GRAPH_NONE at the end.  @with_folded: also what is hidden. */
static uint32_t node_next(const struct graph_page *self, uint32_t at, uint32_t root,
			  bool with_folded)
{
	const struct ftr_graph_node *node = node_at(self, at);

	if (node->first_child != FTR_GRAPH_NONE && (with_folded || !self->is_folded[at]))
		return node->first_child;
	while (at != root) {
		node = node_at(self, at);
		if (node->next != FTR_GRAPH_NONE)
			return node->next;
		at = node->parent;
	}
	return FTR_GRAPH_NONE;
}

static int add_tree(struct graph_page *self, uint32_t root)
{
	uint32_t at = root;
	int ret = 0;

	for (; ret == 0 && at != FTR_GRAPH_NONE; at = node_next(self, at, root, false))
		ret = row_add(self, ROW_NODE, at);
	return ret;
}

/* From the function up to whoever called first. */
static int add_backtrace(struct graph_page *self, uint32_t index)
{
	const struct ftr_graph_backtrace *backtrace = &self->focus.backtraces.v[index];
	uint32_t node = backtrace->node, nr = backtrace->depth + 1;
	int ret = row_add(self, ROW_BACKTRACE, index);

	for (uint32_t i = 0; ret == 0 && i < nr && i < CALLERS_MAX; i++) {
		ret = row_add(self, ROW_FRAME, node);
		node = self->whole->nodes.v[node].parent;
	}
	return ret;
}

static int add_function(struct graph_page *self)
{
	const struct ftr_graph_focus *focus = &self->focus;
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < focus->backtraces.nr; i++) {
		uint32_t root = focus->backtraces.v[i].root;

		ret = add_backtrace(self, i);
		if (i + 1 < focus->backtraces.nr && focus->backtraces.v[i + 1].root == root)
			continue;
		if (ret == 0)
			ret = row_add(self, ROW_GAP, 0);
		if (ret == 0)
			ret = add_tree(self, self->graph->roots.v[root].node);
		if (ret == 0 && i + 1 < focus->backtraces.nr)
			ret = row_add(self, ROW_GAP, 0);
	}
	return ret;
}

/* What is shown has changed; the selected row stays selected. */
static int rows_make(struct graph_page *self, struct ftr_err *err)
{
	const struct row *rows = self->rows.v;
	struct row at = { ROW_GAP, 0 };
	int ret = 0;

	if (self->rows.nr > 0)
		at = rows[self->base.at];
	self->rows.nr = 0;
	if (self->whole != NULL)
		ret = add_function(self);
	for (size_t i = 0; self->whole == NULL && ret == 0 && i < self->graph->roots.nr; i++)
		ret = add_tree(self, self->graph->roots.v[i].node);
	rows = self->rows.v;
	for (size_t i = 0; i < self->rows.nr; i++)
		if (rows[i].kind == at.kind && rows[i].index == at.index && at.kind != ROW_GAP)
			self->base.at = i;
	if (self->base.at >= self->rows.nr)
		self->base.at = self->rows.nr == 0 ? 0 : self->rows.nr - 1;
	return ret == 0 ? 0 : ftr_err_set(err, ENOMEM, "out of memory");
}

/* The node of a tree that is selected; FTR_GRAPH_NONE: none is. */
static uint32_t selected(const struct graph_page *self)
{
	const struct row *row = &self->rows.v[self->base.at];

	return self->rows.nr > 0 && row->kind == ROW_NODE ? row->index : FTR_GRAPH_NONE;
}

static void select_node(struct graph_page *self, uint32_t node)
{
	for (size_t i = 0; node != FTR_GRAPH_NONE && i < self->rows.nr; i++)
		if (self->rows.v[i].kind == ROW_NODE && self->rows.v[i].index == node)
			self->base.at = i;
}

/* ---- text ---- */

static bool is_branch(const struct graph_page *self, const struct ftr_graph_node *node)
{
	const struct ftr_graph_node *above;

	if (node->parent == FTR_GRAPH_NONE)
		return false;
	above = node_at(self, node->parent);
	return above->first_child != above->last_child;
}

static size_t levels_above(const struct graph_page *self, const struct ftr_graph_node *node)
{
	size_t nr = 0;

	while (node->parent != FTR_GRAPH_NONE) {
		node = node_at(self, node->parent);
		nr += is_branch(self, node);
	}
	return nr;
}

/* As graph does: three columns for each caller that stands beside others. */
static void put_indent(const struct graph_page *self, const struct ftr_graph_node *node,
		       struct ftr_ostream *out)
{
	size_t levels = levels_above(self, node);
	size_t shown = levels < INDENT_MAX ? levels : INDENT_MAX;
	char text[INDENT_MAX * INDENT_BYTES];

	memset(text, ' ', sizeof(text));
	for (size_t level = levels; level > 0;) {
		node = node_at(self, node->parent);
		if (!is_branch(self, node))
			continue;
		level--;
		if (level < INDENT_MAX && node->next != FTR_GRAPH_NONE)
			text[level * INDENT_BYTES + 1] = '|';
	}
	ftr_ostream_write(out, text, shown * INDENT_BYTES);
	if (levels > INDENT_MAX)
		ftr_ostream_printf(out, "[%zu]", levels);
}

static unsigned callee_nr(const struct graph_page *self, const struct ftr_graph_node *node)
{
	unsigned nr = 0;

	for (uint32_t at = node->first_child; at != FTR_GRAPH_NONE; at = node_at(self, at)->next)
		nr++;
	return nr;
}

static void put_node(const struct graph_page *self, uint32_t index, struct ftr_ostream *out)
{
	const struct ftr_graph_node *node = node_at(self, index);

	graph_columns_put(out, self->mask, NULL, node, false);
	put_indent(self, node, out);
	if (is_branch(self, node))
		ftr_ostream_puts(out, " +-");
	ftr_ostream_printf(out, "(%llu) %s", (unsigned long long)node->calls, node->name);
	if (self->is_folded[index] && node->first_child != FTR_GRAPH_NONE)
		ftr_ostream_printf(out, " [+%u]", callee_nr(self, node));
}

static void put_backtrace(const struct graph_page *self, uint32_t index, struct ftr_ostream *out)
{
	const struct ftr_graph_backtrace *backtrace = &self->focus.backtraces.v[index];
	const struct ftr_graph_node *node = &self->whole->nodes.v[backtrace->node];
	uint32_t nr = backtrace->depth + 1;
	char text[FTR_DURATION_BYTES];

	*ftr_duration_put(text, node->total_ns, false) = '\0';
	ftr_ostream_printf(out, "backtrace #%u: hit %llu, time %s", index,
			   (unsigned long long)node->calls, text);
	if (nr > CALLERS_MAX)
		ftr_ostream_printf(out, ", %u more callers", nr - CALLERS_MAX);
}

static void graph_put_row(const struct tui_page *page, size_t row, struct ftr_ostream *out)
{
	const struct graph_page *self = const_of(page);
	const struct row *at = &self->rows.v[row];

	if (at->kind == ROW_NODE) {
		put_node(self, at->index, out);
		return;
	}
	graph_columns_put(out, self->mask, NULL, NULL, false);
	if (at->kind == ROW_BACKTRACE)
		put_backtrace(self, at->index, out);
	else if (at->kind == ROW_FRAME)
		ftr_ostream_printf(out, "   %s", self->whole->nodes.v[at->index].name);
}

static size_t graph_row_nr(const struct tui_page *page)
{
	return const_of(page)->rows.nr;
}

static void graph_put_title(const struct tui_page *page, struct ftr_ostream *out)
{
	const struct graph_page *self = const_of(page);

	if (self->whole != NULL)
		ftr_ostream_printf(out, "graph: calls of %s",
				   self->whole->nodes.v[self->focus.backtraces.v[0].node].name);
	else
		ftr_ostream_puts(out, "graph: all calls");
	if (self->sort != NULL)
		ftr_ostream_printf(out, ", by %s", self->sort);
}

static void graph_put_head(const struct tui_page *page, struct ftr_ostream *out)
{
	ftr_ostream_puts(out, "  ");
	graph_columns_put_heads(out, const_of(page)->mask, NULL);
	ftr_ostream_puts(out, const_of(page)->mask == 0 ? "FUNCTION" : "   FUNCTION");
}

static const char *graph_func(const struct tui_page *page, size_t row)
{
	const struct graph_page *self = const_of(page);
	const struct row *at = &self->rows.v[row];

	if (at->kind == ROW_NODE)
		return node_at(self, at->index)->name;
	return at->kind == ROW_FRAME ? self->whole->nodes.v[at->index].name : NULL;
}

static const char *graph_label(const struct tui_page *page, size_t row)
{
	const char *func = graph_func(page, row);

	return func == NULL ? "" : func;
}

/* ---- keys ---- */

/* What is directly below of @node, or, with @is_deep, @node and all that is. */
static void fold_below(struct graph_page *self, uint32_t node, bool folds, bool is_deep)
{
	uint32_t at = node;

	if (!is_deep) {
		self->is_folded[node] = false;
		for (at = node_at(self, node)->first_child; at != FTR_GRAPH_NONE;
		     at = node_at(self, at)->next)
			self->is_folded[at] = folds;
		return;
	}
	for (; at != FTR_GRAPH_NONE; at = node_next(self, at, node, true))
		self->is_folded[at] = folds;
}

static bool fold(struct graph_page *self, uint32_t node, int key)
{
	switch (key) {
	case FTR_TUI_ENTER:
		self->is_folded[node] = !self->is_folded[node];
		return true;
	case 'c':
	case 'e':
		fold_below(self, node, key == 'c', false);
		return true;
	case 'C':
	case 'E':
		fold_below(self, node, key == 'C', true);
		return true;
	default:
		return false;
	}
}

/* The callee of the same caller before @node; FTR_GRAPH_NONE: it is the first. */
static uint32_t previous(const struct graph_page *self, uint32_t node)
{
	uint32_t parent = node_at(self, node)->parent, at, before = FTR_GRAPH_NONE;

	if (parent == FTR_GRAPH_NONE)
		return FTR_GRAPH_NONE;
	for (at = node_at(self, parent)->first_child; at != node; at = node_at(self, at)->next)
		before = at;
	return before;
}

static uint32_t longest_callee(const struct graph_page *self, uint32_t node)
{
	uint32_t at = node_at(self, node)->first_child, found = at;

	for (; at != FTR_GRAPH_NONE; at = node_at(self, at)->next)
		if (node_at(self, at)->total_ns > node_at(self, found)->total_ns)
			found = at;
	return found;
}

/* Where the key leads to; FTR_GRAPH_NONE: there is nothing. */
static uint32_t relative(const struct graph_page *self, uint32_t node, int key)
{
	switch (key) {
	case 'n':
		return node_at(self, node)->next;
	case 'p':
		return previous(self, node);
	case 'u':
		return node_at(self, node)->parent;
	default:
		return longest_callee(self, node);
	}
}

static bool graph_key(struct tui_page *page, int key, struct ftr_err *err)
{
	struct graph_page *self = graph_of(page);
	uint32_t node = selected(self);

	if (node == FTR_GRAPH_NONE)
		return false;
	if (fold(self, node, key)) {
		rows_make(self, err);
		return true;
	}
	if (key != 'n' && key != 'p' && key != 'u' && key != 'l')
		return false;
	if (key == 'l' && self->is_folded[node]) {
		self->is_folded[node] = false;
		rows_make(self, err);
	}
	select_node(self, relative(self, node, key));
	return true;
}

static int graph_set_fields(struct tui_page *page, const char *text, struct ftr_err *err)
{
	uint64_t mask;
	int ret = graph_columns_parse(*text == '\0' ? NULL : text, &mask, err);

	if (ret == 0)
		graph_of(page)->mask = mask;
	return ret;
}

static int graph_set_sort(struct tui_page *page, const char *text, struct ftr_err *err)
{
	struct graph_page *self = graph_of(page);
	char *copy = *text == '\0' ? NULL : strdup(text);
	struct graph_sort sort;
	int ret = graph_columns_parse_sort(copy, &sort, err);

	if (ret == 0 && (*text != '\0') != (copy != NULL))
		ret = ftr_err_set(err, ENOMEM, "out of memory");
	if (ret < 0) {
		free(copy);
		return ret;
	}
	free(self->sort);
	self->sort = copy;
	ret = copy == NULL ? ftr_graph_sort(self->graph, NULL) :
			     graph_columns_sort(self->graph, &sort);
	return ret < 0 ? ftr_err_set(err, ENOMEM, "out of memory") : rows_make(self, err);
}

static void graph_free(struct tui_page *page)
{
	struct graph_page *self = graph_of(page);

	if (self->whole != NULL)
		ftr_graph_focus_fini(&self->focus);
	free(self->sort);
	free(self->is_folded);
	ftr_vec_fini(&self->rows);
	free(self);
}

static const struct tui_page_ops graph_ops = {
	.row_nr	    = graph_row_nr,
	.put_title  = graph_put_title,
	.put_head   = graph_put_head,
	.put_row    = graph_put_row,
	.label	    = graph_label,
	.func	    = graph_func,
	.key	    = graph_key,
	.set_fields = graph_set_fields,
	.set_sort   = graph_set_sort,
	.free	    = graph_free,
};

/* ---- pages ---- */

/* @self->graph is there, all of it unfolded. */
static struct tui_page *page_show(struct graph_page *self, struct ftr_err *err)
{
	graph_columns_parse(NULL, &self->mask, NULL);
	self->is_folded = calloc(self->graph->nodes.nr + 1, sizeof(*self->is_folded));
	if (self->is_folded == NULL)
		ftr_err_set(err, ENOMEM, "out of memory");
	else if (rows_make(self, err) == 0)
		return &self->base;
	graph_free(&self->base);
	return NULL;
}

static struct graph_page *page_new(struct ftr_err *err)
{
	struct graph_page *self = calloc(1, sizeof(*self));

	if (self == NULL)
		ftr_err_set(err, ENOMEM, "out of memory");
	else
		self->base.ops = &graph_ops;
	return self;
}

struct tui_page *tui_graph_page_new(struct ftr_graph *graph, struct ftr_err *err)
{
	struct graph_page *self = page_new(err);

	if (self == NULL)
		return NULL;
	self->graph = graph;
	return page_show(self, err);
}

struct tui_page *tui_focus_page_new(const struct ftr_graph *whole, const char *func,
				    struct ftr_err *err)
{
	struct graph_page *self = page_new(err);
	int ret;

	if (self == NULL)
		return NULL;
	self->whole = whole;
	self->graph = &self->focus.graph;
	ret = ftr_graph_focus_init(&self->focus, whole, func, 0, 0);
	if (ret == 0 && self->focus.backtraces.nr > 0)
		return page_show(self, err);
	ftr_err_set(err, ret < 0 ? -ret : ENOENT,
		    ret < 0 ? "out of memory" : "no calls of %s in the tree", func);
	graph_free(&self->base);
	return NULL;
}

void tui_graph_page_select_root(struct tui_page *page, size_t root)
{
	const struct ftr_graph *graph = const_of(page)->graph;

	if (root < graph->roots.nr)
		select_node(graph_of(page), graph->roots.v[root].node);
}

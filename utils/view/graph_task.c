/* SPDX-License-Identifier: MIT */
/*
 * The tree of tasks as text, as uftrace graph --task prints it: threads stand closer to their
 * process than the processes that it forked.
 *
 *	[  23353] :  +----tt
 *	[  23354] :  |     +-tt
 *	          :  |     |
 *	[  23357] :  |     +----tt
 */
#include "utils/view/graph_task.h"

#include "utils/analysis/graph_task.h"
#include "utils/base/bits.h"
#include "utils/base/color.h"
#include "utils/base/duration.h"
#include "utils/base/strbuf.h"
#include "utils/trace/task.h"
#include "utils/view/fields.h"

#include <errno.h>
#include <string.h>

enum {
	COLUMN_TOTAL, COLUMN_SELF, COLUMN_TID, COLUMN_EXIT, COLUMN_COMMAND,
	COLUMNS
};

static const struct ftr_field_name names[COLUMNS + 1] = {
	[COLUMN_TOTAL]	 = { "total" },
	[COLUMN_SELF]	 = { "self" },
	[COLUMN_TID]	 = { "tid" },
	[COLUMN_EXIT]	 = { "exit" },
	[COLUMN_COMMAND] = { "command" },	/* no column: stands behind the name */
};

static const struct {
	const char *head;
	int width;
} columns[COLUMN_COMMAND] = {
	[COLUMN_TOTAL] = { "TOTAL TIME", 10 },
	[COLUMN_SELF]  = { " SELF TIME", 10 },
	[COLUMN_TID]   = { "   TID   ", 9 },
	[COLUMN_EXIT]  = { "     EXIT", 9 },
};


/* What a task adds to the indentation of those below it: "last" is the form without a line. */
static const struct shape {
	const char *branch, *line, *last, *gap;
} shapes[2] = {
	{ " +-", " | ", "   ", " | \n" },		/* thread */
	{ " +----", " |    ", "      ", " |    \n" },	/* process */
};

struct view {
	const struct ftr_task_tree *tree;
	struct ftr_ostream *out;
	uint64_t mask;
	bool use_color;
	struct ftr_strbuf indent;
};

static const struct shape *shape_of(const struct ftr_task_node *node)
{
	return &shapes[ftr_task_is_main(node->task)];
}

/* ---- a line ---- */

static void put_time(const struct view *view, uint64_t ns)
{
	ftr_duration_write(view->out, ns, view->use_color);
}

static void put_column(const struct view *view, const struct ftr_task_node *node, int column)
{
	switch (column) {
	case COLUMN_TOTAL:
		put_time(view, node->total_ns);
		break;
	case COLUMN_SELF:
		put_time(view, node->self_ns);
		break;
	case COLUMN_TID:
		ftr_ostream_printf(view->out, "[%7d]", node->task->tid);
		break;
	default:
		ftr_ostream_printf(view->out, "%9s", node->exit == NULL ? "" : node->exit);
		break;
	}
}

/* @node NULL: a line that shows no task. */
static void put_columns(const struct view *view, const struct ftr_task_node *node)
{
	bool is_any = false;

	for (int i = 0; i < COLUMN_COMMAND; i++) {
		if (!(view->mask & FTR_BIT64(i)))
			continue;
		ftr_ostream_puts(view->out, "  ");
		if (node == NULL)
			ftr_ostream_pad(view->out, ' ', (size_t)columns[i].width);
		else
			put_column(view, node, i);
		is_any = true;
	}
	if (is_any)
		ftr_ostream_puts(view->out, " : ");
}

static void put_commands(const struct view *view, const struct ftr_task_node *node)
{
	const char *separator = ": ";

	for (size_t i = 0; i < node->images.nr; i++) {
		const struct ftr_task_image *image = &node->images.v[i];

		ftr_ostream_puts(view->out, separator);
		ftr_ostream_puts(view->out, image->command);
		if (image->error != NULL)
			ftr_ostream_printf(view->out, " (%s)", image->error);
		separator = " -> ";
	}
}

static void put_name(const struct view *view, const struct ftr_task_node *node)
{
	bool is_thread = !ftr_task_is_main(node->task) && view->use_color;

	ftr_ostream_puts(view->out, is_thread ? FTR_SGR_GREEN : "");
	ftr_ostream_puts(view->out, node->task->name);
	ftr_ostream_puts(view->out, is_thread ? FTR_SGR_RESET : "");
	if (view->mask & FTR_BIT64(COLUMN_COMMAND))
		put_commands(view, node);
	ftr_ostream_putc(view->out, '\n');
}

static void put_head(const struct view *view)
{
	const char *separator = "# ";

	ftr_ostream_puts(view->out, "========== TASK GRAPH ==========\n");
	for (int i = 0; i < COLUMN_COMMAND; i++) {
		if (!(view->mask & FTR_BIT64(i)))
			continue;
		ftr_ostream_puts(view->out, separator);
		ftr_ostream_puts(view->out, columns[i].head);
		separator = "  ";
	}
	if (separator[0] != '#')
		ftr_ostream_puts(view->out, "   TASK NAME\n");
}

/* ---- the tree ---- */

static void put_gap(const struct view *view, const struct shape *shape)
{
	put_columns(view, NULL);
	ftr_ostream_write(view->out, ftr_strbuf_str(&view->indent), view->indent.len);
	ftr_ostream_puts(view->out, shape->gap);
}

/* A process stands apart from what is before it, a thread from a process. */
static void put_task(const struct view *view, const struct ftr_task_node *node,
		     const struct ftr_task_node *before)
{
	const struct shape *shape = shape_of(node);

	if (node->parent != FTR_TASK_NONE &&
	    (ftr_task_is_main(node->task) || (before != NULL && ftr_task_is_main(before->task))))
		put_gap(view, shape);
	put_columns(view, node);
	ftr_ostream_write(view->out, ftr_strbuf_str(&view->indent), view->indent.len);
	if (node->parent != FTR_TASK_NONE)
		ftr_ostream_puts(view->out, shape->branch);
	put_name(view, node);
}

static void indent_push(struct view *view, const struct ftr_task_node *node)
{
	const struct shape *shape = shape_of(node);

	if (node->parent != FTR_TASK_NONE)
		ftr_strbuf_puts(&view->indent,
				node->next == FTR_TASK_NONE ? shape->last : shape->line);
}

static void indent_pop(struct view *view, const struct ftr_task_node *node)
{
	size_t len = node->parent == FTR_TASK_NONE ? 0 : strlen(shape_of(node)->line);

	if (view->indent.len >= len)	/* but when it ran out of memory */
		view->indent.len -= len;
}

/* The task after @at and all below it, whose sibling before it is *before; or NONE. */
static uint32_t tree_next(struct view *view, uint32_t at, const struct ftr_task_node **before)
{
	const struct ftr_task_node *nodes = view->tree->nodes.v;

	*before = NULL;
	if (nodes[at].first_child != FTR_TASK_NONE)
		return nodes[at].first_child;
	for (; at != FTR_TASK_NONE; at = nodes[at].parent) {
		indent_pop(view, &nodes[at]);
		if (nodes[at].next == FTR_TASK_NONE)
			continue;
		*before = &nodes[at];
		return nodes[at].next;
	}
	return FTR_TASK_NONE;
}

static void put_tree(struct view *view)
{
	const struct ftr_task_node *before = NULL;
	uint32_t at = view->tree->first_root;

	put_head(view);
	while (at != FTR_TASK_NONE) {
		const struct ftr_task_node *node = &view->tree->nodes.v[at];

		put_task(view, node, before);
		indent_push(view, node);
		at = tree_next(view, at, &before);
	}
	ftr_ostream_putc(view->out, '\n');
}

static int parse_fields(const struct ftr_graph_task_opts *opts, bool has_syscalls, uint64_t *mask,
			struct ftr_err *err)
{
	*mask = FTR_BIT64(COLUMN_TOTAL) | FTR_BIT64(COLUMN_SELF) | FTR_BIT64(COLUMN_TID);
	if (has_syscalls)
		*mask |= FTR_BIT64(COLUMN_EXIT) | FTR_BIT64(COLUMN_COMMAND);
	return ftr_fields_parse(names, opts->fields, mask, err);
}

int ftr_graph_task_check_fields(const struct ftr_graph_task_opts *opts, struct ftr_err *err)
{
	uint64_t mask;

	return parse_fields(opts, false, &mask, err);
}

int ftr_graph_task_print(const struct ftr_task_tree *tree, const struct ftr_graph_task_opts *opts,
			 struct ftr_ostream *out, struct ftr_err *err)
{
	struct view view = { .tree = tree, .out = out, .use_color = opts->use_color };
	int ret = parse_fields(opts, tree->has_syscalls, &view.mask, err);

	if (ret < 0)
		return ret;
	if (tree->first_root == FTR_TASK_NONE)
		return -ENOENT;
	ftr_strbuf_init(&view.indent);
	put_tree(&view);
	if (view.indent.failed)
		ret = ftr_err_set(err, ENOMEM, "graph: out of memory");
	ftr_strbuf_fini(&view.indent);
	return ret;
}

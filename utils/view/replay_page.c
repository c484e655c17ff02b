/* SPDX-License-Identifier: MIT */
/* The lines of replay: where each begins, by its task and depth, and those that are comments. */
#include "utils/view/replay_page.h"

#include "utils/base/color.h"
#include "utils/base/text.h"
#include "utils/trace/event.h"
#include "utils/trace/task.h"
#include "utils/view/replay.h"

#include <errno.h>
#include <string.h>

#define INDENT_MAX  1024	/* deeper lines have the number of their level instead */
#define DEPTH_BYTES 16

int replay_page_out_of_memory(struct replay_page *page)
{
	return ftr_err_set(page->err, ENOMEM, "replay: out of memory");
}

struct replay_task *replay_page_task_slow(struct replay_page *page, const struct ftr_task *task)
{
	if (ftr_vec_reach(&page->tasks, task->id) < 0)
		return NULL;
	replay_tid_text(page->tasks.v[task->id].tid_text, task->tid);
	return &page->tasks.v[task->id];
}

static void first_line_of_task(struct replay_page *page, struct replay_task *view,
			       struct replay_line *line)
{
	view->is_seen = true;
	view->column = page->columns++;
	line->delta_ns = 0;
}

/* Blanks in front of what stands at @depth. */
static size_t indent_of(uint32_t depth)
{
	return (size_t)(depth < INDENT_MAX ? depth : INDENT_MAX) * 2;
}

/* "[2000]" in front of what stands so deep that it is not indented any further. */
static char *put_depth(char *p, uint32_t depth)
{
	if (__builtin_expect(depth <= INDENT_MAX, 1))
		return p;
	*p++ = '[';
	p = ftr_fmt_u64(p, depth);
	*p++ = ']';
	return p;
}

char *replay_page_begin(struct replay_page *page, struct replay_line *line, uint32_t depth,
			size_t bytes)
{
	struct replay_task *view = replay_page_task(page, line->task);
	size_t indent = indent_of(depth);
	char *p;

	if (view == NULL)
		return NULL;
	line->tid_text = view->tid_text;
	line->delta_ns = line->time_ns - view->last_ns;
	line->elapsed_ns = line->time_ns > page->first_ns ? line->time_ns - page->first_ns : 0;
	if (!view->is_seen)
		first_line_of_task(page, view, line);
	view->last_ns = line->time_ns;
	if (page->opts->is_column_view)
		indent += (size_t)view->column * page->opts->column_offset * 2;
	if (page->opts->has_task_newline && page->last_task != NULL &&
	    page->last_task != line->task)
		replay_layout_put_blank(&page->layout);
	page->last_task = line->task;
	p = replay_line_begin(&page->layout, line, indent, bytes + DEPTH_BYTES);
	return p == NULL ? NULL : put_depth(p, depth);
}

int replay_page_put_remark(struct replay_page *page, struct replay_line *line, uint32_t depth,
			   const char *name, struct ftr_slice data)
{
	size_t name_len = strlen(name);
	bool use_color = page->opts->use_color;
	char *p;

	/*
	 * The colour covers the indent too, and the two halves of the comment are coloured apart.
	 */
	p = replay_page_begin(page, line, use_color ? 0 : depth,
		  name_len + data.len + 64 + indent_of(depth) + DEPTH_BYTES);
	if (p == NULL)
		return replay_page_out_of_memory(page);
	if (use_color) {
		p = replay_put(p, FTR_SGR_GREEN, sizeof(FTR_SGR_GREEN) - 1);
		memset(p, ' ', indent_of(depth));
		p = put_depth(p + indent_of(depth), depth);
	}
	p = replay_put(p, "/* ", 3);
	if (use_color)
		p = replay_put(p, FTR_SGR_RESET FTR_SGR_GREEN, 9);
	p = replay_put(p, name, name_len);
	if (data.len > 0) {
		if (use_color)
			p = replay_put(p, FTR_SGR_RESET FTR_SGR_GREEN, 9);
		p = replay_put(p, " (", 2);
		p = replay_put(p, data.s, data.len);
		*p++ = ')';
	}
	if (use_color)
		p = replay_put(p, FTR_SGR_RESET FTR_SGR_GREEN, 9);
	p = replay_put(p, " */\n", 4);
	if (use_color)
		p = replay_put(p, FTR_SGR_RESET, sizeof(FTR_SGR_RESET) - 1);
	replay_line_end(&page->layout, p);
	return 0;
}

/* Its colour begins at the bar. */
int replay_page_put_lost(struct replay_page *page, const struct ftr_event *ev)
{
	struct replay_line line = { .task = ev->task, .time_ns = ev->time_ns };
	size_t indent = indent_of(ev->depth + 1);
	bool use_color = page->opts->use_color;
	char count[24];
	char *p = replay_page_begin(page, &line, 0, indent + 80 + DEPTH_BYTES);

	if (p == NULL)
		return replay_page_out_of_memory(page);
	if (use_color)
		p = replay_put(p, FTR_SGR_RED, sizeof(FTR_SGR_RED) - 1);
	memset(p, ' ', indent);
	p = put_depth(p + indent, ev->depth + 1);
	p = replay_put(p, "/* LOST ", 8);
	if (ev->lost.nr > 0)
		p = replay_put(p, count, (size_t)(ftr_fmt_u64(count, ev->lost.nr) - count));
	else
		p = replay_put(p, "some", 4);
	p = replay_put(p, " records!! */\n", 14);
	if (use_color)
		p = replay_put(p, FTR_SGR_RESET, sizeof(FTR_SGR_RESET) - 1);
	replay_line_end(&page->layout, p);
	return 0;
}

void replay_page_fini(struct replay_page *page)
{
	replay_layout_fini(&page->layout);
	ftr_vec_fini(&page->tasks);
}

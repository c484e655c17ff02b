/* SPDX-License-Identifier: MIT */
/* The browser's pages of plain lines: info, sessions, help. */
#include "utils/view/tui_page.h"

#include "utils/analysis/graph.h"
#include "utils/base/ostream.h"
#include "utils/base/duration.h"
#include "utils/base/vec.h"
#include "utils/trace/session.h"
#include "utils/view/info.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct text_page {
	struct tui_page base;
	char *text;		/* (owned) the title, then where the lines point to */
	FTR_VEC(const char *) lines;
};

static const struct text_page *text_of(const struct tui_page *page)
{
	return (const struct text_page *)page;
}

static size_t text_row_nr(const struct tui_page *page)
{
	return text_of(page)->lines.nr;
}

static void text_put_title(const struct tui_page *page, struct ftr_ostream *out)
{
	ftr_ostream_puts(out, text_of(page)->text);
}

static void text_put_head(const struct tui_page *page, struct ftr_ostream *out)
{
}

static const char *text_label(const struct tui_page *page, size_t row)
{
	return text_of(page)->lines.v[row];
}

static void text_put_row(const struct tui_page *page, size_t row, struct ftr_ostream *out)
{
	ftr_ostream_puts(out, text_of(page)->lines.v[row]);
}

static void text_free(struct tui_page *page)
{
	struct text_page *self = (struct text_page *)page;

	free(self->text);
	ftr_vec_fini(&self->lines);
	free(self);
}

static const struct tui_page_ops text_ops = {
	.row_nr	   = text_row_nr,
	.put_title = text_put_title,
	.put_head  = text_put_head,
	.put_row   = text_put_row,
	.label	   = text_label,
	.free	   = text_free,
};

static int lines_split(struct text_page *self)
{
	char *rest = self->text, *line;

	strsep(&rest, "\n");
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (rest == NULL && *line == '\0')	/* behind the last newline */
			break;
		if (ftr_vec_push(&self->lines, line) < 0)
			return -ENOMEM;
	}
	return 0;
}

struct tui_page *tui_text_page_new(char *text, struct ftr_err *err)
{
	struct text_page *self = calloc(1, sizeof(*self));

	if (self != NULL) {
		self->base.ops = &text_ops;
		self->text = text;
		if (text != NULL && lines_split(self) == 0)
			return &self->base;
		text_free(&self->base);
	} else {
		free(text);
	}
	ftr_err_set(err, ENOMEM, "out of memory");
	return NULL;
}

/* ---- the texts ---- */

/* What was written to memory; NULL = not all of it. */
static char *take_text(struct ftr_ostream *out)
{
	char *text;

	ftr_ostream_putc(out, '\0');
	text = out->code == 0 ? strdup(out->buf) : NULL;
	ftr_ostream_close(out, NULL);
	return text;
}

char *tui_info_text(const struct ftr_trace *trace)
{
	struct ftr_ostream out;

	if (ftr_ostream_to_memory(&out) < 0)
		return NULL;
	ftr_ostream_puts(&out, "info\n");
	ftr_info_print(trace, &out);
	ftr_info_print_tasks(trace, &out);
	return take_text(&out);
}

static void put_session(struct ftr_ostream *out, const struct ftr_graph *graph, size_t root)
{
	const struct ftr_session *session = graph->roots.v[root].session;
	const struct ftr_graph_node *node = &graph->nodes.v[graph->roots.v[root].node];
	char text[FTR_DURATION_BYTES];

	*ftr_duration_put(text, node->total_ns, false) = '\0';
	ftr_ostream_printf(out, "  #%-4zu %s  %s", root + 1, text, node->name);
	if (session != NULL)
		ftr_ostream_printf(out, "  (process %d, session %s)", session->pid, session->sid);
	ftr_ostream_putc(out, '\n');
}

char *tui_sessions_text(const struct ftr_graph *graph)
{
	struct ftr_ostream out;

	if (ftr_ostream_to_memory(&out) < 0)
		return NULL;
	ftr_ostream_puts(&out, "sessions: Enter shows the calls of one\n");
	for (size_t i = 0; i < graph->roots.nr; i++)
		put_session(&out, graph, i);
	return take_text(&out);
}

char *tui_help_text(void)
{
	return strdup(
		"help\n"
		"  G            the tree of all calls\n"
		"  g, Enter     on a function of the report: who called it, and what it called\n"
		"  R            the report: how often functions were called, and how long\n"
		"  T            the timeline: how busy each task was when\n"
		"  I            info: the machine, program, recording and tasks\n"
		"  S            the sessions; Enter shows the calls of one\n"
		"  h, ?         this help, and back\n"
		"  Escape       back to where this page was entered from\n"
		"  q            quit\n"
		"\n"
		"  Up Down j k PgUp PgDn Home End    move; Left Right: to what is cut off\n"
		"  z            put the selected line into the middle\n"
		"  /            search; N or >, P or <: the next and the previous one\n"
		"  f            choose the columns, as -f of graph and report does\n"
		"  s            choose the order, as -s does\n"
		"  F            choose what is shown, by options: -F FUNC, -N FUNC, -t 1ms, -D 3,\n"
		"               -r 1ms~2ms, --tid 12 ..., beside those of the command line\n"
		"  O            open the source of the function in $EDITOR\n"
		"\n"
		"With a mouse: the wheel scrolls, a press selects, a double one is Enter, one on a\n"
		"heading of the report sorts, the right button is Escape; Shift selects text.\n"
		"\n"
		"In a tree:\n"
		"  Enter        fold and unfold what the function called: [+3] hides three\n"
		"  c e          fold, unfold what the function called directly\n"
		"  C E          fold, unfold all below\n"
		"  n p u        the next, the previous callee of its caller; the caller\n"
		"  l            the callee that took longest\n"
		"\n"
		"On the timeline, where blank . : + # is none up to all of the time of a column:\n"
		"  Left Right   the column that the last line tells of\n"
		"  + - 0        zoom in and out around it; all of the time\n"
		"  / N P        the next, the previous column that a function takes most of\n"
		"  Enter        show only what is in this time, on all pages, as by F -r\n");
}

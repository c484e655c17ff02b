/* SPDX-License-Identifier: MIT */
/*
 * The browser of a trace, without its terminal: what keys do, and the lines of the screen.  It
 * shows the tree of graph, the table of report, a timeline, info and the sessions; whatever it
 * needs to know of the trace it asks of its caller.
 */
#ifndef FTR_VIEW_TUI_H
#define FTR_VIEW_TUI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"

struct ftr_graph;
struct ftr_stats;
struct ftr_timeline;
struct ftr_trace;
struct ftr_tui;

/* Keys that are no characters. */
enum ftr_tui_key {
	FTR_TUI_ENTER = '\n',
	FTR_TUI_CLEAR = 'U' & 0x1f,	/* Ctrl-U */
	FTR_TUI_ESCAPE = 0x1b,
	FTR_TUI_UP = 0x110000,		/* beyond Unicode */
	FTR_TUI_DOWN,
	FTR_TUI_LEFT,
	FTR_TUI_RIGHT,
	FTR_TUI_PAGE_UP,
	FTR_TUI_PAGE_DOWN,
	FTR_TUI_HOME,
	FTR_TUI_END,
	FTR_TUI_BACKSPACE,
};

/* Where the browser gets data from.  Each returns 0, or -errno with a description in @err. */
struct ftr_tui_source {
	/* Valid until select succeeds; the same at each call until then. */
	const struct ftr_trace *(*trace)(void *arg);
	int (*graph)(void *arg, struct ftr_graph **graph, struct ftr_err *err);	/* with details */
	/* With all that columns may need. */
	int (*stats)(void *arg, const struct ftr_stats **stats, struct ftr_err *err);
	/* From @from_ns to before @to_ns; valid until the next one, or select, succeeds. */
	int (*timeline)(void *arg, uint64_t from_ns, uint64_t to_ns, size_t cell_nr,
			const struct ftr_timeline **timeline, struct ftr_err *err);
	/* Show what these options let through, too; when it fails, all is as it was before. */
	int (*select)(void *arg, const char *options, struct ftr_err *err);
	int (*edit)(void *arg, const char *file, uint32_t line, struct ftr_err *err);
	void *arg;
};

/* NULL: a failure, described.  @source is borrowed. */
struct ftr_tui *ftr_tui_new(const struct ftr_tui_source *source, struct ftr_err *err);
void ftr_tui_free(struct ftr_tui *tui);

/* The screen; at first 24 rows of 80 columns. */
void ftr_tui_resize(struct ftr_tui *tui, unsigned rows, unsigned columns);
/* False: the user leaves. */
bool ftr_tui_key(struct ftr_tui *tui, int key);

enum ftr_tui_button {
	FTR_TUI_SELECT,		/* the first press at a place */
	FTR_TUI_SELECT_AGAIN,	/* and one that follows it at once: a double click */
	FTR_TUI_BACK,
	FTR_TUI_WHEEL_UP,
	FTR_TUI_WHEEL_DOWN,
};

/* @row and @column, of the screen, count from 0.  As above. */
bool ftr_tui_mouse(struct ftr_tui *tui, enum ftr_tui_button button, unsigned row, unsigned column);

enum ftr_tui_style {
	FTR_TUI_PLAIN,
	FTR_TUI_HEAD,
	FTR_TUI_SELECTED,
};

/* One line of the screen, without its first @shift columns. */
struct ftr_tui_line {
	unsigned row;
	enum ftr_tui_style style;
	unsigned shift;
	const char *text;	/* (borrowed until put returns) may hold any bytes but NUL */
};

/* Each row of the screen once, from the top. */
typedef void ftr_tui_put_fn(void *arg, const struct ftr_tui_line *line);
void ftr_tui_draw(struct ftr_tui *tui, ftr_tui_put_fn *put, void *arg);

#endif /* FTR_VIEW_TUI_H */

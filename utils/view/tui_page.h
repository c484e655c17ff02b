/* SPDX-License-Identifier: MIT */
/* A page of the browser: rows of which one is selected. */
#ifndef FTR_VIEW_TUI_PAGE_H
#define FTR_VIEW_TUI_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"

struct ftr_graph;
struct ftr_ostream;
struct ftr_stats;
struct ftr_trace;
struct ftr_tui_source;
struct tui_page;

struct tui_page_ops {
	size_t (*row_nr)(const struct tui_page *page);
	void (*put_title)(const struct tui_page *page, struct ftr_ostream *out);
	void (*put_head)(const struct tui_page *page, struct ftr_ostream *out);
	void (*put_row)(const struct tui_page *page, size_t row, struct ftr_ostream *out);
	/* What search looks at; never NULL. */
	const char *(*label)(const struct tui_page *page, size_t row);
	/* (nullable) The function that the row is about, or NULL. */
	const char *(*func)(const struct tui_page *page, size_t row);
	/* (nullable) False: the key means nothing here.  Out of memory is in @err. */
	bool (*key)(struct tui_page *page, int key, struct ftr_err *err);
	/* (nullable) As -f and -s, @text "": the default.  0 or -errno. */
	int (*set_fields)(struct tui_page *page, const char *text, struct ftr_err *err);
	int (*set_sort)(struct tui_page *page, const char *text, struct ftr_err *err);
	/* (nullable) What the heading at @column of the page sorts by; NULL: there is none. */
	const char *(*sort_key)(const struct tui_page *page, size_t column);
	/* (nullable) Of the last line, instead of which row is selected. */
	void (*put_status)(const struct tui_page *page, struct ftr_ostream *out);
	/* (nullable) Go to the next place in the row, not to a row; false: there is none. */
	bool (*search)(struct tui_page *page, const char *text, bool goes_back);
	/* (nullable) A press at @column of the page, whose row is selected: it is no Enter. */
	void (*point)(struct tui_page *page, size_t column);
	/* (nullable) Before it is drawn.  0 or -errno: it is as it was. */
	int (*set_width)(struct tui_page *page, unsigned columns, struct ftr_err *err);
	void (*free)(struct tui_page *page);
};

struct tui_page {
	const struct tui_page_ops *ops;
	size_t at;		/* the selected row */
	size_t top;		/* the first one on the screen */
	unsigned shift;		/* columns to the left of the screen */
};

/* NULL: a failure, described.  What they show is borrowed. */
struct tui_page *tui_graph_page_new(struct ftr_graph *graph, struct ftr_err *err);
/* The lines of callers that led to a function, and the tree below it; ENOENT: it was not called. */
struct tui_page *tui_focus_page_new(const struct ftr_graph *whole, const char *func,
				    struct ftr_err *err);
struct tui_page *tui_report_page_new(const struct ftr_stats *stats, struct ftr_err *err);
/* Of what the source reads when it is asked for a part of the time. */
struct tui_page *tui_timeline_page_new(const struct ftr_tui_source *source, unsigned columns,
				       struct ftr_err *err);
/* @text (taken): its lines, the first one being the title. */
struct tui_page *tui_text_page_new(char *text, struct ftr_err *err);

/* @body: rows of the screen for those of the page, 1 or more. */
/* False: the key does not move. */
bool tui_move_key(struct tui_page *page, int key, size_t body);
/* By @nr rows, as far as there are more; one on the screen is selected then. */
void tui_scroll_by(struct tui_page *page, size_t nr, bool is_up, size_t body);
/* As little as puts it on the screen. */
void tui_scroll_to_selected(struct tui_page *page, size_t body);

/* Of a timeline: what it shows, up to before *to_ns. */
void tui_timeline_range(const struct tui_page *page, uint64_t *from_ns, uint64_t *to_ns);
/* Of a page of a whole graph: select its @root, by index. */
void tui_graph_page_select_root(struct tui_page *page, size_t root);

/* (owned) Texts for tui_text_page_new; NULL = out of memory. */
char *tui_info_text(const struct ftr_trace *trace);
char *tui_sessions_text(const struct ftr_graph *graph);
char *tui_help_text(void);

#endif /* FTR_VIEW_TUI_PAGE_H */

/* SPDX-License-Identifier: MIT */
/* The browser: which page is shown, searching, the mouse, and asking for a line of text. */
#include "utils/view/tui.h"

#include "utils/analysis/graph.h"
#include "utils/base/ostream.h"
#include "utils/base/strbuf.h"
#include "utils/trace/func.h"
#include "utils/trace/trace.h"
#include "utils/view/tui_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_ABOVE   2		/* title and head */
#define ROWS_AROUND  3		/* and status */
#define ROWS_DEFAULT 24
#define COLUMNS_DEFAULT 80
#define WHEEL_STEP   3
#define RANGE_OPTION " -r "	/* of what Enter on the timeline adds, at the end */
#define NS_PER_S     UINT64_C(1000000000)

enum page_id {
	PAGE_GRAPH,
	PAGE_FOCUS,
	PAGE_REPORT,
	PAGE_TIMELINE,
	PAGE_INFO,
	PAGE_SESSIONS,
	PAGE_HELP,
	PAGES
};

struct prompt;

struct ftr_tui {
	const struct ftr_tui_source *source;	/* (borrowed) */
	struct tui_page *pages[PAGES];	/* (owned, nullable) made when they are first shown */
	enum page_id shown;
	enum page_id came_from[PAGES];	/* where back leads; itself: nowhere */
	bool was_entered;		/* the last press did what Enter does */
	unsigned rows, columns;
	const struct prompt *prompt;	/* (nullable) what is asked for */
	struct ftr_strbuf input;	/* the answer so far */
	char *searched;			/* (owned, nullable) */
	char *selection;		/* (owned, nullable) the options of F */
	struct ftr_err message;		/* in the last line; code 0: no message */
};

static struct tui_page *page_of(const struct ftr_tui *tui)
{
	return tui->pages[tui->shown];
}

static void say(struct ftr_tui *tui, const char *text)
{
	ftr_err_set(&tui->message, EINVAL, "%s", text);
}

/* ---- pages ---- */

static void page_drop(struct ftr_tui *tui, enum page_id id)
{
	if (tui->pages[id] != NULL)
		tui->pages[id]->ops->free(tui->pages[id]);
	tui->pages[id] = NULL;
}

static struct tui_page *report_make(struct ftr_tui *tui, struct ftr_err *err)
{
	const struct ftr_stats *stats;

	if (tui->source->stats(tui->source->arg, &stats, err) < 0)
		return NULL;
	return tui_report_page_new(stats, err);
}

static struct tui_page *page_make(struct ftr_tui *tui, enum page_id id, struct ftr_err *err)
{
	struct ftr_graph *graph;

	if (id == PAGE_HELP)
		return tui_text_page_new(tui_help_text(), err);
	if (id == PAGE_INFO)
		return tui_text_page_new(tui_info_text(tui->source->trace(tui->source->arg)), err);
	if (id == PAGE_REPORT)
		return report_make(tui, err);
	if (id == PAGE_TIMELINE)
		return tui_timeline_page_new(tui->source, tui->columns, err);
	if (tui->source->graph(tui->source->arg, &graph, err) < 0)
		return NULL;
	return id == PAGE_SESSIONS ? tui_text_page_new(tui_sessions_text(graph), err) :
				     tui_graph_page_new(graph, err);
}

/* Of those that are made without a further word. */
static bool page_show(struct ftr_tui *tui, enum page_id id)
{
	if (tui->pages[id] == NULL)
		tui->pages[id] = page_make(tui, id, &tui->message);
	if (tui->pages[id] == NULL)
		return false;
	tui->shown = id;
	return true;
}

static const char *selected_func(const struct tui_page *page)
{
	if (page->ops->func == NULL || page->ops->row_nr(page) == 0)
		return NULL;
	return page->ops->func(page, page->at);
}

static void focus_show(struct ftr_tui *tui)
{
	const char *func = selected_func(page_of(tui));
	struct tui_page *page;
	struct ftr_graph *graph;

	if (func == NULL) {
		say(tui, "no function is selected");
		return;
	}
	if (tui->source->graph(tui->source->arg, &graph, &tui->message) < 0)
		return;
	page = tui_focus_page_new(graph, func, &tui->message);
	if (page == NULL)
		return;
	page_drop(tui, PAGE_FOCUS);
	tui->pages[PAGE_FOCUS] = page;
	if (tui->shown != PAGE_FOCUS)
		tui->came_from[PAGE_FOCUS] = tui->shown;
	tui->shown = PAGE_FOCUS;
}

static void session_show(struct ftr_tui *tui)
{
	size_t root = page_of(tui)->at;

	if (page_show(tui, PAGE_GRAPH)) {
		tui_graph_page_select_root(page_of(tui), root);
		page_of(tui)->top = page_of(tui)->at;
		tui->came_from[PAGE_GRAPH] = PAGE_SESSIONS;
	}
}

/* The page of a function is gone when what is shown was chosen anew meanwhile. */
static void go_back(struct ftr_tui *tui)
{
	enum page_id id = tui->came_from[tui->shown];

	page_show(tui, id == PAGE_FOCUS && tui->pages[id] == NULL ? PAGE_GRAPH : id);
}

static void help_toggle(struct ftr_tui *tui)
{
	enum page_id shown = tui->shown;

	if (shown == PAGE_HELP)
		go_back(tui);
	else if (page_show(tui, PAGE_HELP))
		tui->came_from[PAGE_HELP] = shown;
}

static size_t body_rows(const struct ftr_tui *tui)
{
	return tui->rows > ROWS_AROUND ? tui->rows - ROWS_AROUND : 1;
}

/* ---- searching ---- */

static bool is_found(const struct ftr_tui *tui, const struct tui_page *page, size_t row)
{
	return strstr(page->ops->label(page, row), tui->searched) != NULL;
}

static void search(struct ftr_tui *tui, bool goes_back)
{
	struct tui_page *page = page_of(tui);
	size_t nr = page->ops->row_nr(page), row = page->at, found = 0, number = 0;

	if (tui->searched == NULL) {
		say(tui, "nothing was searched for yet; / searches");
		return;
	}
	if (page->ops->search != NULL) {
		if (!page->ops->search(page, tui->searched, goes_back))
			ftr_err_set(&tui->message, EINVAL,
				    "/%s: not in what takes most of any column here",
				    tui->searched);
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		row = (goes_back ? row + nr - 1 : row + 1) % nr;
		if (is_found(tui, page, row))
			break;
	}
	for (size_t i = 0; i < nr; i++) {
		found += is_found(tui, page, i);
		number = i == row ? found : number;
	}
	if (found > 0)
		page->at = row;
	if (found > 0)
		ftr_err_set(&tui->message, EINVAL, "/%s: %zu of %zu", tui->searched, number, found);
	else
		ftr_err_set(&tui->message, EINVAL, "/%s: not in any line here", tui->searched);
}

/* ---- a line of text that is asked for ---- */

struct prompt {
	int key;
	const char *label;
	/* (nullable) What the line begins with; NULL: it is empty. */
	const char *(*begin)(const struct ftr_tui *tui);
	void (*take)(struct ftr_tui *tui, const char *text);
};

static void take_search(struct ftr_tui *tui, const char *text)
{
	char *copy = *text == '\0' ? NULL : strdup(text);

	if (copy == NULL)
		return;
	free(tui->searched);
	tui->searched = copy;
	search(tui, false);
}

static void take_fields(struct ftr_tui *tui, const char *text)
{
	struct tui_page *page = page_of(tui);

	if (page->ops->set_fields == NULL)
		say(tui, "this page has no columns to choose; graph (G) and report (R) have");
	else
		page->ops->set_fields(page, text, &tui->message);
}

static void take_sort(struct ftr_tui *tui, const char *text)
{
	struct tui_page *page = page_of(tui);

	if (page->ops->set_sort == NULL)
		say(tui, "this page has no order to choose; graph (G) and report (R) have");
	else
		page->ops->set_sort(page, text, &tui->message);
}

/* All pages are of the former data, but those that are made anew. */
static void take_selection(struct ftr_tui *tui, const char *text)
{
	enum page_id shown = tui->shown == PAGE_FOCUS ? PAGE_GRAPH : tui->shown;
	char *copy = strdup(text);

	if (copy == NULL ||
	    tui->source->select(tui->source->arg, copy, &tui->message) < 0) {
		free(copy);
		return;
	}
	free(tui->selection);
	tui->selection = copy;
	for (int id = 0; id < PAGES; id++)
		page_drop(tui, (enum page_id)id);
	if (!page_show(tui, shown))
		page_show(tui, PAGE_HELP);
}

/* The range that Enter added at the end; NULL: there is none. */
static const char *range_find(const char *selection)
{
	const char *found = NULL;

	for (const char *at = selection; (at = strstr(at, RANGE_OPTION)) != NULL; at++)
		found = at;
	return found == NULL || strchr(found + strlen(RANGE_OPTION), ' ') != NULL ? NULL : found;
}

/* What the timeline shows becomes the range of time of all pages, instead of a former one. */
static void take_range(struct ftr_tui *tui)
{
	const char *selection = tui->selection == NULL ? "" : tui->selection;
	const char *former = range_find(selection);
	struct ftr_strbuf text;
	uint64_t from_ns, to_ns;

	ftr_strbuf_init(&text);
	tui_timeline_range(page_of(tui), &from_ns, &to_ns);
	ftr_strbuf_printf(&text, "%.*s%s%" PRIu64 ".%09" PRIu64 "~%" PRIu64 ".%09" PRIu64,
			  (int)(former == NULL ? strlen(selection) : (size_t)(former - selection)),
			  selection, RANGE_OPTION, from_ns / NS_PER_S, from_ns % NS_PER_S,
			  (to_ns - 1) / NS_PER_S, (to_ns - 1) % NS_PER_S);
	take_selection(tui, ftr_strbuf_str(&text));
	ftr_strbuf_fini(&text);
}

static const char *selection_of(const struct ftr_tui *tui)
{
	return tui->selection;
}

static const struct prompt prompts[] = {
	{ '/', "search: ", NULL, take_search },
	{ 'f', "fields (as -f; none: the default): ", NULL, take_fields },
	{ 's', "sort by (as -s; none: the default): ", NULL, take_sort },
	{ 'F', "options: ", selection_of, take_selection },
};

static bool prompt_begin(struct ftr_tui *tui, int key)
{
	for (size_t i = 0; i < sizeof(prompts) / sizeof(prompts[0]); i++) {
		const struct prompt *prompt = &prompts[i];
		const char *text = prompt->begin == NULL ? NULL : prompt->begin(tui);

		if (prompt->key != key)
			continue;
		tui->prompt = prompt;
		ftr_strbuf_clear(&tui->input);
		ftr_strbuf_puts(&tui->input, text == NULL ? "" : text);
		return true;
	}
	return false;
}

/* The last character, with all of its bytes. */
static void input_shorten(struct ftr_strbuf *input)
{
	while (input->len > 0 && ((unsigned char)input->s[input->len - 1] & 0xc0) == 0x80)
		input->len--;
	input->len -= input->len > 0;
	if (input->s != NULL)
		input->s[input->len] = '\0';
}

static void prompt_key(struct ftr_tui *tui, int key)
{
	const struct prompt *prompt = tui->prompt;

	if (key == FTR_TUI_ENTER) {
		tui->prompt = NULL;
		prompt->take(tui, ftr_strbuf_str(&tui->input));
	} else if (key == FTR_TUI_ESCAPE) {
		tui->prompt = NULL;
	} else if (key == FTR_TUI_CLEAR) {
		ftr_strbuf_clear(&tui->input);
	} else if (key == FTR_TUI_BACKSPACE) {
		input_shorten(&tui->input);
	} else if (key >= ' ' && key <= 0xff) {
		ftr_strbuf_putc(&tui->input, (char)key);
	}
}

/* ---- keys ---- */

static void edit(struct ftr_tui *tui)
{
	const char *name = selected_func(page_of(tui));
	const struct ftr_trace *trace = tui->source->trace(tui->source->arg);

	for (size_t i = 0; name != NULL && i < trace->funcs.nr; i++) {
		const struct ftr_func *func = trace->funcs.v[i];

		if (func->src_file == NULL || strcmp(func->name, name) != 0)
			continue;
		tui->source->edit(tui->source->arg, func->src_file, func->src_line, &tui->message);
		return;
	}
	say(tui, name == NULL ? "no function is selected" :
				"the trace does not say where it is in the source; record --srcline "
				"does");
}

/* False: the key shows no other page. */
static bool page_key(struct ftr_tui *tui, int key)
{
	static const struct { int key; enum page_id id; } rows[] = {
		{ 'G', PAGE_GRAPH }, { 'R', PAGE_REPORT },
		{ 'T', PAGE_TIMELINE }, { 'I', PAGE_INFO }, { 'S', PAGE_SESSIONS },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].key != key)
			continue;
		tui->came_from[rows[i].id] = rows[i].id;
		page_show(tui, rows[i].id);
		return true;
	}
	if (key == 'h' || key == '?')
		help_toggle(tui);
	else if (key == FTR_TUI_ESCAPE)
		go_back(tui);
	else if (key == FTR_TUI_ENTER && tui->shown == PAGE_SESSIONS)
		session_show(tui);
	else if (key == FTR_TUI_ENTER && tui->shown == PAGE_TIMELINE)
		take_range(tui);
	else if (key == 'g' || (key == FTR_TUI_ENTER && selected_func(page_of(tui)) != NULL))
		focus_show(tui);
	else
		return false;
	return true;
}

bool ftr_tui_key(struct ftr_tui *tui, int key)
{
	struct tui_page *page = page_of(tui);

	tui->message.code = 0;
	if (page == NULL)		/* there was no memory for any */
		return false;
	if (tui->prompt != NULL) {
		prompt_key(tui, key);
		return true;
	}
	if (key == 'q')
		return false;
	if (page->ops->key != NULL && page->ops->key(page, key, &tui->message))
		return true;
	if (tui_move_key(page, key, body_rows(tui)) || prompt_begin(tui, key))
		return true;
	if (page_key(tui, key))
		return true;
	if (key == 'N' || key == '>' || key == 'P' || key == '<')
		search(tui, key == 'P' || key == '<');
	else if (key == 'O')
		edit(tui);
	else if (key >= ' ' && key < 0x7f)
		ftr_err_set(&tui->message, EINVAL, "%c does nothing here; h shows the keys", key);
	return true;
}

/* ---- the mouse ---- */

static void sort_by_heading(struct ftr_tui *tui, size_t column)
{
	struct tui_page *page = page_of(tui);
	const char *key = page->ops->sort_key == NULL ? NULL : page->ops->sort_key(page, column);

	if (key != NULL)
		page->ops->set_sort(page, key, &tui->message);
}

/* A press on the selected row enters it, so of a double click on that only one does. */
static void press(struct ftr_tui *tui, size_t row, size_t column, bool is_again)
{
	struct tui_page *page = page_of(tui);
	bool was_entered = is_again && tui->was_entered;

	tui->was_entered = false;
	if (row >= page->ops->row_nr(page) || was_entered)
		return;
	if (page->ops->point != NULL) {
		page->at = row;
		page->ops->point(page, column);
		return;
	}
	tui->was_entered = row == page->at;
	if (tui->was_entered)
		ftr_tui_key(tui, FTR_TUI_ENTER);
	else
		page->at = row;
}

bool ftr_tui_mouse(struct ftr_tui *tui, enum ftr_tui_button button, unsigned row, unsigned column)
{
	struct tui_page *page = page_of(tui);

	if (button == FTR_TUI_BACK)
		return ftr_tui_key(tui, FTR_TUI_ESCAPE);
	if (page == NULL || tui->prompt != NULL)
		return page != NULL;
	tui->message.code = 0;
	if (button == FTR_TUI_WHEEL_UP || button == FTR_TUI_WHEEL_DOWN)
		tui_scroll_by(page, WHEEL_STEP, button == FTR_TUI_WHEEL_UP, body_rows(tui));
	else if (row == 1 && row + 1 < tui->rows)
		sort_by_heading(tui, column + (size_t)page->shift);
	else if (row >= ROWS_ABOVE && row + 1 < tui->rows)
		press(tui, page->top + row - ROWS_ABOVE, column + (size_t)page->shift,
		      button == FTR_TUI_SELECT_AGAIN);
	return true;
}

/* ---- the screen ---- */

static void put_status(const struct ftr_tui *tui, struct ftr_ostream *out)
{
	const struct tui_page *page = page_of(tui);
	size_t nr = page->ops->row_nr(page);

	if (tui->prompt != NULL) {
		ftr_ostream_puts(out, tui->prompt->label);
		ftr_ostream_puts(out, ftr_strbuf_str(&tui->input));
	} else if (tui->message.code != 0) {
		ftr_ostream_write(out, tui->message.text, strcspn(tui->message.text, "\n"));
	} else if (page->ops->put_status != NULL) {
		page->ops->put_status(page, out);
	} else {
		ftr_ostream_printf(out, "%zu/%zu  h help  q quit  / search  G graph  R report",
				   nr == 0 ? 0 : page->at + 1, nr);
		if (tui->selection != NULL && *tui->selection != '\0')
			ftr_ostream_printf(out, "  F %s", tui->selection);
	}
}

static void put_body_row(const struct ftr_tui *tui, size_t row, struct ftr_ostream *out)
{
	const struct tui_page *page = page_of(tui);

	if (row < page->ops->row_nr(page))
		page->ops->put_row(page, row, out);
}

void ftr_tui_draw(struct ftr_tui *tui, ftr_tui_put_fn *put, void *arg)
{
	struct tui_page *page = page_of(tui);
	unsigned rows = tui->rows;
	struct ftr_ostream out;

	if (page == NULL || ftr_ostream_to_memory(&out) < 0)
		return;
	if (page->ops->set_width != NULL)
		page->ops->set_width(page, tui->columns, &tui->message);
	tui_scroll_to_selected(page, body_rows(tui));
	for (unsigned i = 0; i < rows && out.code == 0; i++) {
		struct ftr_tui_line line = { .row = i, .shift = page->shift };

		out.len = 0;
		if (i + 1 == rows) {
			line.shift = 0;
			put_status(tui, &out);
		} else if (i == 0) {
			line.style = FTR_TUI_SELECTED;
			line.shift = 0;
			page->ops->put_title(page, &out);
		} else if (i == 1) {
			line.style = FTR_TUI_HEAD;
			page->ops->put_head(page, &out);
		} else {
			size_t row = page->top + i - ROWS_ABOVE;

			line.style = row == page->at ? FTR_TUI_SELECTED : FTR_TUI_PLAIN;
			put_body_row(tui, row, &out);
		}
		ftr_ostream_putc(&out, '\0');
		line.text = out.buf;
		put(arg, &line);
	}
	ftr_ostream_close(&out, NULL);
}

/* ---- all of it ---- */

struct ftr_tui *ftr_tui_new(const struct ftr_tui_source *source, struct ftr_err *err)
{
	struct ftr_tui *tui = calloc(1, sizeof(*tui));
	struct ftr_graph *graph;

	if (tui == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	tui->source = source;
	tui->rows = ROWS_DEFAULT;
	tui->columns = COLUMNS_DEFAULT;
	for (int id = 0; id < PAGES; id++)
		tui->came_from[id] = (enum page_id)id;
	ftr_strbuf_init(&tui->input);
	if (source->graph(source->arg, &graph, err) == 0 &&
	    page_show(tui, graph->roots.nr > 1 ? PAGE_SESSIONS : PAGE_GRAPH))
		return tui;
	if (tui->message.code != 0)
		*err = tui->message;
	ftr_tui_free(tui);
	return NULL;
}

void ftr_tui_free(struct ftr_tui *tui)
{
	for (int id = 0; id < PAGES; id++)
		page_drop(tui, (enum page_id)id);
	ftr_strbuf_fini(&tui->input);
	free(tui->searched);
	free(tui->selection);
	free(tui);
}

void ftr_tui_resize(struct ftr_tui *tui, unsigned rows, unsigned columns)
{
	tui->rows = rows;
	tui->columns = columns;
}

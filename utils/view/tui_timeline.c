/* SPDX-License-Identifier: MIT */
/*
 * The browser's page of time: a row for each task, whose characters say how busy it was in equal
 * parts of the time that is shown.
 */
#include "utils/view/tui_page.h"

#include "utils/analysis/timeline.h"
#include "utils/base/duration.h"
#include "utils/base/ostream.h"
#include "utils/trace/func.h"
#include "utils/trace/task.h"
#include "utils/view/tui.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_COLUMNS 17u	/* with the blank behind it */
#define CELLS_MIN     8u	/* of a narrow terminal; the others are cut off */
#define ZOOM	      4u
#define SHADES	      ".:+#"	/* a quarter each; a blank is no time at all */

struct timeline_page {
	struct tui_page base;
	const struct ftr_tui_source *source;	/* (borrowed) */
	const struct ftr_timeline *timeline;	/* (borrowed) of the source */
	uint64_t first_ns, end_ns;	/* of the trace */
	uint64_t from_ns, to_ns;	/* that is shown */
	size_t cell_nr;
	size_t cursor;
};

static struct timeline_page *timeline_of(struct tui_page *page)
{
	return (struct timeline_page *)page;
}

static const struct timeline_page *const_of(const struct tui_page *page)
{
	return (const struct timeline_page *)page;
}

/* 0, or -errno: all is as it was. */
static int show(struct timeline_page *self, uint64_t from_ns, uint64_t to_ns, size_t cell_nr,
		struct ftr_err *err)
{
	int ret = self->source->timeline(self->source->arg, from_ns, to_ns, cell_nr,
					 &self->timeline, err);

	if (ret < 0)
		return ret;
	self->from_ns = from_ns;
	self->to_ns = to_ns;
	self->cell_nr = cell_nr;
	return 0;
}

static size_t cells_of(unsigned columns)
{
	return columns > LABEL_COLUMNS + CELLS_MIN ? columns - LABEL_COLUMNS : CELLS_MIN;
}

static uint64_t time_at(const struct timeline_page *self, size_t cell)
{
	return self->from_ns + cell * self->timeline->width_ns;
}

static size_t timeline_row_nr(const struct tui_page *page)
{
	return const_of(page)->timeline->rows.nr;
}

static void put_ns(struct ftr_ostream *out, uint64_t ns)
{
	char text[FTR_DURATION_BYTES];

	*ftr_duration_put(text, ns, false) = '\0';
	ftr_ostream_puts(out, ns == 0 ? "0" : text + strspn(text, " "));
}

static void timeline_put_title(const struct tui_page *page, struct ftr_ostream *out)
{
	const struct timeline_page *self = const_of(page);

	ftr_ostream_printf(out, "timeline: %zu tasks, from ", timeline_row_nr(page));
	put_ns(out, self->from_ns - self->first_ns);
	ftr_ostream_puts(out, ", a column is ");
	put_ns(out, self->timeline->width_ns);
}

/* The cursor, in a row that is no task's. */
static void timeline_put_head(const struct tui_page *page, struct ftr_ostream *out)
{
	ftr_ostream_pad(out, ' ', LABEL_COLUMNS + const_of(page)->cursor);
	ftr_ostream_putc(out, 'v');
}

static char shade(const struct ftr_timeline_cell *cell, uint64_t width_ns)
{
	if (cell->busy_ns == 0)
		return ' ';
	return SHADES[(cell->busy_ns - 1) * (sizeof(SHADES) - 1) / width_ns];
}

static void timeline_put_row(const struct tui_page *page, size_t row, struct ftr_ostream *out)
{
	const struct timeline_page *self = const_of(page);
	const struct ftr_timeline_row *task = &self->timeline->rows.v[row];
	char tid[16];
	int tid_len = snprintf(tid, sizeof(tid), "%d", task->task->tid);

	ftr_ostream_printf(out, "%-*.*s %s ", (int)LABEL_COLUMNS - tid_len - 2,
			   (int)LABEL_COLUMNS - tid_len - 2, task->task->name, tid);
	for (size_t i = 0; i < self->cell_nr; i++)
		ftr_ostream_putc(out, shade(&task->cells[i], self->timeline->width_ns));
}

static const char *timeline_label(const struct tui_page *page, size_t row)
{
	return const_of(page)->timeline->rows.v[row].task->name;
}

/* Of what the cell of the cursor stands for: the time, how busy the task was, and in what. */
static void timeline_put_status(const struct tui_page *page, struct ftr_ostream *out)
{
	const struct timeline_page *self = const_of(page);
	const struct ftr_timeline_row *row;
	const struct ftr_timeline_cell *cell;

	put_ns(out, time_at(self, self->cursor) - self->first_ns);
	if (timeline_row_nr(page) == 0)
		return;
	row = &self->timeline->rows.v[page->at];
	cell = &row->cells[self->cursor];
	ftr_ostream_printf(out, "  %s %d  busy %.0f%%", row->task->name, row->task->tid,
			   100.0 * (double)cell->busy_ns / (double)self->timeline->width_ns);
	if (cell->busy_ns > 0)
		ftr_ostream_printf(out, "  depth %u", cell->depth_max);
	for (size_t i = 0; i < FTR_TIMELINE_SHARES && cell->shares[i].func != NULL; i++)
		ftr_ostream_printf(out, "%s %s %.0f%%", i == 0 ? " " : ",",
				   cell->shares[i].func->name,
				   100.0 * (double)cell->shares[i].self_ns /
				   (double)self->timeline->width_ns);
}

/* ---- keys ---- */

/* A part of the time as wide as @span_ns, with the cursor's in its middle where that fits. */
static void zoom(struct timeline_page *self, uint64_t span_ns, struct ftr_err *err)
{
	uint64_t all_ns = self->end_ns - self->first_ns;
	uint64_t at_ns = time_at(self, self->cursor) + self->timeline->width_ns / 2;
	uint64_t from_ns = self->first_ns;

	span_ns = span_ns < self->cell_nr ? self->cell_nr : span_ns;
	span_ns = span_ns > all_ns ? all_ns : span_ns;
	if (at_ns > self->end_ns)
		at_ns = self->end_ns;
	if (at_ns - self->first_ns > span_ns / 2)
		from_ns = at_ns - span_ns / 2;
	if (self->end_ns - from_ns < span_ns)
		from_ns = self->end_ns - span_ns;
	if (show(self, from_ns, from_ns + span_ns, self->cell_nr, err) < 0)
		return;
	self->cursor = (at_ns - from_ns) / self->timeline->width_ns;
	if (self->cursor >= self->cell_nr)
		self->cursor = self->cell_nr - 1;
}

static bool timeline_key(struct tui_page *page, int key, struct ftr_err *err)
{
	struct timeline_page *self = timeline_of(page);
	uint64_t span_ns = self->to_ns - self->from_ns;

	if (key == FTR_TUI_LEFT)
		self->cursor -= self->cursor > 0;
	else if (key == FTR_TUI_RIGHT)
		self->cursor += self->cursor + 1 < self->cell_nr;
	else if (key == '+')
		zoom(self, span_ns / ZOOM, err);
	else if (key == '-')
		zoom(self, span_ns > UINT64_MAX / ZOOM ? UINT64_MAX : span_ns * ZOOM, err);
	else if (key == '0')
		zoom(self, UINT64_MAX, err);
	else
		return false;
	return true;
}

static bool is_in_cell(const struct ftr_timeline_cell *cell, const char *text)
{
	for (size_t i = 0; i < FTR_TIMELINE_SHARES && cell->shares[i].func != NULL; i++)
		if (strstr(cell->shares[i].func->name, text) != NULL)
			return true;
	return false;
}

static bool timeline_search(struct tui_page *page, const char *text, bool goes_back)
{
	struct timeline_page *self = timeline_of(page);
	size_t nr = self->cell_nr, at = self->cursor;

	for (size_t i = 0; i < nr && timeline_row_nr(page) > 0; i++) {
		at = (goes_back ? at + nr - 1 : at + 1) % nr;
		if (!is_in_cell(&self->timeline->rows.v[page->at].cells[at], text))
			continue;
		self->cursor = at;
		return true;
	}
	return false;
}

static void timeline_point(struct tui_page *page, size_t column)
{
	size_t cell = column > LABEL_COLUMNS ? column - LABEL_COLUMNS : 0;

	if (cell < const_of(page)->cell_nr)
		timeline_of(page)->cursor = cell;
}

static int timeline_set_width(struct tui_page *page, unsigned columns, struct ftr_err *err)
{
	struct timeline_page *self = timeline_of(page);
	size_t cell_nr = cells_of(columns);
	uint64_t at_ns = time_at(self, self->cursor);
	int ret;

	if (cell_nr == self->cell_nr)
		return 0;
	ret = show(self, self->from_ns, self->to_ns, cell_nr, err);
	if (ret == 0)
		self->cursor = (at_ns - self->from_ns) / self->timeline->width_ns;
	if (self->cursor >= self->cell_nr)
		self->cursor = self->cell_nr - 1;
	return ret;
}

static void timeline_free(struct tui_page *page)
{
	free(page);
}

static const struct tui_page_ops timeline_ops = {
	.row_nr	    = timeline_row_nr,
	.put_title  = timeline_put_title,
	.put_head   = timeline_put_head,
	.put_row    = timeline_put_row,
	.put_status = timeline_put_status,
	.label	    = timeline_label,
	.key	    = timeline_key,
	.search	    = timeline_search,
	.point	    = timeline_point,
	.set_width  = timeline_set_width,
	.free	    = timeline_free,
};

void tui_timeline_range(const struct tui_page *page, uint64_t *from_ns, uint64_t *to_ns)
{
	*from_ns = const_of(page)->from_ns;
	*to_ns = const_of(page)->to_ns;
}

struct tui_page *tui_timeline_page_new(const struct ftr_tui_source *source, unsigned columns,
				       struct ftr_err *err)
{
	struct timeline_page *self = calloc(1, sizeof(*self));

	if (self == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	self->base.ops = &timeline_ops;
	self->source = source;
	if (show(self, 0, UINT64_MAX, 1, err) == 0) {
		self->first_ns = self->timeline->first_ns;
		self->end_ns = self->timeline->last_ns + 1;
		if (show(self, self->first_ns, self->end_ns, cells_of(columns), err) == 0)
			return &self->base;
	}
	free(self);
	return NULL;
}

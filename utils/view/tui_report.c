/* SPDX-License-Identifier: MIT */
/* The browser's page of functions: report's rows. */
#include "utils/view/tui_page.h"

#include "utils/analysis/stats.h"
#include "utils/base/bits.h"
#include "utils/base/ostream.h"
#include "utils/view/report.h"
#include "utils/view/report_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_HEAD "Function"

struct report_page {
	struct tui_page base;
	const struct ftr_stats *stats;	/* (borrowed) */
	char *fields, *sort;		/* (owned, nullable) */
	const struct ftr_func_stat **rows;	/* (owned) */
	size_t row_nr;
	uint64_t mask;
};

static struct report_page *report_of(struct tui_page *page)
{
	return (struct report_page *)page;
}

static const struct report_page *const_of(const struct tui_page *page)
{
	return (const struct report_page *)page;
}

static size_t report_row_nr(const struct tui_page *page)
{
	return const_of(page)->row_nr;
}

static void report_put_title(const struct tui_page *page, struct ftr_ostream *out)
{
	ftr_ostream_printf(out, "report: %zu functions, by %s", const_of(page)->row_nr,
			   const_of(page)->sort == NULL ? "total" : const_of(page)->sort);
}

static void report_put_head(const struct tui_page *page, struct ftr_ostream *out)
{
	report_put_heads(out, const_of(page)->mask);
	ftr_ostream_pad(out, ' ', REPORT_COLUMN_GAP);
	ftr_ostream_puts(out, FUNCTION_HEAD);
}

static void report_put_row(const struct tui_page *page, size_t row, struct ftr_ostream *out)
{
	const struct ftr_func_stat *stat = const_of(page)->rows[row];

	report_put_values(out, const_of(page)->mask, stat, false);
	ftr_ostream_puts(out, "  ");
	ftr_ostream_write(out, stat->name, stat->name_len);
}

static const char *report_name(const struct tui_page *page, size_t row)
{
	return const_of(page)->rows[row]->name;
}

/* Stays on the function that is selected. */
static void rows_replace(struct report_page *self, const struct ftr_func_stat **rows, size_t nr)
{
	const struct ftr_func_stat *at =
		self->row_nr == 0 ? NULL : self->rows[self->base.at];

	free(self->rows);
	self->rows = rows;
	self->row_nr = nr;
	for (size_t i = 0; i < nr; i++)
		if (rows[i] == at)
			self->base.at = i;
}

/* Both are taken when they are right. */
static int columns_set(struct report_page *self, char *fields, char *sort, struct ftr_err *err)
{
	struct ftr_report_opts opts = { .fields = fields, .sort = sort };
	const struct ftr_func_stat **rows;
	uint64_t mask;
	size_t nr;

	rows = report_rows(self->stats, &opts, &mask, &nr, err);
	if (rows == NULL)
		return -EINVAL;
	self->fields = fields;
	self->sort = sort;
	self->mask = mask;
	rows_replace(self, rows, nr);
	return 0;
}

static int replace(struct report_page *self, char **text, const char *with, struct ftr_err *err)
{
	char *old = *text, *copy = *with == '\0' ? NULL : strdup(with);
	int ret;

	if (copy == NULL && *with != '\0')
		return ftr_err_set(err, ENOMEM, "out of memory");
	ret = text == &self->fields ? columns_set(self, copy, self->sort, err) :
				      columns_set(self, self->fields, copy, err);
	free(ret == 0 ? old : copy);
	return ret;
}

static int report_set_fields(struct tui_page *page, const char *text, struct ftr_err *err)
{
	return replace(report_of(page), &report_of(page)->fields, text, err);
}

static int report_set_sort(struct tui_page *page, const char *text, struct ftr_err *err)
{
	return replace(report_of(page), &report_of(page)->sort, text, err);
}

static const char *report_sort_key(const struct tui_page *page, size_t column)
{
	size_t end = 0;

	for (int i = 0; i < REPORT_COLUMNS; i++) {
		if ((const_of(page)->mask & FTR_BIT64(i)) == 0)
			continue;
		end += REPORT_COLUMN_GAP + report_column_width(&report_columns[i]);
		if (column < end)
			return report_columns[i].name;
	}
	return column < end + REPORT_COLUMN_GAP + strlen(FUNCTION_HEAD) ? "func" : NULL;
}

static void report_free(struct tui_page *page)
{
	free(report_of(page)->fields);
	free(report_of(page)->sort);
	free(report_of(page)->rows);
	free(page);
}

static const struct tui_page_ops report_ops = {
	.row_nr	    = report_row_nr,
	.put_title  = report_put_title,
	.put_head   = report_put_head,
	.put_row    = report_put_row,
	.label	    = report_name,
	.func	    = report_name,
	.set_fields = report_set_fields,
	.set_sort   = report_set_sort,
	.sort_key   = report_sort_key,
	.free	    = report_free,
};

struct tui_page *tui_report_page_new(const struct ftr_stats *stats, struct ftr_err *err)
{
	struct report_page *self = calloc(1, sizeof(*self));

	if (self == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	self->base.ops = &report_ops;
	self->stats = stats;
	if (columns_set(self, NULL, NULL, err) == 0)
		return &self->base;
	report_free(&self->base);
	return NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * report --format=csv: the table for spreadsheets and scripts, by RFC 4180 but for the ends of
 * lines.
 */
#include "utils/base/bits.h"
#include "utils/view/report.h"

#include "utils/analysis/stats.h"
#include "utils/base/strbuf.h"
#include "utils/view/report_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* In quotes where it would not be one field. */
static void put_text(struct ftr_ostream *out, const char *text, size_t len)
{
	bool is_plain = memchr(text, ',', len) == NULL && memchr(text, '"', len) == NULL &&
			memchr(text, '\n', len) == NULL && memchr(text, '\r', len) == NULL;

	if (is_plain) {
		ftr_ostream_write(out, text, len);
		return;
	}
	ftr_ostream_putc(out, '"');
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"')
			ftr_ostream_putc(out, '"');
		ftr_ostream_putc(out, text[i]);
	}
	ftr_ostream_putc(out, '"');
}

static void put_cpus(struct ftr_ostream *out, const struct report_column *column,
		     const struct ftr_func_stat *stat)
{
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	report_cpus_text(column, stat, &text);
	put_text(out, ftr_strbuf_str(&text), text.len);
	ftr_strbuf_fini(&text);
}

static void put_value(struct ftr_ostream *out, const struct report_column *column,
		      const struct ftr_func_stat *stat)
{
	double value = column->value(stat);
	uint64_t whole = (uint64_t)value;

	switch (column->kind) {
	case REPORT_PERCENT:
		ftr_ostream_printf(out, "%.2f", value);
		break;
	case REPORT_TIMESTAMP:
		ftr_ostream_printf(out, "%llu.%09llu", (unsigned long long)whole / 1000000000,
				   (unsigned long long)whole % 1000000000);
		break;
	case REPORT_CPU_MASK:
	case REPORT_CPU_LIST:
		put_cpus(out, column, stat);
		break;
	default:
		ftr_ostream_u64(out, whole);
		break;
	}
}

static void put_row(struct ftr_ostream *out, uint64_t mask, const struct ftr_func_stat *stat)
{
	for (int i = 0; i < REPORT_COLUMNS; i++) {
		if (!(mask & FTR_BIT64(i)))
			continue;
		put_value(out, &report_columns[i], stat);
		ftr_ostream_putc(out, ',');
	}
	put_text(out, stat->name, stat->name_len);
	ftr_ostream_putc(out, '\n');
}

int ftr_report_print_csv(const struct ftr_stats *stats, const struct ftr_report_opts *opts,
			 struct ftr_ostream *out, struct ftr_err *err)
{
	uint64_t mask;
	size_t nr;
	const struct ftr_func_stat **rows = report_rows(stats, opts, &mask, &nr, err);

	if (rows == NULL)
		return -err->code;
	for (int i = 0; i < REPORT_COLUMNS; i++)
		if (mask & FTR_BIT64(i))
			ftr_ostream_printf(out, "%s,", report_columns[i].name);
	ftr_ostream_puts(out, "func\n");
	for (size_t i = 0; i < nr; i++)
		put_row(out, mask, rows[i]);
	free(rows);
	return 0;
}

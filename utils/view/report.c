/* SPDX-License-Identifier: MIT */
/* Statistics as a table, as uftrace report prints them. */
#include "utils/view/report.h"

#include "utils/analysis/stats.h"
#include "utils/base/bits.h"
#include "utils/base/color.h"
#include "utils/trace/func.h"
#include "utils/trace/trace.h"
#include "utils/view/report_columns.h"

#include <errno.h>
#include <stdlib.h>

#define NOTE_NAMES_MAX 5

struct report {
	const struct ftr_report_opts *opts;
	struct ftr_ostream *out;
	uint64_t mask;
	struct report_sort sort;
	const struct ftr_stats *stats;
	const struct ftr_func **funcs;	/* (owned, nullable) by name id: with source lines */
};

static void print_rule(struct ftr_ostream *out, size_t width)
{
	ftr_ostream_puts(out, "  ");
	ftr_ostream_pad(out, '=', width);
}

static void print_head(const struct report *report)
{
	struct ftr_ostream *out = report->out;

	if (report->mask == 0)
		return;
	report_put_heads(out, report->mask);
	ftr_ostream_puts(out, report->funcs != NULL ? "  Function [Source]\n" : "  Function\n");
	for (int i = 0; i < REPORT_COLUMNS; i++)
		if (report->mask & FTR_BIT64(i))
			print_rule(out, report_column_width(&report_columns[i]));
	print_rule(out, 20);
	ftr_ostream_putc(out, '\n');
}

/* Rows of functions lie in the array by name id, those of what is no function elsewhere. */
static void print_place(const struct report *report, const struct ftr_func_stat *stat)
{
	const struct ftr_func_stat *first = report->stats->funcs.v;
	const struct ftr_func *func;

	if (stat < first || stat >= first + report->stats->funcs.nr)
		return;
	func = report->funcs[stat - first];
	if (func != NULL && func->src_file != NULL)
		ftr_ostream_printf(report->out, " [%s:%u]", func->src_file, func->src_line);
}

static void print_row(const struct report *report, const struct ftr_func_stat *stat)
{
	report_put_values(report->out, report->mask, stat, report->opts->use_color);
	ftr_ostream_puts(report->out, report->opts->use_color ? "  " FTR_SGR_FUNC : "  ");
	ftr_ostream_write(report->out, stat->name, stat->name_len);
	ftr_ostream_puts(report->out, report->opts->use_color ? FTR_SGR_RESET : "");
	if (report->funcs != NULL)
		print_place(report, stat);
	ftr_ostream_putc(report->out, '\n');
}

/* The tracer's part of a call is a large one where the call takes less than twice as long. */
static bool is_mostly_tracing(const struct report *report, const struct ftr_func_stat *stat)
{
	return stat->self.sum_ns < 2 * stat->calls * report->opts->call_cost_ns;
}

static void print_note(const struct report *report, const struct ftr_func_stat **rows, size_t nr)
{
	struct ftr_ostream *out = report->out;
	size_t named = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!is_mostly_tracing(report, rows[i]))
			continue;
		if (named < NOTE_NAMES_MAX) {
			ftr_ostream_puts(out, named == 0 ? "\n# mostly tracing: " : ", ");
			ftr_ostream_write(out, rows[i]->name, rows[i]->name_len);
		}
		named++;
	}
	if (named == 0)
		return;
	if (named > NOTE_NAMES_MAX)
		ftr_ostream_printf(out, " and %zu more", named - NOTE_NAMES_MAX);
	ftr_ostream_printf(out, "\n# up to %u ns of each call are the tracer's; --subtract takes "
			   "them off\n", report->opts->call_cost_ns);
}

static int print_sorted(const struct report *report, const struct ftr_stats *stats,
			struct ftr_err *err)
{
	const struct ftr_func_stat **rows;
	size_t nr;

	rows = report_sorted_rows(stats, &report->sort, &nr);
	if (rows == NULL)
		return ftr_err_set(err, ENOMEM, "report: out of memory");
	print_head(report);
	for (size_t i = 0; i < nr; i++)
		print_row(report, rows[i]);
	print_note(report, rows, nr);
	free(rows);
	return 0;
}

int ftr_report_print(const struct ftr_stats *stats, const struct ftr_report_opts *opts,
		     struct ftr_ostream *out, struct ftr_err *err)
{
	struct report report = { .opts = opts, .out = out, .stats = stats };
	int ret;

	ret = report_parse_fields(opts, &report.mask, err);
	if (ret == 0)
		ret = report_parse_sort(opts, &report.sort, err);
	if (ret < 0)
		return ret;
	if (opts->srcline_of != NULL) {
		report.funcs = ftr_trace_funcs_by_name(opts->srcline_of);
		if (report.funcs == NULL)
			return ftr_err_set(err, ENOMEM, "report: out of memory");
	}
	ret = print_sorted(&report, stats, err);
	free(report.funcs);
	return ret;
}

/* SPDX-License-Identifier: MIT */
/* The columns of report: their values, and how -f and -s name them. */
#include "utils/view/report_columns.h"

#include "utils/analysis/stats.h"
#include "utils/base/bits.h"
#include "utils/base/duration.h"
#include "utils/base/ostream.h"
#include "utils/base/text.h"
#include "utils/view/cpu_text.h"
#include "utils/view/fields.h"
#include "utils/view/report.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN_WIDTH 10

static const size_t widths[] = {
	[REPORT_TIME] = 10,      [REPORT_COUNT] = COLUMN_WIDTH, [REPORT_PERCENT] = 10,
	[REPORT_TIMESTAMP] = 18, [REPORT_CPU_COUNT] = 9,        [REPORT_CPU_MASK] = 8,
	[REPORT_CPU_LIST] = 8,
};

static double total_of(const struct ftr_func_stat *stat)
{
	return (double)stat->total.sum_ns;
}

static double total_avg(const struct ftr_func_stat *stat)
{
	return ftr_time_stat_avg_ns(&stat->total, stat->calls);
}

static double total_min(const struct ftr_func_stat *stat)
{
	return (double)stat->total.min_ns;
}

static double total_max(const struct ftr_func_stat *stat)
{
	return (double)stat->total.max_ns;
}

static double self_of(const struct ftr_func_stat *stat)
{
	return (double)stat->self.sum_ns;
}

static double self_avg(const struct ftr_func_stat *stat)
{
	return ftr_time_stat_avg_ns(&stat->self, stat->calls);
}

static double self_min(const struct ftr_func_stat *stat)
{
	return (double)stat->self.min_ns;
}

static double self_max(const struct ftr_func_stat *stat)
{
	return (double)stat->self.max_ns;
}

static double calls_of(const struct ftr_func_stat *stat)
{
	return (double)stat->calls;
}

static double size_of(const struct ftr_func_stat *stat)
{
	return stat->size;
}

static double total_stdv(const struct ftr_func_stat *stat)
{
	return ftr_time_stat_stdv(&stat->total, stat->calls);
}

static double self_stdv(const struct ftr_func_stat *stat)
{
	return ftr_time_stat_stdv(&stat->self, stat->calls);
}

static double total_min_at(const struct ftr_func_stat *stat)
{
	return (double)stat->total.min_at_ns;
}

static double total_max_at(const struct ftr_func_stat *stat)
{
	return (double)stat->total.max_at_ns;
}

static double self_min_at(const struct ftr_func_stat *stat)
{
	return (double)stat->self.min_at_ns;
}

static double self_max_at(const struct ftr_func_stat *stat)
{
	return (double)stat->self.max_at_ns;
}

static double cpus_of(const struct ftr_func_stat *stat)
{
	return stat->cpus == NULL ? 0 : ftr_cpu_set_count(stat->cpus);
}

static double share_of(const struct ftr_func_stat *stat, uint64_t ns)
{
	return stat->whole_ns == 0 ? 0 : 100 * (double)ns / (double)stat->whole_ns;
}

static double total_percent(const struct ftr_func_stat *stat)
{
	return share_of(stat, stat->total.sum_ns);
}

static double self_percent(const struct ftr_func_stat *stat)
{
	return share_of(stat, stat->self.sum_ns);
}

static double total_p50(const struct ftr_func_stat *stat)
{
	return (double)ftr_time_stat_percentile(&stat->total, 50);
}

static double total_p90(const struct ftr_func_stat *stat)
{
	return (double)ftr_time_stat_percentile(&stat->total, 90);
}

static double total_p99(const struct ftr_func_stat *stat)
{
	return (double)ftr_time_stat_percentile(&stat->total, 99);
}

static double self_p50(const struct ftr_func_stat *stat)
{
	return (double)ftr_time_stat_percentile(&stat->self, 50);
}

static double self_p90(const struct ftr_func_stat *stat)
{
	return (double)ftr_time_stat_percentile(&stat->self, 90);
}

static double self_p99(const struct ftr_func_stat *stat)
{
	return (double)ftr_time_stat_percentile(&stat->self, 99);
}

static double total_cpu(const struct ftr_func_stat *stat)
{
	return (double)(stat->total.sum_ns - stat->total.away_ns);
}

static double self_cpu(const struct ftr_func_stat *stat)
{
	return (double)(stat->self.sum_ns - stat->self.away_ns);
}

enum {
	COLUMN_TOTAL, COLUMN_TOTAL_AVG, COLUMN_TOTAL_MIN, COLUMN_TOTAL_MAX,
	COLUMN_SELF, COLUMN_SELF_AVG, COLUMN_SELF_MIN, COLUMN_SELF_MAX,
	COLUMN_CALLS, COLUMN_SIZE, COLUMN_TOTAL_STDV, COLUMN_SELF_STDV,
	COLUMN_TOTAL_MIN_AT, COLUMN_TOTAL_MAX_AT, COLUMN_SELF_MIN_AT, COLUMN_SELF_MAX_AT,
	COLUMN_CPU_COUNT, COLUMN_CPU_MASK, COLUMN_CPU_LIST,
	COLUMN_TOTAL_PERCENT, COLUMN_SELF_PERCENT,
	COLUMN_TOTAL_P50, COLUMN_TOTAL_P90, COLUMN_TOTAL_P99,
	COLUMN_SELF_P50, COLUMN_SELF_P90, COLUMN_SELF_P99,
	COLUMN_TOTAL_CPU, COLUMN_SELF_CPU,
	COLUMNS
};

static_assert(COLUMNS == REPORT_COLUMNS, "the table has all of them");

const struct report_column report_columns[REPORT_COLUMNS] = {
	[COLUMN_TOTAL]	      = { "total", "Total time", REPORT_TIME, total_of },
	[COLUMN_TOTAL_AVG]    = { "total-avg", "Total avg", REPORT_TIME, total_avg },
	[COLUMN_TOTAL_MIN]    = { "total-min", "Total min", REPORT_TIME, total_min },
	[COLUMN_TOTAL_MAX]    = { "total-max", "Total max", REPORT_TIME, total_max },
	[COLUMN_SELF]	      = { "self", "Self time", REPORT_TIME, self_of },
	[COLUMN_SELF_AVG]     = { "self-avg", "Self avg", REPORT_TIME, self_avg },
	[COLUMN_SELF_MIN]     = { "self-min", "Self min", REPORT_TIME, self_min },
	[COLUMN_SELF_MAX]     = { "self-max", "Self max", REPORT_TIME, self_max },
	[COLUMN_CALLS]	      = { "call", "Calls", REPORT_COUNT, calls_of },
	[COLUMN_SIZE]	      = { "size", "Size", REPORT_COUNT, size_of },
	[COLUMN_TOTAL_STDV]   = { "total-stdv", "Total stdv", REPORT_PERCENT, total_stdv },
	[COLUMN_SELF_STDV]    = { "self-stdv", "Self stdv", REPORT_PERCENT, self_stdv },
	[COLUMN_TOTAL_MIN_AT] = { "total-min-ts", "Total min ts", REPORT_TIMESTAMP, total_min_at },
	[COLUMN_TOTAL_MAX_AT] = { "total-max-ts", "Total max ts", REPORT_TIMESTAMP, total_max_at },
	[COLUMN_SELF_MIN_AT]  = { "self-min-ts", "Self min ts", REPORT_TIMESTAMP, self_min_at },
	[COLUMN_SELF_MAX_AT]  = { "self-max-ts", "Self max ts", REPORT_TIMESTAMP, self_max_at },
	[COLUMN_CPU_COUNT]    = { "cpu-count", "CPU Count", REPORT_CPU_COUNT, cpus_of },
	[COLUMN_CPU_MASK]     = { "cpu-mask", "CPU MASK", REPORT_CPU_MASK, cpus_of },
	[COLUMN_CPU_LIST]     = { "cpu-list", "CPU LIST", REPORT_CPU_LIST, cpus_of },
	[COLUMN_TOTAL_PERCENT] = { "total-percent", "Total %", REPORT_PERCENT, total_percent },
	[COLUMN_SELF_PERCENT] = { "self-percent", "Self %", REPORT_PERCENT, self_percent },
	[COLUMN_TOTAL_P50]    = { "total-p50", "Total p50", REPORT_TIME, total_p50 },
	[COLUMN_TOTAL_P90]    = { "total-p90", "Total p90", REPORT_TIME, total_p90 },
	[COLUMN_TOTAL_P99]    = { "total-p99", "Total p99", REPORT_TIME, total_p99 },
	[COLUMN_SELF_P50]     = { "self-p50", "Self p50", REPORT_TIME, self_p50 },
	[COLUMN_SELF_P90]     = { "self-p90", "Self p90", REPORT_TIME, self_p90 },
	[COLUMN_SELF_P99]     = { "self-p99", "Self p99", REPORT_TIME, self_p99 },
	[COLUMN_TOTAL_CPU]    = { "total-cpu", "Total CPU", REPORT_TIME, total_cpu },
	[COLUMN_SELF_CPU]     = { "self-cpu", "Self CPU", REPORT_TIME, self_cpu },
};

#define MASK_FROM_TO(first, last) (FTR_BIT64((last) + 1) - FTR_BIT64(first))
#define SPREAD_MASK   MASK_FROM_TO(COLUMN_TOTAL_P50, COLUMN_SELF_P99)
#define CPU_TIME_MASK MASK_FROM_TO(COLUMN_TOTAL_CPU, COLUMN_SELF_CPU)
/* What sums tell; all else takes each call. */
#define SUMS_MASK \
	(FTR_BIT64(COLUMN_TOTAL) | FTR_BIT64(COLUMN_TOTAL_AVG) | FTR_BIT64(COLUMN_SELF) | \
	 FTR_BIT64(COLUMN_SELF_AVG) | FTR_BIT64(COLUMN_CALLS) | FTR_BIT64(COLUMN_SIZE) | \
	 MASK_FROM_TO(COLUMN_TOTAL_PERCENT, COLUMN_SELF_PERCENT))

static uint64_t default_mask(const struct ftr_report_opts *opts)
{
	if (opts->avg_total)
		return FTR_BIT64(COLUMN_TOTAL_AVG) | FTR_BIT64(COLUMN_TOTAL_MIN) |
		       FTR_BIT64(COLUMN_TOTAL_MAX) | FTR_BIT64(COLUMN_TOTAL_STDV);
	if (opts->avg_self)
		return FTR_BIT64(COLUMN_SELF_AVG) | FTR_BIT64(COLUMN_SELF_MIN) |
		       FTR_BIT64(COLUMN_SELF_MAX) | FTR_BIT64(COLUMN_SELF_STDV);
	return FTR_BIT64(COLUMN_TOTAL) | FTR_BIT64(COLUMN_SELF) | FTR_BIT64(COLUMN_CALLS);
}

static void names_fill(struct ftr_field_name names[REPORT_COLUMNS + 1])
{
	for (int i = 0; i < REPORT_COLUMNS; i++)
		names[i].name = report_columns[i].name;
	names[REPORT_COLUMNS].name = NULL;
}

int report_parse_fields(const struct ftr_report_opts *opts, uint64_t *mask, struct ftr_err *err)
{
	struct ftr_field_name names[REPORT_COLUMNS + 1];

	names_fill(names);
	*mask = default_mask(opts);
	return ftr_fields_parse(names, opts->fields, mask, err);
}

/* "avg", "min" and "max" are of what --avg-total or --avg-self shows. */
static int find_key(const struct ftr_report_opts *opts, struct ftr_slice word)
{
	const char *prefix = opts->avg_self ? "self-" : "total-";
	bool is_short = ftr_slice_eq(word, "avg") || ftr_slice_eq(word, "min") ||
			ftr_slice_eq(word, "max");
	char name[32];

	snprintf(name, sizeof(name), "%s%.*s", is_short ? prefix : "", (int)word.len, word.s);
	for (int i = 0; i < REPORT_COLUMNS; i++)
		if (strcmp(report_columns[i].name, name) == 0)
			return i;
	return -1;
}

static int refuse_key(struct ftr_slice word, struct ftr_err *err)
{
	struct ftr_field_name names[REPORT_COLUMNS + 1];

	names_fill(names);
	return ftr_fields_refuse_key(names, "func avg min max", word, err);
}

int report_parse_sort(const struct ftr_report_opts *opts, struct report_sort *sort,
		      struct ftr_err *err)
{
	const char *text = opts->sort;
	struct ftr_slice rest, word;

	if (text == NULL)
		text = opts->avg_total || opts->avg_self ? "avg" : "total";
	rest = ftr_slice_make(text, strlen(text));
	while (ftr_slice_split(&rest, ',', &word)) {
		bool is_name = ftr_slice_eq(word, "func");
		int key = is_name ? 0 : find_key(opts, word);

		if (key < 0)
			return refuse_key(word, err);
		if (sort->nr == REPORT_SORT_KEYS_MAX)
			return ftr_err_set(err, EINVAL, "more than %d sort keys",
					   REPORT_SORT_KEYS_MAX);
		sort->keys[sort->nr++] = is_name ? NULL : &report_columns[key];
	}
	return 0;
}

unsigned ftr_report_needs(const struct ftr_report_opts *opts)
{
	struct report_sort sort = { .nr = 0 };
	unsigned flags = 0;
	uint64_t mask;

	if (report_parse_fields(opts, &mask, NULL) < 0 || report_parse_sort(opts, &sort, NULL) < 0)
		return 0;
	for (unsigned i = 0; i < sort.nr; i++)
		if (sort.keys[i] != NULL)
			mask |= FTR_BIT64(sort.keys[i] - report_columns);
	if ((mask & ~SUMS_MASK) != 0)
		flags |= FTR_STATS_DETAILS;
	if (mask & SPREAD_MASK)
		flags |= FTR_STATS_SPREAD;
	if (mask & CPU_TIME_MASK)
		flags |= FTR_STATS_CPU_TIME;
	return flags;
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct ftr_func_stat *x = *(const struct ftr_func_stat *const *)a;
	const struct ftr_func_stat *y = *(const struct ftr_func_stat *const *)b;
	const struct report_sort *sort = arg;

	for (unsigned i = 0; i < sort->nr; i++) {
		const struct report_column *key = sort->keys[i];
		double of_x, of_y;

		if (key == NULL)
			return strcmp(x->name, y->name);
		of_x = key->value(x);
		of_y = key->value(y);
		if (of_x != of_y)
			return of_x < of_y ? 1 : -1;
	}
	return strcmp(x->name, y->name);
}

const struct ftr_func_stat **report_sorted_rows(const struct ftr_stats *stats,
						const struct report_sort *sort, size_t *nr)
{
	const struct ftr_func_stat **rows = ftr_stats_rows(stats, nr);

	if (rows != NULL)
		qsort_r(rows, *nr, sizeof(*rows), compare, (void *)sort);
	return rows;
}

void report_cpus_text(const struct report_column *column, const struct ftr_func_stat *stat,
		      struct ftr_strbuf *text)
{
	static const struct ftr_cpu_set none;
	const struct ftr_cpu_set *set = stat->cpus == NULL ? &none : stat->cpus;

	if (column->kind == REPORT_CPU_MASK)
		view_cpu_mask_text(set, text);
	else
		view_cpu_list_text(set, text);
}

const struct ftr_func_stat **report_rows(const struct ftr_stats *stats,
					 const struct ftr_report_opts *opts, uint64_t *mask,
					 size_t *nr, struct ftr_err *err)
{
	struct report_sort sort = { .nr = 0 };
	const struct ftr_func_stat **rows;

	if (report_parse_fields(opts, mask, err) < 0 || report_parse_sort(opts, &sort, err) < 0)
		return NULL;
	rows = report_sorted_rows(stats, &sort, nr);
	if (rows == NULL)
		ftr_err_set(err, ENOMEM, "report: out of memory");
	return rows;
}

/* ---- as text ---- */

size_t report_column_width(const struct report_column *column)
{
	return widths[column->kind];
}

void report_put_heads(struct ftr_ostream *out, uint64_t mask)
{
	for (int i = 0; i < REPORT_COLUMNS; i++) {
		const struct report_column *column = &report_columns[i];

		if (mask & FTR_BIT64(i))
			ftr_ostream_printf(out, "%*s",
					   (int)(REPORT_COLUMN_GAP + report_column_width(column)),
					   column->head);
	}
}

/* In the middle of its column. */
static void put_cpus(struct ftr_ostream *out, const struct report_column *column,
		     const struct ftr_cpu_set *set)
{
	static const struct ftr_cpu_set none;
	struct ftr_strbuf text;
	size_t width = report_column_width(column), blanks;

	ftr_strbuf_init(&text);
	set = set == NULL ? &none : set;
	if (column->kind == REPORT_CPU_COUNT)
		ftr_strbuf_printf(&text, "%u", ftr_cpu_set_count(set));
	else if (column->kind == REPORT_CPU_MASK)
		view_cpu_mask_text(set, &text);
	else
		view_cpu_list_text(set, &text);
	blanks = text.len < width ? width - text.len : 0;
	ftr_ostream_pad(out, ' ', blanks / 2);
	ftr_ostream_write(out, ftr_strbuf_str(&text), text.len);
	ftr_ostream_pad(out, ' ', blanks - blanks / 2);
	ftr_strbuf_fini(&text);
}

static void put_value(struct ftr_ostream *out, const struct report_column *column,
		      const struct ftr_func_stat *stat, bool use_color)
{
	double value = column->value(stat);
	uint64_t whole = (uint64_t)value;

	ftr_ostream_puts(out, "  ");
	switch (column->kind) {
	case REPORT_TIME:
		ftr_duration_write(out, whole, use_color);
		break;
	case REPORT_COUNT:
		ftr_ostream_u64_width(out, whole, COLUMN_WIDTH, ' ');
		break;
	case REPORT_PERCENT:
		ftr_ostream_printf(out, "%9.2f%%", value);
		break;
	case REPORT_CPU_COUNT:
	case REPORT_CPU_MASK:
	case REPORT_CPU_LIST:
		put_cpus(out, column, stat->cpus);
		break;
	case REPORT_TIMESTAMP:
		ftr_ostream_printf(out, "%8llu.%09llu", (unsigned long long)whole / 1000000000,
				   (unsigned long long)whole % 1000000000);
		break;
	}
}

void report_put_values(struct ftr_ostream *out, uint64_t mask, const struct ftr_func_stat *stat,
		       bool use_color)
{
	for (int i = 0; i < REPORT_COLUMNS; i++)
		if (mask & FTR_BIT64(i))
			put_value(out, &report_columns[i], stat, use_color);
}

/* SPDX-License-Identifier: MIT */
/* Statistics as a table, as uftrace report prints them. */
#include "utils/view/report.h"

#include "utils/analysis/stats.h"
#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/trace/task.h"
#include "utils/view/cpu_text.h"
#include "utils/view/duration.h"
#include "utils/view/fields.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN_WIDTH 10
#define SORT_KEYS_MAX 8

enum kind {
	KIND_TIME,
	KIND_COUNT,
	KIND_PERCENT,
	KIND_TIMESTAMP,
	KIND_CPU_COUNT,
	KIND_CPU_MASK,
	KIND_CPU_LIST,
};

static const size_t widths[] = {
	[KIND_TIME] = 10, [KIND_COUNT] = COLUMN_WIDTH, [KIND_PERCENT] = 10, [KIND_TIMESTAMP] = 18,
	[KIND_CPU_COUNT] = 9, [KIND_CPU_MASK] = 8, [KIND_CPU_LIST] = 8,
};

/* One value of a function: what a column shows, and what one can sort by. */
struct column {
	const char *name;	/* of -f and -s */
	const char *head;
	enum kind kind;
	double (*value)(const struct ftr_func_stat *stat);
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

enum {
	COLUMN_TOTAL, COLUMN_TOTAL_AVG, COLUMN_TOTAL_MIN, COLUMN_TOTAL_MAX,
	COLUMN_SELF, COLUMN_SELF_AVG, COLUMN_SELF_MIN, COLUMN_SELF_MAX,
	COLUMN_CALLS, COLUMN_SIZE, COLUMN_TOTAL_STDV, COLUMN_SELF_STDV,
	COLUMN_TOTAL_MIN_AT, COLUMN_TOTAL_MAX_AT, COLUMN_SELF_MIN_AT, COLUMN_SELF_MAX_AT,
	COLUMN_CPU_COUNT, COLUMN_CPU_MASK, COLUMN_CPU_LIST,
	COLUMNS
};

#define BIT(column) (UINT64_C(1) << (column))

static const struct column columns[COLUMNS] = {
	[COLUMN_TOTAL]	      = { "total", "Total time", KIND_TIME, total_of },
	[COLUMN_TOTAL_AVG]    = { "total-avg", "Total avg", KIND_TIME, total_avg },
	[COLUMN_TOTAL_MIN]    = { "total-min", "Total min", KIND_TIME, total_min },
	[COLUMN_TOTAL_MAX]    = { "total-max", "Total max", KIND_TIME, total_max },
	[COLUMN_SELF]	      = { "self", "Self time", KIND_TIME, self_of },
	[COLUMN_SELF_AVG]     = { "self-avg", "Self avg", KIND_TIME, self_avg },
	[COLUMN_SELF_MIN]     = { "self-min", "Self min", KIND_TIME, self_min },
	[COLUMN_SELF_MAX]     = { "self-max", "Self max", KIND_TIME, self_max },
	[COLUMN_CALLS]	      = { "call", "Calls", KIND_COUNT, calls_of },
	[COLUMN_SIZE]	      = { "size", "Size", KIND_COUNT, size_of },
	[COLUMN_TOTAL_STDV]   = { "total-stdv", "Total stdv", KIND_PERCENT, total_stdv },
	[COLUMN_SELF_STDV]    = { "self-stdv", "Self stdv", KIND_PERCENT, self_stdv },
	[COLUMN_TOTAL_MIN_AT] = { "total-min-ts", "Total min ts", KIND_TIMESTAMP, total_min_at },
	[COLUMN_TOTAL_MAX_AT] = { "total-max-ts", "Total max ts", KIND_TIMESTAMP, total_max_at },
	[COLUMN_SELF_MIN_AT]  = { "self-min-ts", "Self min ts", KIND_TIMESTAMP, self_min_at },
	[COLUMN_SELF_MAX_AT]  = { "self-max-ts", "Self max ts", KIND_TIMESTAMP, self_max_at },
	[COLUMN_CPU_COUNT]    = { "cpu-count", "CPU Count", KIND_CPU_COUNT, cpus_of },
	[COLUMN_CPU_MASK]     = { "cpu-mask", "CPU MASK", KIND_CPU_MASK, cpus_of },
	[COLUMN_CPU_LIST]     = { "cpu-list", "CPU LIST", KIND_CPU_LIST, cpus_of },
};

struct sort {
	const struct column *keys[SORT_KEYS_MAX];	/* NULL = by name */
	unsigned nr;
};

struct report {
	const struct ftr_report_opts *opts;
	struct ftr_ostream *out;
	uint64_t mask;
	struct sort sort;
};

static uint64_t default_mask(const struct ftr_report_opts *opts)
{
	if (opts->avg_total)
		return BIT(COLUMN_TOTAL_AVG) | BIT(COLUMN_TOTAL_MIN) | BIT(COLUMN_TOTAL_MAX);
	if (opts->avg_self)
		return BIT(COLUMN_SELF_AVG) | BIT(COLUMN_SELF_MIN) | BIT(COLUMN_SELF_MAX);
	return BIT(COLUMN_TOTAL) | BIT(COLUMN_SELF) | BIT(COLUMN_CALLS);
}

static int parse_fields(struct report *report, struct ftr_err *err)
{
	struct ftr_field_name names[COLUMNS + 1] = { 0 };

	for (int i = 0; i < COLUMNS; i++)
		names[i].name = columns[i].name;
	report->mask = default_mask(report->opts);
	return ftr_fields_parse(names, report->opts->fields, &report->mask, err);
}

/* "avg", "min" and "max" are of what --avg-total or --avg-self shows. */
static int find_key(const struct ftr_report_opts *opts, struct ftr_slice word)
{
	const char *prefix = opts->avg_self ? "self-" : "total-";
	bool is_short = ftr_slice_eq(word, "avg") || ftr_slice_eq(word, "min") ||
			ftr_slice_eq(word, "max");
	char name[32];

	snprintf(name, sizeof(name), "%s%.*s", is_short ? prefix : "", (int)word.len, word.s);
	for (int i = 0; i < COLUMNS; i++)
		if (strcmp(columns[i].name, name) == 0)
			return i;
	return -1;
}

static int parse_sort(struct report *report, struct ftr_err *err)
{
	const struct ftr_report_opts *opts = report->opts;
	const char *text = opts->sort;
	struct ftr_slice rest, word;

	if (text == NULL)
		text = opts->avg_total || opts->avg_self ? "avg" : "total";
	rest = ftr_slice_make(text, strlen(text));
	while (ftr_slice_split(&rest, ',', &word)) {
		bool is_name = ftr_slice_eq(word, "func");
		int key = is_name ? 0 : find_key(opts, word);

		if (key < 0)
			return ftr_err_set(err, EINVAL,
					   "unknown sort key \"%.*s\"; there are: func and the fields, see --help",
					   (int)word.len, word.s);
		if (report->sort.nr == SORT_KEYS_MAX)
			return ftr_err_set(err, EINVAL, "more than %d sort keys", SORT_KEYS_MAX);
		report->sort.keys[report->sort.nr++] = is_name ? NULL : &columns[key];
	}
	return 0;
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct ftr_func_stat *x = *(const struct ftr_func_stat *const *)a;
	const struct ftr_func_stat *y = *(const struct ftr_func_stat *const *)b;
	const struct sort *sort = arg;

	for (unsigned i = 0; i < sort->nr; i++) {
		const struct column *key = sort->keys[i];
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

static size_t width_of(const struct column *column)
{
	return widths[column->kind];
}

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
	for (int i = 0; i < COLUMNS; i++)
		if (report->mask & BIT(i))
			ftr_ostream_printf(out, "  %*s", (int)width_of(&columns[i]),
					   columns[i].head);
	ftr_ostream_puts(out, "  Function\n");
	for (int i = 0; i < COLUMNS; i++)
		if (report->mask & BIT(i))
			print_rule(out, width_of(&columns[i]));
	print_rule(out, 20);
	ftr_ostream_putc(out, '\n');
}

/* In the middle of its column. */
static void print_cpus(struct ftr_ostream *out, const struct column *column, const struct ftr_cpu_set *set)
{
	static const struct ftr_cpu_set none;
	struct ftr_strbuf text;
	size_t blanks;

	ftr_strbuf_init(&text);
	set = set == NULL ? &none : set;
	if (column->kind == KIND_CPU_COUNT)
		ftr_strbuf_printf(&text, "%u", ftr_cpu_set_count(set));
	else if (column->kind == KIND_CPU_MASK)
		view_cpu_mask_text(set, &text);
	else
		view_cpu_list_text(set, &text);
	blanks = text.len < width_of(column) ? width_of(column) - text.len : 0;
	ftr_ostream_pad(out, ' ', blanks / 2);
	ftr_ostream_write(out, ftr_strbuf_str(&text), text.len);
	ftr_ostream_pad(out, ' ', blanks - blanks / 2);
	ftr_strbuf_fini(&text);
}

static void print_value(const struct report *report, const struct column *column,
			const struct ftr_func_stat *stat)
{
	struct ftr_ostream *out = report->out;
	double value = column->value(stat);
	char text[VIEW_DURATION_BYTES];
	uint64_t whole = (uint64_t)value;

	ftr_ostream_puts(out, "  ");
	switch (column->kind) {
	case KIND_TIME:
		ftr_ostream_write(out, text, (size_t)(view_put_duration(text, whole,
									report->opts->use_color) -
						      text));
		break;
	case KIND_COUNT:
		ftr_ostream_u64_width(out, whole, COLUMN_WIDTH, ' ');
		break;
	case KIND_PERCENT:
		ftr_ostream_printf(out, "%9.2f%%", value);
		break;
	case KIND_CPU_COUNT:
	case KIND_CPU_MASK:
	case KIND_CPU_LIST:
		print_cpus(out, column, stat->cpus);
		break;
	case KIND_TIMESTAMP:
		ftr_ostream_printf(out, "%8llu.%09llu", (unsigned long long)whole / 1000000000,
				   (unsigned long long)whole % 1000000000);
		break;
	}
}

static void print_row(const struct report *report, const struct ftr_func_stat *stat)
{
	for (int i = 0; i < COLUMNS; i++)
		if (report->mask & BIT(i))
			print_value(report, &columns[i], stat);
	ftr_ostream_puts(report->out, "  ");
	ftr_ostream_write(report->out, stat->name, stat->name_len);
	ftr_ostream_putc(report->out, '\n');
}

static int print_sorted(const struct report *report, const struct ftr_stats *stats,
			struct ftr_err *err)
{
	const struct ftr_func_stat **rows;
	size_t nr = 0;

	rows = calloc(stats->funcs.nr + 2, sizeof(*rows));
	if (rows == NULL)
		return ftr_err_set(err, ENOMEM, "report: out of memory");
	for (size_t i = 0; i < stats->funcs.nr; i++)
		if (stats->funcs.v[i].name != NULL)
			rows[nr++] = &stats->funcs.v[i];
	for (size_t i = 0; i < 2; i++)
		if (stats->schedule[i].name != NULL)
			rows[nr++] = &stats->schedule[i];
	qsort_r(rows, nr, sizeof(*rows), compare, (void *)&report->sort);
	print_head(report);
	for (size_t i = 0; i < nr; i++)
		print_row(report, rows[i]);
	free(rows);
	return 0;
}

int ftr_report_print(const struct ftr_stats *stats, const struct ftr_report_opts *opts,
		     struct ftr_ostream *out, struct ftr_err *err)
{
	struct report report = { .opts = opts, .out = out };
	int ret;

	ret = parse_fields(&report, err);
	if (ret == 0)
		ret = parse_sort(&report, err);
	if (ret == 0)
		ret = print_sorted(&report, stats, err);
	return ret;
}

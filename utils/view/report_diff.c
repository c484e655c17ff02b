/* SPDX-License-Identifier: MIT */
/*
 * report --diff: how the statistics of two traces differ, in uftrace's layout.  Every difference is
 * the other less the base, so that + is more, and slower; in uftrace the signs of times are the
 * opposite of those of counts and percentages.
 */
#include "utils/base/bits.h"
#include "utils/view/report.h"

#include "utils/analysis/stats.h"
#include "utils/base/color.h"
#include "utils/base/duration.h"
#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/view/report_columns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIFF_WIDTH 11
#define VALUE_WIDTH 10
#define FULL_WIDTH (2 * VALUE_WIDTH + 4 + DIFF_WIDTH)
#define FULL_NARROW_WIDTH 32		/* counts, and percentages of times */
#define CELL_BYTES 64
#define NOISE_NS 1000		/* tracing a call costs that much: no base for a ratio */
#define SCHEDULING "linux:sched"

/* A difference of points in time, or of processors, means nothing. */
#define DIFFERS(kind) ((kind) == REPORT_TIME || (kind) == REPORT_COUNT || (kind) == REPORT_PERCENT)

struct policy {
	bool is_signed;		/* no-abs: from what got slowest to what got fastest */
	bool is_percent;
	bool is_full;
};

struct diff {
	const struct ftr_report_opts *opts;
	struct ftr_ostream *out;
	struct policy policy;
	uint64_t mask;
	struct report_sort sort;
};

/* A column's two values, cut to whole nanoseconds. */
struct values {
	double base, other;
	double delta;		/* other less base */
	bool has_ratio;		/* percent is known */
	double percent;
};

static struct values values_of(const struct report_column *column,
			       const struct ftr_stats_pair *pair)
{
	struct values v = { 0 };

	v.base = pair->base == NULL ? 0 : column->value(pair->base);
	v.other = pair->other == NULL ? 0 : column->value(pair->other);
	if (column->kind != REPORT_PERCENT) {
		v.base = (double)(uint64_t)v.base;
		v.other = (double)(uint64_t)v.other;
	}
	v.delta = v.other - v.base;
	v.has_ratio = v.base >= (column->kind == REPORT_TIME ? NOISE_NS : 1);
	v.percent = v.has_ratio ? 100 * v.delta / v.base : 0;
	return v;
}

/* ---- what is asked for ---- */

static int parse_policy(const char *text, struct policy *policy, struct ftr_err *err)
{
	struct ftr_slice rest, word;
	struct {
		const char *name;
		bool *flag;
		bool value;
	} words[] = {
		{ "abs", &policy->is_signed, false },
		{ "no-abs", &policy->is_signed, true },
		{ "percent", &policy->is_percent, true },
		{ "no-percent", &policy->is_percent, false },
		{ "compact", &policy->is_full, false },
		{ "full", &policy->is_full, true },
	};
	size_t nr = sizeof(words) / sizeof(words[0]);

	if (text == NULL)
		return 0;
	rest = ftr_slice_make(text, strlen(text));
	while (ftr_slice_split(&rest, ',', &word)) {
		size_t i = 0;

		while (i < nr && !ftr_slice_eq(word, words[i].name))
			i++;
		if (i == nr)
			return ftr_err_set(err, EINVAL,
					   "--diff-policy: \"%.*s\" is not one of: abs no-abs percent "
					   "no-percent compact full",
					   (int)word.len, word.s);
		*words[i].flag = words[i].value;
	}
	return 0;
}

static int parse_fields(struct diff *diff, struct ftr_err *err)
{
	bool is_all = diff->opts->fields != NULL && strstr(diff->opts->fields, "all") != NULL;
	int ret = report_parse_fields(diff->opts, &diff->mask, err);

	for (int i = 0; ret == 0 && i < REPORT_COLUMNS; i++) {
		if (!(diff->mask & FTR_BIT64(i)) || DIFFERS(report_columns[i].kind))
			continue;
		diff->mask &= ~FTR_BIT64(i);
		if (!is_all)
			ret = ftr_err_set(err, EINVAL,
					  "report: field \"%s\" cannot be compared (--diff)",
					  report_columns[i].name);
	}
	return ret;
}

/* ---- order ---- */

/* What the column that --sort-column names holds; more comes first. */
static double rank_of(const struct diff *diff, const struct report_column *key,
		      const struct ftr_stats_pair *pair)
{
	struct values v = values_of(key, pair);
	double rank = v.delta;

	if (diff->opts->diff_column < 2)
		return diff->opts->diff_column == 0 ? v.base : v.other;
	if (diff->policy.is_percent && key->kind == REPORT_TIME)
		rank = v.percent;
	return diff->policy.is_signed || rank > 0 ? rank : -rank;
}

/* Rows without a percentage come last. */
static bool has_rank(const struct diff *diff, const struct report_column *key,
		     const struct ftr_stats_pair *pair)
{
	return diff->opts->diff_column < 2 || !diff->policy.is_percent ||
	       key->kind != REPORT_TIME || values_of(key, pair).has_ratio;
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct ftr_stats_pair *x = a, *y = b;
	const struct diff *diff = arg;

	for (unsigned i = 0; i < diff->sort.nr; i++) {
		const struct report_column *key = diff->sort.keys[i];
		bool has_x, has_y;
		double of_x, of_y;

		if (key == NULL)
			break;
		has_x = has_rank(diff, key, x);
		has_y = has_rank(diff, key, y);
		if (has_x != has_y)
			return has_x ? -1 : 1;
		of_x = rank_of(diff, key, x);
		of_y = rank_of(diff, key, y);
		if (of_x != of_y)
			return of_x < of_y ? 1 : -1;
	}
	return strcmp(x->name, y->name);
}

/* ---- text ---- */

static int width_of(const struct diff *diff, const struct report_column *column)
{
	if (!diff->policy.is_full)
		return DIFF_WIDTH;
	if (column->kind == REPORT_COUNT ||
	    (column->kind == REPORT_TIME && diff->policy.is_percent))
		return FULL_NARROW_WIDTH;
	return FULL_WIDTH;
}

static void put_head(const struct diff *diff)
{
	struct ftr_ostream *out = diff->out;

	if (diff->mask == 0)
		return;
	for (int i = 0; i < REPORT_COLUMNS; i++) {
		char head[CELL_BYTES];

		snprintf(head, sizeof(head), "%s%s", report_columns[i].head,
			 diff->policy.is_full ? " (diff)" : "");
		if (diff->mask & FTR_BIT64(i))
			ftr_ostream_printf(out, "   %*s", width_of(diff, &report_columns[i]), head);
	}
	ftr_ostream_puts(out, "   Function\n");
	for (int i = 0; i < REPORT_COLUMNS; i++) {
		if (!(diff->mask & FTR_BIT64(i)))
			continue;
		ftr_ostream_puts(out, "   ");
		ftr_ostream_pad(out, '=', (size_t)width_of(diff, &report_columns[i]));
	}
	ftr_ostream_puts(out, "   ====================\n");
}

/* "1.159 ms" without the blanks before it. */
static const char *time_text(char *text, double ns)
{
	*ftr_duration_put(text, (uint64_t)ns, false) = '\0';
	return text + strspn(text, " ");
}

static void put_cell(const struct diff *diff, const char *text, int width, double slower)
{
	const char *color = slower > 0 ? FTR_SGR_RED : FTR_SGR_GREEN;
	bool has_color = diff->opts->use_color && slower != 0;

	ftr_ostream_pad(diff->out, ' ',
			strlen(text) < (size_t)width ? (size_t)width - strlen(text) : 0);
	ftr_ostream_puts(diff->out, has_color ? color : "");
	ftr_ostream_puts(diff->out, text);
	ftr_ostream_puts(diff->out, has_color ? FTR_SGR_RESET : "");
}

static void put_difference(const struct diff *diff, const struct report_column *column,
			   const struct values *v)
{
	int width = diff->policy.is_full && width_of(diff, column) == FULL_NARROW_WIDTH ?
			    VALUE_WIDTH :
			    DIFF_WIDTH;
	char text[CELL_BYTES], time[FTR_DURATION_BYTES];
	double slower = column->kind == REPORT_TIME ? v->delta : 0;

	if (column->kind == REPORT_COUNT)
		snprintf(text, sizeof(text), "%+lld", (long long)v->delta);
	else if (column->kind == REPORT_PERCENT)
		snprintf(text, sizeof(text), "%+.2f%%", v->delta);
	else if (diff->policy.is_percent && v->has_ratio)
		snprintf(text, sizeof(text), "%+.2f%%", v->percent);
	else if (diff->policy.is_percent)
		snprintf(text, sizeof(text), "N/A ");
	else if (v->delta == 0)
		snprintf(text, sizeof(text), "0 us");
	else
		snprintf(text, sizeof(text), "%c%s", v->delta < 0 ? '-' : '+',
			 time_text(time, v->delta < 0 ? -v->delta : v->delta));
	put_cell(diff, text, width, slower);
}

/* One of the two that differ, in full. */
static void put_value(const struct diff *diff, const struct report_column *column, double value)
{
	char text[CELL_BYTES], time[FTR_DURATION_BYTES];

	if (column->kind == REPORT_COUNT)
		snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	else if (column->kind == REPORT_PERCENT)
		snprintf(text, sizeof(text), "%.2f%%", value);
	else
		snprintf(text, sizeof(text), "%s", value == 0 ? "-" : time_text(time, value));
	put_cell(diff, text, VALUE_WIDTH, 0);
}

static void put_column(const struct diff *diff, const struct report_column *column,
		       const struct ftr_stats_pair *pair)
{
	const char *gap = column->kind == REPORT_COUNT ? " " : "  ";
	struct values v = values_of(column, pair);

	ftr_ostream_puts(diff->out, "   ");
	if (diff->policy.is_full) {
		put_value(diff, column, v.base);
		ftr_ostream_puts(diff->out, gap);
		put_value(diff, column, v.other);
		ftr_ostream_puts(diff->out,
				 column->kind == REPORT_TIME && diff->policy.is_percent ? "" : gap);
	}
	put_difference(diff, column, &v);
}

static void put_trace(const struct diff *diff, int number, const char *role,
		      const struct ftr_report_trace *trace)
{
	ftr_ostream_printf(diff->out, "#  [%d] %s: %s", number, role, trace->path);
	if (trace->cmdline != NULL)
		ftr_ostream_printf(diff->out, "\t(from %s)", trace->cmdline);
	ftr_ostream_putc(diff->out, '\n');
}

/* How long tasks waited says more of the machine than of the program. */
static bool is_scheduling(const struct ftr_stats_pair *pair)
{
	return strncmp(pair->name, SCHEDULING, strlen(SCHEDULING)) == 0;
}

static void put_row(const struct diff *diff, const struct ftr_stats_pair *pair)
{
	for (int column = 0; column < REPORT_COLUMNS; column++)
		if (diff->mask & FTR_BIT64(column))
			put_column(diff, &report_columns[column], pair);
	ftr_ostream_puts(diff->out, "   ");
	ftr_ostream_write(diff->out, pair->name, pair->name_len);
	ftr_ostream_putc(diff->out, '\n');
}

static void put_all(const struct diff *diff, const struct ftr_stats_pair *pairs, size_t nr,
		    const struct ftr_report_trace traces[2])
{
	size_t scheduling_nr = 0;

	ftr_ostream_puts(diff->out, "#\n# ftr diff\n");
	put_trace(diff, 0, "base", &traces[0]);
	put_trace(diff, 1, "diff", &traces[1]);
	ftr_ostream_puts(diff->out, "#\n");
	put_head(diff);
	for (size_t i = 0; i < nr; i++) {
		if (is_scheduling(&pairs[i]))
			scheduling_nr++;
		else
			put_row(diff, &pairs[i]);
	}
	if (scheduling_nr > 0)
		ftr_ostream_puts(diff->out, "#\n# scheduling\n#\n");
	for (size_t i = 0; i < nr; i++)
		if (is_scheduling(&pairs[i]))
			put_row(diff, &pairs[i]);
}

static int parse(struct diff *diff, struct ftr_err *err)
{
	int ret = parse_policy(diff->opts->diff_policy, &diff->policy, err);

	if (ret == 0)
		ret = parse_fields(diff, err);
	if (ret == 0)
		ret = report_parse_sort(diff->opts, &diff->sort, err);
	return ret;
}

int ftr_report_check_diff(const struct ftr_report_opts *opts, struct ftr_err *err)
{
	struct diff diff = { .opts = opts };

	return parse(&diff, err);
}

int ftr_report_print_diff(const struct ftr_report_trace traces[2],
			  const struct ftr_report_opts *opts, struct ftr_ostream *out,
			  struct ftr_err *err)
{
	struct diff diff = { .opts = opts, .out = out };
	struct ftr_stats_pair *pairs;
	int ret = parse(&diff, err);
	size_t nr;

	if (ret < 0)
		return ret;
	pairs = ftr_stats_pair_all(traces[0].stats, traces[1].stats, &nr);
	if (pairs == NULL)
		return ftr_err_set(err, ENOMEM, "report: out of memory");
	qsort_r(pairs, nr, sizeof(*pairs), compare, &diff);
	put_all(&diff, pairs, nr, traces);
	free(pairs);
	return 0;
}

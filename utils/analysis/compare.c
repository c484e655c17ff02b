/* SPDX-License-Identifier: MIT */
/* Comparing runs: medians, and intervals by order statistics, however times vary. */
#include "utils/analysis/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "utils/analysis/stats.h"

#define CONFIDENCE 0.95

static double value_total(const struct ftr_func_stat *stat)
{
	return (double)stat->total.sum_ns;
}

static double value_self(const struct ftr_func_stat *stat)
{
	return (double)stat->self.sum_ns;
}

static double value_calls(const struct ftr_func_stat *stat)
{
	return (double)stat->calls;
}

static double value_total_avg(const struct ftr_func_stat *stat)
{
	return ftr_time_stat_avg_ns(&stat->total, stat->calls);
}

static double value_self_avg(const struct ftr_func_stat *stat)
{
	return ftr_time_stat_avg_ns(&stat->self, stat->calls);
}

const struct ftr_compare_by ftr_compare_bys[] = {
	{ "total",     true,  value_total },
	{ "self",      true,  value_self },
	{ "call",      false, value_calls },
	{ "total-avg", true,  value_total_avg },
	{ "self-avg",  true,  value_self_avg },
	{ 0 }
};

void ftr_compare_init(struct ftr_compare *compare, const struct ftr_compare_by *by)
{
	*compare = (struct ftr_compare){ .by = by };
	ftr_strpool_init(&compare->names);
}

void ftr_compare_fini(struct ftr_compare *compare)
{
	for (size_t i = 0; i < compare->rows.nr; i++)
		for (int side = 0; side < FTR_COMPARE_SIDES; side++)
			ftr_vec_fini(&compare->rows.v[i].runs[side].values);
	ftr_vec_fini(&compare->rows);
	ftr_strpool_fini(&compare->names);
}

/* ---- runs ---- */

static struct ftr_compare_row *row_get(struct ftr_compare *compare,
				       const struct ftr_func_stat *stat)
{
	const struct ftr_str *name = ftr_strpool_get(&compare->names, stat->name, stat->name_len);
	struct ftr_compare_row row = { 0 };

	if (name == NULL)
		return NULL;
	row.name = name->s;
	row.name_len = name->len;
	if (name->id == compare->rows.nr && ftr_vec_push(&compare->rows, row) < 0)
		return NULL;
	return &compare->rows.v[name->id];
}

/* Zeros for runs that did not call the function. */
static int fill(struct ftr_compare_runs *runs, size_t nr)
{
	if (ftr_vec_extend(&runs->values, nr) < 0)
		return -ENOMEM;
	return 0;
}

int ftr_compare_add(struct ftr_compare *compare, enum ftr_compare_side side,
		    const struct ftr_stats *stats)
{
	const struct ftr_func_stat **rows;
	size_t nr;
	int ret = 0;

	rows = ftr_stats_rows(stats, &nr);
	if (rows == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < nr && ret == 0; i++) {
		struct ftr_compare_row *row = row_get(compare, rows[i]);

		ret = row == NULL ? -ENOMEM : fill(&row->runs[side], compare->run_nr[side] + 1);
		/* What scheduled out has two rows of one name: they add up. */
		if (ret == 0)
			row->runs[side].values.v[compare->run_nr[side]] +=
				compare->by->value(rows[i]);
	}
	free(rows);
	compare->run_nr[side]++;
	return ret;
}

/* ---- medians ---- */

/* How many of the sorted values to leave out at either end, so that the rest is sure enough. */
static size_t outside_of_interval(size_t nr, double *confidence)
{
	double tail = pow(0.5, (double)nr);	/* chance of a median before the first value */
	double term = tail;
	size_t left_out = 0;

	*confidence = 1 - 2 * tail;
	for (size_t k = 1; 2 * k < nr; k++) {
		term *= (double)(nr - k + 1) / (double)k;
		if (1 - 2 * (tail + term) < CONFIDENCE)
			break;
		tail += term;
		*confidence = 1 - 2 * tail;
		left_out = k;
	}
	return left_out;
}

double ftr_compare_confidence(size_t nr)
{
	double confidence;

	outside_of_interval(nr, &confidence);
	return confidence;
}

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static int runs_finish(struct ftr_compare_runs *runs, size_t nr)
{
	const double *v;
	double confidence;
	size_t left_out;

	if (nr == 0)
		return 0;
	if (fill(runs, nr) < 0)
		return -ENOMEM;
	v = runs->values.v;
	qsort(runs->values.v, nr, sizeof(*v), compare_doubles);
	left_out = outside_of_interval(nr, &confidence);
	runs->median = (v[(nr - 1) / 2] + v[nr / 2]) / 2;
	runs->low = v[left_out];
	runs->high = v[nr - 1 - left_out];
	return 0;
}

/* A difference that may be chance is none: the intervals must lie apart. */
static enum ftr_compare_verdict judge(const struct ftr_compare_row *row,
				      const struct ftr_compare_threshold *threshold)
{
	const struct ftr_compare_runs *base = &row->runs[FTR_COMPARE_BASE];
	const struct ftr_compare_runs *other = &row->runs[FTR_COMPARE_OTHER];

	if (base->median < threshold->least && other->median < threshold->least)
		return FTR_COMPARE_SAME;
	if (row->percent > threshold->percent && other->low > base->high)
		return FTR_COMPARE_WORSE;
	if (row->percent < -threshold->percent && other->high < base->low)
		return FTR_COMPARE_BETTER;
	return FTR_COMPARE_SAME;
}

static int compare_rows(const void *a, const void *b)
{
	const struct ftr_compare_row *left = a, *right = b;
	double left_change = fabs(left->delta), right_change = fabs(right->delta);

	if (left_change != right_change)
		return left_change > right_change ? -1 : 1;
	return strcmp(left->name, right->name);
}

int ftr_compare_finish(struct ftr_compare *compare, const struct ftr_compare_threshold *threshold)
{
	for (size_t i = 0; i < compare->rows.nr; i++) {
		struct ftr_compare_row *row = &compare->rows.v[i];
		double base;

		for (int side = 0; side < FTR_COMPARE_SIDES; side++)
			if (runs_finish(&row->runs[side], compare->run_nr[side]) < 0)
				return -ENOMEM;
		base = row->runs[FTR_COMPARE_BASE].median;
		row->delta = row->runs[FTR_COMPARE_OTHER].median - base;
		row->percent = row->delta == 0 ? 0 : 100 * row->delta / base;
		row->verdict = judge(row, threshold);
		compare->worse_nr += row->verdict == FTR_COMPARE_WORSE;
		compare->better_nr += row->verdict == FTR_COMPARE_BETTER;
	}
	if (compare->rows.nr > 1)
		qsort(compare->rows.v, compare->rows.nr, sizeof(compare->rows.v[0]), compare_rows);
	return 0;
}

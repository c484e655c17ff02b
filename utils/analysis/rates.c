/* SPDX-License-Identifier: MIT */
/* See rates.h. */
#include "utils/analysis/rates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/trace/summary.h"

struct order {
	enum ftr_rate_key key;
	bool is_all;
};

void ftr_rates_init(struct ftr_rates *rates)
{
	memset(rates, 0, sizeof(*rates));
	ftr_strpool_init(&rates->names);
}

void ftr_rates_fini(struct ftr_rates *rates)
{
	ftr_strpool_fini(&rates->names);
	ftr_vec_fini(&rates->rows);
}

void ftr_rates_begin(struct ftr_rates *rates, uint64_t begin_ns)
{
	if (begin_ns == rates->begin_ns)
		return;
	rates->begin_ns = begin_ns;
	rates->interval_nr++;
	for (size_t i = 0; i < rates->rows.nr; i++)
		rates->rows.v[i].now = (struct ftr_rate_sums){ 0 };
}

static struct ftr_rate *rate_of(struct ftr_rates *rates, const char *name)
{
	const struct ftr_str *str = ftr_strpool_get(&rates->names, name, strlen(name));
	struct ftr_rate rate = { 0 };

	if (str == NULL)
		return NULL;
	rate.name = str->s;
	if (str->id == rates->rows.nr && ftr_vec_push(&rates->rows, rate) < 0)
		return NULL;
	return &rates->rows.v[str->id];
}

static void sums_add(struct ftr_rate_sums *sums, const struct ftr_call_sum *more)
{
	sums->calls += more->calls;
	sums->total_ns += more->total_ns - more->nested_ns;
	sums->self_ns += more->self_ns;
}

int ftr_rates_add(struct ftr_rates *rates, const char *name, const struct ftr_summary_row *row)
{
	struct ftr_rate *rate = rate_of(rates, name);

	if (rate == NULL)
		return -ENOMEM;
	for (uint64_t left = row->used; left != 0; left &= left - 1) {
		const struct ftr_call_sum *sum = &row->octaves[__builtin_ctzll(left)];

		sums_add(&rate->now, sum);
		sums_add(&rate->all, sum);
	}
	return 0;
}

static uint64_t value_of(const struct ftr_rate *rate, const struct order *order)
{
	const struct ftr_rate_sums *sums = ftr_rate_sums_of(rate, order->is_all);

	switch (order->key) {
	case FTR_RATE_SELF:  return sums->self_ns;
	case FTR_RATE_TOTAL: return sums->total_ns;
	case FTR_RATE_CALLS: return sums->calls;
	case FTR_RATE_AVG:   return sums->total_ns / sums->calls;	/* it was called */
	default:	     return 0;
	}
}

static int compare(const void *a, const void *b, void *order)
{
	const struct ftr_rate *x = *(const struct ftr_rate *const *)a;
	const struct ftr_rate *y = *(const struct ftr_rate *const *)b;
	uint64_t of_x = value_of(x, order), of_y = value_of(y, order);

	return of_x != of_y ? (of_x < of_y ? 1 : -1) : strcmp(x->name, y->name);
}

const struct ftr_rate **ftr_rates_sorted(const struct ftr_rates *rates, enum ftr_rate_key key,
					 bool is_all, size_t *nr)
{
	const struct ftr_rate **sorted = calloc(rates->rows.nr + 1, sizeof(*sorted));
	struct order order = { .key = key, .is_all = is_all };

	*nr = 0;
	if (sorted == NULL)
		return NULL;
	for (size_t i = 0; i < rates->rows.nr; i++)
		if (ftr_rate_sums_of(&rates->rows.v[i], is_all)->calls != 0)
			sorted[(*nr)++] = &rates->rows.v[i];
	qsort_r(sorted, *nr, sizeof(*sorted), compare, &order);
	return sorted;
}

/* SPDX-License-Identifier: MIT */
/* Statistics of sums that were made when the calls were recorded (ftr record --summary). */
#include <errno.h>
#include <stdlib.h>

#include "utils/analysis/stats.h"
#include "utils/trace/summary.h"

static void add_span(struct ftr_time_stat *stat, const struct ftr_time_span *span, bool is_first)
{
	if (is_first || span->min_ns < stat->min_ns)
		stat->min_ns = span->min_ns;
	if (is_first || span->max_ns > stat->max_ns)
		stat->max_ns = span->max_ns;
	stat->squares += span->squares;
}

/* Of the times in an octave their average stands for each. */
static int add_spread(struct ftr_time_stat *stat, uint64_t sum_ns, uint64_t calls)
{
	int ret;

	if (stat->spread == NULL)
		stat->spread = calloc(1, sizeof(*stat->spread));
	ret = stat->spread == NULL ? -ENOMEM :
				     ftr_histogram_add_times(stat->spread, sum_ns / calls, calls);
	if (ret == 0) {
		stat->spread->min = stat->min_ns;
		stat->spread->max = stat->max_ns;
	}
	return ret;
}

int ftr_func_stat_add_sums(struct ftr_func_stat *stat, const struct ftr_summary_row *row,
			   bool has_spread)
{
	int ret = 0;

	add_span(&stat->total, &row->total, stat->calls == 0);
	add_span(&stat->self, &row->self, stat->calls == 0);
	for (uint64_t left = row->used; ret == 0 && left != 0; left &= left - 1) {
		const struct ftr_call_sum *sum = &row->octaves[__builtin_ctzll(left)];

		stat->calls += sum->calls;
		stat->total.sum_ns += sum->total_ns - sum->nested_ns;
		stat->total.nested_ns += sum->nested_ns;
		stat->self.sum_ns += sum->self_ns;
		if (has_spread && sum->calls != 0)
			ret = add_spread(&stat->total, sum->total_ns, sum->calls);
		if (has_spread && sum->calls != 0 && ret == 0)
			ret = add_spread(&stat->self, sum->self_ns, sum->calls);
	}
	return ret;
}

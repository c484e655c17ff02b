/* SPDX-License-Identifier: MIT */
/* See top.h. */
#include "utils/view/top.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/base/color.h"
#include "utils/base/duration.h"

#define NSEC_PER_SEC 1e9
#define PERCENT	     100.0
#define HEAD	     "  Self %  Total %       Calls/s         Calls  Total avg   Function"

const char *const ftr_top_keys[] = {
	[FTR_RATE_SELF] = "self", [FTR_RATE_TOTAL] = "total", [FTR_RATE_CALLS] = "call",
	[FTR_RATE_AVG] = "total-avg", [FTR_RATE_NAME] = "func", NULL,
};

static void print_row(const struct ftr_rate *rate, double span_ns, const struct ftr_top_opts *opts,
		      struct ftr_ostream *out)
{
	const struct ftr_rate_sums *sums = ftr_rate_sums_of(rate, opts->is_all);

	ftr_ostream_printf(out, "%8.2f %8.2f %13.0f ", PERCENT * (double)sums->self_ns / span_ns,
			   PERCENT * (double)sums->total_ns / span_ns,
			   NSEC_PER_SEC * (double)sums->calls / span_ns);
	ftr_ostream_u64_width(out, rate->all.calls, 13, ' ');
	ftr_ostream_putc(out, ' ');
	ftr_duration_write(out, sums->total_ns / sums->calls, opts->use_color);
	ftr_ostream_puts(out, "   ");
	ftr_ostream_puts(out, rate->name);
	ftr_ostream_puts(out, opts->line_end);
}

static void print_head(const struct ftr_rates *rates, const struct ftr_top_opts *opts,
		       size_t func_nr, struct ftr_ostream *out)
{
	double seconds = (double)opts->interval_ns / NSEC_PER_SEC;

	if (opts->is_all)
		seconds *= (double)rates->interval_nr;
	ftr_ostream_printf(out, "# %s: %zu functions were called in the last %.0f s, by %s%s%s",
			   opts->title, func_nr, seconds, ftr_top_keys[opts->key],
			   opts->is_all ? ", all since the beginning" : "", opts->line_end);
	ftr_ostream_puts(out, opts->use_color ? FTR_SGR_BOLD HEAD FTR_SGR_RESET : HEAD);
	ftr_ostream_puts(out, opts->line_end);
}

int ftr_top_print(const struct ftr_rates *rates, const struct ftr_top_opts *opts,
		  struct ftr_ostream *out)
{
	double span_ns = (double)opts->interval_ns;
	const struct ftr_rate **sorted;
	size_t nr;

	sorted = ftr_rates_sorted(rates, opts->key, opts->is_all, &nr);
	if (sorted == NULL)
		return -ENOMEM;
	if (opts->is_all && rates->interval_nr != 0)
		span_ns *= (double)rates->interval_nr;
	print_head(rates, opts, nr, out);
	for (size_t i = 0; i < nr && (opts->rows == 0 || i < opts->rows); i++)
		print_row(sorted[i], span_ns, opts, out);
	free(sorted);
	return 0;
}

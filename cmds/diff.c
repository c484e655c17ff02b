/* SPDX-License-Identifier: MIT */
/* ftr diff: runs of two builds, function by function, and an exit status that a build can go by. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/cmd.h"
#include "cmds/message.h"
#include "cmds/open.h"
#include "cmds/output.h"
#include "cmds/show.h"
#include "utils/analysis/compare.h"
#include "utils/analysis/stats.h"
#include "utils/cli/common.h"
#include "utils/view/diff.h"

#define NOISE_NS  10000		/* less of a function in a whole run is hardly measured */
#define THRESHOLD 5		/* percent */
#define BETWEEN	  ":"		/* the operand between the runs of the two sides */

struct diff_values {
	struct ftr_common common;
	struct ftr_selection selection;
	struct ftr_diff_opts view;
	int by;			/* index in by_words */
	double threshold;	/* percent */
	double fail_over;	/* percent; INFINITY: never */
	uint64_t least_ns;
	bool json;
};

static const struct diff_values diff_defaults = {
	.threshold = THRESHOLD, .fail_over = INFINITY, .least_ns = NOISE_NS,
};

/* In the order of ftr_compare_bys. */
static const char *const by_words[] = { "total", "self", "call", "total-avg", "self-avg", NULL };

static int parse_percent(const struct ftr_option *opt, void *value, const char *arg,
			 struct ftr_err *err)
{
	double *percent = value;
	char *end;

	*percent = strtod(arg, &end);
	if (end != arg && *end == '%')
		end++;
	if (end == arg || *end != '\0' || !isfinite(*percent) || *percent < 0)
		return ftr_err_set(err, EINVAL, "'%s' is no percentage; write 10%% or 2.5%%", arg);
	return 0;
}

static const struct ftr_option diff_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct diff_values, common),
	FTR_OPTION_GROUP(ftr_selection_options, struct diff_values, selection),
	FTR_OPTION_GROUP(ftr_filter_options, struct diff_values, selection.filter),
	FTR_OPTION_GROUP(ftr_subtract_options, struct diff_values, selection),
	FTR_OPTION("by", 0, "WHAT",
		   "Compare this of each function: total (default), self, call, total-avg, self-avg",
		   ftr_opt_choice, struct diff_values, by, .words = by_words),
	FTR_OPTION("threshold", 0, "PERCENT", "Show changes by more than PERCENT (default: 5%)",
		   parse_percent, struct diff_values, threshold),
	FTR_OPTION("fail-over", 0, "PERCENT",
		   "Exit with 1 when a function got worse by more than PERCENT", parse_percent,
		   struct diff_values, fail_over),
	FTR_OPTION("least", 0, "TIME",
		   "Of times: leave out functions below TIME on both sides (default: 10us)",
		   ftr_opt_time, struct diff_values, least_ns),
	FTR_OPTION("all", 0, NULL, "Show the functions that did not change, too", ftr_opt_flag,
		   struct diff_values, view.shows_all),
	FTR_OPTION("json", 0, NULL, "Print a JSON object a line", ftr_opt_flag, struct diff_values,
		   json),
	{ 0 }
};

static int add_run(struct ftr_compare *compare, enum ftr_compare_side side,
		   const struct diff_values *values, const char *path)
{
	struct ftr_common common = values->common;
	struct ftr_opened opened;
	struct ftr_err err = { 0 };
	struct ftr_sink *sink;
	int status;

	common.data = path;
	status = ftr_opened_open(&opened, &common, &values->selection, FTR_ORDER_ANY);
	if (status != FTR_EXIT_OK)
		return status;
	opened.trace->wants_text = ftr_trace_wants_no_text;
	sink = ftr_stats_new(0, &err);
	if (sink == NULL || ftr_opened_pump(&opened, sink, NULL, &err) < 0) {
		ftr_error("%s", err.text);
		status = FTR_EXIT_FAILED;
	} else if (ftr_compare_add(compare, side, ftr_stats_get(sink)) < 0) {
		ftr_error("diff: out of memory");
		status = FTR_EXIT_FAILED;
	}
	ftr_sink_free(sink);
	ftr_opened_close(&opened);
	return status;
}

static int add_runs(struct ftr_compare *compare, enum ftr_compare_side side,
		    const struct diff_values *values, char **paths, int nr)
{
	int status = FTR_EXIT_OK;

	for (int i = 0; i < nr && status == FTR_EXIT_OK; i++)
		status = add_run(compare, side, values, paths[i]);
	return status;
}

static int print_compared(const struct ftr_compare *compare, const struct diff_values *values)
{
	struct ftr_diff_opts opts = values->view;
	struct ftr_output output;

	if (ftr_output_open(&output, &values->common, NULL) < 0)
		return FTR_EXIT_FAILED;
	opts.use_color = output.use_color;
	if (values->json)
		ftr_diff_print_json(compare, &opts, &output.out);
	else
		ftr_diff_print(compare, &opts, &output.out);
	return ftr_output_close(&output);
}

static bool is_exceeded(const struct ftr_compare *compare, double percent)
{
	for (size_t i = 0; i < compare->rows.nr; i++)
		if (compare->rows.v[i].verdict == FTR_COMPARE_WORSE &&
		    compare->rows.v[i].percent > percent)
			return true;
	return false;
}

static int diff_sides(const struct diff_values *values, char **base, int base_nr, char **other,
		      int other_nr)
{
	const struct ftr_compare_by *by = &ftr_compare_bys[values->by];
	const struct ftr_compare_threshold threshold = {
		.percent = fmin(values->threshold, values->fail_over),
		.least = by->is_time ? (double)values->least_ns : 0,
	};
	struct ftr_compare compare;
	int status;

	ftr_compare_init(&compare, by);
	status = add_runs(&compare, FTR_COMPARE_BASE, values, base, base_nr);
	if (status == FTR_EXIT_OK)
		status = add_runs(&compare, FTR_COMPARE_OTHER, values, other, other_nr);
	if (status == FTR_EXIT_OK && ftr_compare_finish(&compare, &threshold) < 0) {
		ftr_error("diff: out of memory");
		status = FTR_EXIT_FAILED;
	}
	if (status == FTR_EXIT_OK)
		status = print_compared(&compare, values);
	if (status == FTR_EXIT_OK && is_exceeded(&compare, values->fail_over))
		status = FTR_EXIT_FAILED;
	ftr_compare_fini(&compare);
	return status;
}

static int diff_run(void *arg, int argc, char **argv)
{
	const struct diff_values *values = arg;
	int between = 0;

	while (between < argc && strcmp(argv[between], BETWEEN) != 0)
		between++;
	if (between == argc && argc == 2)
		return diff_sides(values, argv, 1, argv + 1, 1);
	if (between > 0 && between + 1 < argc)
		return diff_sides(values, argv, between, argv + between + 1, argc - between - 1);
	ftr_error("diff: name the traces of both sides: ftr diff BASE OTHER, or several runs each: "
		  "ftr diff BASE... : OTHER...");
	return FTR_EXIT_USAGE;
}

const struct ftr_cmd ftr_cmd_diff = {
	.name	      = "diff",
	.usage	      = "[OPTION...] BASE... : OTHER...",
	.summary      = "Compare the functions of two sides, of one run or several each",
	.options      = diff_options,
	.values_bytes = sizeof(struct diff_values),
	.defaults     = &diff_defaults,
	.run	      = diff_run,
};

/* SPDX-License-Identifier: MIT */
/* ftr slowest: the slowest calls of a function, each with its tree. */
#include <errno.h>

#include "cmds/cmd.h"
#include "cmds/graph.h"
#include "cmds/message.h"
#include "cmds/open.h"
#include "cmds/output.h"
#include "cmds/show.h"
#include "utils/analysis/slowest.h"
#include "utils/cli/common.h"
#include "utils/view/graph.h"
#include "utils/view/slowest.h"

#define CALLS_MAX 100000

struct slowest_values {
	struct ftr_common common;
	struct ftr_selection selection;
	struct ftr_graph_opts view;
	uint64_t nr;
};

static const struct slowest_values slowest_defaults = {
	.nr = 3,
};

static const struct ftr_option slowest_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct slowest_values, common),
	FTR_OPTION_GROUP(ftr_selection_options, struct slowest_values, selection),
	FTR_OPTION_GROUP(ftr_filter_options, struct slowest_values, selection.filter),
	FTR_OPTION("number", 'n', "N", "Show so many calls (default: 3)", ftr_opt_u64,
		   struct slowest_values, nr, .min = 1, .max = CALLS_MAX),
	FTR_OPTION("output-fields", 'f', "FIELD[,FIELD...]",
		   "Columns: total self addr total-avg total-max total-min self-avg self-max self-min "
		   "all; +x adds, none hides",
		   ftr_opt_string, struct slowest_values, view.fields),
	FTR_OPTION_GROUP(ftr_graph_view_options, struct slowest_values, view),
	{ 0 }
};

static int print_calls(const struct ftr_sink *sink, const struct ftr_trace *trace,
		       const struct slowest_values *values)
{
	struct ftr_graph_opts opts = values->view;
	struct ftr_err err = { 0 };
	struct ftr_output output;
	int ret;

	if (ftr_output_open(&output, &values->common, NULL) < 0)
		return FTR_EXIT_FAILED;
	opts.use_color = output.use_color;
	opts.trace = trace;
	ret = ftr_slowest_print(ftr_slowest_get(sink), trace, &opts, &output.out, &err);
	if (ret != -ENOENT)
		return ftr_output_end(&output, ret, &err);
	ftr_output_close(&output);
	ftr_error_not_called(trace, opts.func);
	return FTR_EXIT_FAILED;
}

static int slowest_opened(struct ftr_opened *opened, const struct slowest_values *values)
{
	struct ftr_err err = { 0 };
	struct ftr_sink *sink = ftr_slowest_new(values->view.func, (size_t)values->nr,
						values->view.levels, &err);
	int status = FTR_EXIT_FAILED;

	if (sink == NULL || ftr_opened_pump(opened, sink, NULL, &err) < 0)
		ftr_error("%s", err.text);
	else
		status = print_calls(sink, opened->trace, values);
	ftr_sink_free(sink);
	return status;
}

static int slowest_run(void *values, int argc, char **argv)
{
	struct slowest_values *self = values;
	struct ftr_err err = { 0 };
	struct ftr_opened opened;
	bool has_details;
	int status;

	/* Levels count from the call, not from the start. */
	self->view.func = argv[0];
	self->view.levels = self->selection.depth;
	self->selection.depth = 0;
	if (ftr_graph_check_fields(&self->view, &has_details, &err) < 0) {
		ftr_error("%s", err.text);
		return FTR_EXIT_USAGE;
	}
	status = ftr_opened_open(&opened, &self->common, &self->selection, FTR_ORDER_ANY);
	if (status != FTR_EXIT_OK)
		return status;
	status = slowest_opened(&opened, self);
	ftr_opened_close(&opened);
	return status;
}

const struct ftr_cmd ftr_cmd_slowest = {
	.name	      = "slowest",
	.usage	      = "[OPTION...] [TRACE] [FUNC]",
	.summary      = "Show the slowest calls of a function, each as a tree",
	.options      = slowest_options,
	.values_bytes = sizeof(struct slowest_values),
	.defaults     = &slowest_defaults,
	.trace	      = FTR_CMD_TRACE_FOUND,
	.operand_nr   = 1,
	.run	      = slowest_run,
};

/* SPDX-License-Identifier: MIT */
/* ftr replay: the calls of a trace as an indented listing. */
#include "cmds/cmd.h"
#include "cmds/open.h"
#include "cmds/output.h"
#include "cmds/replay.h"
#include "cmds/message.h"
#include "cmds/show.h"

const struct ftr_option ftr_replay_view_options[] = {
	FTR_OPTION("output-fields", 'f', "FIELD[,FIELD...]",
		   "Columns: duration tid addr time delta elapsed task module; +x adds, none hides",
		   ftr_opt_string, struct ftr_replay_opts, fields),
	FTR_OPTION("flat", 0, NULL, "Print a numbered line for each event", ftr_opt_flag,
		   struct ftr_replay_opts, is_flat),
	FTR_OPTION("json", 0, NULL, "Print a JSON object an event", ftr_opt_flag,
		   struct ftr_replay_opts, is_json),
	FTR_OPTION("column-view", 0, NULL, "Indent each task differently", ftr_opt_flag,
		   struct ftr_replay_opts, is_column_view),
	FTR_OPTION("column-offset", 0, "DEPTH", "Levels between two tasks (default: 8)",
		   ftr_opt_u64, struct ftr_replay_opts, column_offset, .max = 1000),
	FTR_OPTION("no-merge", 0, NULL, "Print a call without callees as two lines", ftr_opt_flag,
		   struct ftr_replay_opts, no_merge),
	FTR_OPTION("no-comment", 0, NULL, "Omit function names after closing braces", ftr_opt_flag,
		   struct ftr_replay_opts, no_comment),
	FTR_OPTION("srcline", 0, NULL, "Show where functions are in the source", ftr_opt_flag,
		   struct ftr_replay_opts, has_srcline),
	FTR_OPTION("no-args", 0, NULL, "Omit arguments and return values", ftr_opt_flag,
		   struct ftr_replay_opts, no_args),
	FTR_OPTION("no-callsite", 0, NULL, "Omit where calls came from (-T FUNC@callsite)",
		   ftr_opt_flag, struct ftr_replay_opts, no_callsite),
	FTR_OPTION("task-newline", 0, NULL, "Print an empty line where the task changes", ftr_opt_flag,
		   struct ftr_replay_opts, has_task_newline),
	{ 0 }
};

static const struct ftr_option replay_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct ftr_replay_values, common),
	FTR_OPTION_GROUP(ftr_selection_options, struct ftr_replay_values, selection),
	FTR_OPTION_GROUP(ftr_filter_options, struct ftr_replay_values, selection.filter),
	FTR_OPTION_GROUP(ftr_replay_view_options, struct ftr_replay_values, view),
	FTR_OPTION_GROUP(ftr_html_options, struct ftr_replay_values, common),
	FTR_OPTION_GROUP(ftr_output_options, struct ftr_replay_values, common),
	FTR_OPTION("follow", 0, NULL, "Show calls as they come, in the order of their ends",
		   ftr_opt_flag, struct ftr_replay_values, follows),
	{ 0 }
};

static const struct ftr_replay_values replay_defaults = {
	.view = { .column_offset = 8 },
};

/* Who asks for a range of time wants to see the times, counted in the same way. */
static enum ftr_replay_times times_of(const struct ftr_opened *opened, const char *range)
{
	if (range == NULL)
		return FTR_REPLAY_NO_TIMES;
	return opened->options.from_is_elapsed || opened->options.to_is_elapsed ?
		       FTR_REPLAY_ELAPSED : FTR_REPLAY_TIME_STAMPS;
}

static int replay_opened(struct ftr_opened *opened, const struct ftr_replay_values *values)
{
	struct ftr_replay_opts opts = values->view;
	struct ftr_err err = { 0 };
	struct ftr_output output;
	struct ftr_sink *sink;
	int status, closed;

	if (ftr_output_open(&output, &values->common, NULL) < 0)
		return FTR_EXIT_FAILED;
	opts.use_color = output.use_color;
	opts.times = times_of(opened, values->selection.time_range);
	sink = ftr_replay_new(&opts, &output.out, &err);
	if (sink == NULL) {
		ftr_output_close(&output);
		ftr_error("%s", err.text);
		return FTR_EXIT_USAGE;
	}
	status = ftr_show(opened, sink, &output, false);
	closed = ftr_output_close(&output);
	return output.is_quiet_end ? FTR_EXIT_OK : status != FTR_EXIT_OK ? status : closed;
}

int ftr_replay_show(const struct ftr_replay_values *values)
{
	struct ftr_selection selection = values->selection;
	struct ftr_opened opened;
	int status;

	selection.shows_backtraces = true;
	selection.no_callsite = values->view.no_callsite;
	status = ftr_opened_open(&opened, &values->common, &selection,
				 values->follows ? FTR_ORDER_INPUT : FTR_ORDER_TIME);
	if (status != FTR_EXIT_OK)
		return status;
	status = replay_opened(&opened, values);
	ftr_opened_close(&opened);
	return status;
}

static int replay_run(void *values, int argc, char **argv)
{
	const struct ftr_replay_values *self = values;

	if (self->common.is_html && self->view.is_json) {
		ftr_error("replay: --json is no text for --format=html; leave one out");
		return FTR_EXIT_USAGE;
	}
	return ftr_replay_show(values);
}

const struct ftr_cmd ftr_cmd_replay = {
	.name	      = "replay",
	.usage	      = "[OPTION...] [TRACE]",
	.summary      = "Show the calls in the order in which they happened",
	.options      = replay_options,
	.trace	      = FTR_CMD_TRACE_OPERAND,
	.values_bytes = sizeof(struct ftr_replay_values),
	.defaults     = &replay_defaults,
	.run	      = replay_run,
};

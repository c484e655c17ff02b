/* SPDX-License-Identifier: MIT */
/* ftr graph: who called whom, as a tree. */
#include "cmds/cmd.h"
#include "cmds/from.h"
#include "cmds/graph.h"
#include "cmds/open.h"
#include "cmds/output.h"
#include "cmds/message.h"
#include "cmds/show.h"
#include "utils/analysis/graph.h"
#include "utils/analysis/graph_task.h"
#include "utils/analysis/weight.h"
#include "utils/analysis/weights.h"
#include "utils/base/text.h"
#include "utils/cli/common.h"
#include "utils/fleet/ask_graph.h"
#include "utils/view/graph.h"
#include "utils/view/graph_task.h"

#include <errno.h>
#include <string.h>

struct graph_values {
	struct ftr_common common;
	struct ftr_selection selection;
	struct ftr_graph_opts view;
	struct ftr_from from;
	bool by_task;
	bool json;
	int by;			/* enum ftr_weight_by */
};

const struct ftr_option ftr_graph_view_options[] = {
	FTR_OPTION("srcline", 0, NULL, "Show where functions are in the source", ftr_opt_flag,
		   struct ftr_graph_opts, has_srcline),
	FTR_OPTION("sort", 's', "KEY[,KEY...]",
		   "Order the callees of each function by: func call total self total-avg total-max "
		   "total-min self-avg self-max self-min (default: by their first calls)",
		   ftr_opt_string, struct ftr_graph_opts, sort),
	{ 0 }
};

static const struct ftr_option graph_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct graph_values, common),
	FTR_OPTION_GROUP(ftr_selection_options, struct graph_values, selection),
	FTR_OPTION_GROUP(ftr_filter_options, struct graph_values, selection.filter),
	FTR_OPTION(
		"output-fields", 'f', "FIELD[,FIELD...]",
		"Columns: total self addr total-avg total-max total-min self-avg self-max self-min all; "
		"with --task total self tid exit command; +x adds, none hides",
		ftr_opt_string, struct graph_values, view.fields),
	FTR_OPTION_GROUP(ftr_graph_view_options, struct graph_values, view),
	FTR_OPTION_GROUP(ftr_subtract_options, struct graph_values, selection),
	FTR_OPTION("by", 0, "WHAT",
		   "What a call weighs: its time (default); bytes or blocks of memory that were given in it, "
		   "leak (those that nobody gave back), wait (time of waits), or CPU samples",
		   ftr_opt_choice, struct graph_values, by, .words = ftr_weight_words),
	FTR_OPTION("json", 0, NULL, "Print a JSON object a node of the tree", ftr_opt_flag,
		   struct graph_values, json),
	FTR_OPTION_GROUP(ftr_html_options, struct graph_values, common),
	FTR_OPTION_GROUP(ftr_output_options, struct graph_values, common),
	FTR_OPTION_GROUP(ftr_from_options, struct graph_values, from),
	FTR_OPTION("task", 0, NULL, "Show the tree of processes and threads instead", ftr_opt_flag,
		   struct graph_values, by_task),
	{ 0 }
};

static struct ftr_graph *graph_of(struct ftr_sink *sink, const struct graph_values *values)
{
	return values->by == FTR_WEIGHT_TIME ? ftr_graph_get(sink) : ftr_weights_graph(sink);
}

static int print_sink(struct ftr_sink *sink, const struct ftr_trace *trace,
		      const struct graph_values *values,
		      struct ftr_ostream *out, struct ftr_err *err, bool use_color)
{
	struct ftr_graph_task_opts of_tasks = { values->view.fields, use_color };
	struct ftr_graph_opts opts = values->view;

	opts.use_color = use_color;
	opts.trace = trace;
	if (values->by_task)
		return ftr_graph_task_print(ftr_task_tree_get(sink), &of_tasks, out, err);
	if (!values->json)
		return ftr_graph_print(graph_of(sink, values), &opts, out, err);
	ftr_graph_print_json(graph_of(sink, values), out);
	return 0;
}

/* *is_program: what was looked for is no function, but the program. */
static int print_graph(struct ftr_sink *sink, const struct ftr_trace *trace,
		       const struct graph_values *values, bool *is_program)
{
	struct ftr_err err = { 0 };
	struct ftr_output output;
	int ret;

	if (ftr_output_open(&output, &values->common, NULL) < 0)
		return FTR_EXIT_FAILED;
	ret = print_sink(sink, trace, values, &output.out, &err, output.use_color);
	if (ret != -ENOENT)
		return ftr_output_end(&output, ret, &err);
	ftr_output_close(&output);
	*is_program = values->view.func != NULL &&
		      ftr_trace_is_of_program(trace, values->view.func);
	if (*is_program)
		return FTR_EXIT_OK;
	ftr_error_not_called(trace, values->view.func);
	return FTR_EXIT_FAILED;
}

static struct ftr_sink *sink_new(const struct graph_values *values, bool has_details,
				 struct ftr_err *err)
{
	uint64_t depth = values->selection.depth;

	if (values->by_task)
		return ftr_task_tree_new(err);
	if (values->by == FTR_WEIGHT_TIME && values->selection.time_ns > 0 && !has_details)
		return ftr_graph_new_late(err);
	if (values->by == FTR_WEIGHT_TIME)
		return ftr_graph_new(has_details, err);
	return ftr_weights_new((enum ftr_weight_by)values->by,
			       depth > UINT32_MAX ? 0 : (uint32_t)depth, err);
}

static int graph_opened(struct ftr_opened *opened, const struct graph_values *values,
			bool has_details, bool *is_program)
{
	struct ftr_err err = { 0 };
	struct ftr_sink *sink = sink_new(values, has_details, &err);
	int status = FTR_EXIT_FAILED;

	opened->trace->wants_text = ftr_trace_wants_no_text;
	if (sink == NULL || ftr_opened_pump(opened, sink, NULL, &err) < 0)
		ftr_error("%s", err.text);
	else
		status = print_graph(sink, opened->trace, values, is_program);
	ftr_sink_free(sink);
	return status;
}

static int check_fields(const struct graph_values *values, bool *has_details, struct ftr_err *err)
{
	struct ftr_graph_task_opts of_tasks = { .fields = values->view.fields };

	*has_details = false;
	if (values->by_task)
		return ftr_graph_task_check_fields(&of_tasks, err);
	return ftr_graph_check_fields(&values->view, has_details, err);
}

/* Levels count from the function, not from the start. */
static void func_set(struct graph_values *values, const char *func)
{
	values->view.func = func;
	values->view.levels = values->selection.depth;
	values->selection.depth = 0;
}

static int graph_show(const struct graph_values *values, bool *is_program)
{
	struct ftr_selection selection = values->selection;
	struct ftr_err err = { 0 };
	struct ftr_opened opened;
	enum ftr_order order = FTR_ORDER_ANY;
	bool has_details;
	int status;

	*is_program = false;
	if (check_fields(values, &has_details, &err) < 0) {
		ftr_error("%s", err.text);
		return FTR_EXIT_USAGE;
	}
	selection.shows_stack_calls = true;
	if (values->by != FTR_WEIGHT_TIME) {
		selection.event_full = true;
		selection.depth = 0;	/* what happens deeper weighs, too */
		order = FTR_ORDER_TIME;
	}
	status = ftr_opened_open(&opened, &values->common, &selection, order);
	if (status != FTR_EXIT_OK)
		return status;
	status = graph_opened(&opened, values, has_details, is_program);
	ftr_opened_close(&opened);
	return status;
}

/* ---- from a database ---- */

static bool asks_for_addr(const char *fields)
{
	struct ftr_slice rest, word;

	if (fields == NULL)
		return false;
	rest = ftr_slice_make(fields + (*fields == '+'), strlen(fields + (*fields == '+')));
	while (ftr_slice_split(&rest, ',', &word)) {
		if (ftr_slice_eq(word, "addr") || ftr_slice_eq(word, "all"))
			return true;
	}
	return false;
}

/* What a database cannot be asked, with its reason; NULL: all can. */
static const char *refused_of(const struct graph_values *values)
{
	static const struct ftr_selection everything;

	if (values->common.data != NULL)
		return "--from reads a database, not a trace";
	if (values->by_task || values->view.has_srcline || values->by != FTR_WEIGHT_TIME)
		return "--task, --srcline and --by need a trace; --from has functions alone";
	if (asks_for_addr(values->view.fields))
		return "the database of --from does not know addresses: choose fields without addr";
	if (memcmp(&values->selection, &everything, sizeof(everything)) != 0)
		return "filters and other choices of what is shown need a trace; choose with "
		       "--where, or name a function";
	return NULL;
}

static int ask_graph(const struct ftr_asked *asked, void *arg, struct ftr_err *err)
{
	return ftr_fleet_ask_graph(asked, arg, err);
}

static int print_asked(struct ftr_graph *graph, const struct graph_values *values)
{
	struct ftr_graph_opts opts = values->view;
	struct ftr_err err = { 0 };
	struct ftr_output output;
	int ret = 0;

	if (ftr_output_open(&output, &values->common, NULL) < 0)
		return FTR_EXIT_FAILED;
	opts.use_color = output.use_color;
	opts.has_no_addr = true;
	if (values->json)
		ftr_graph_print_json(graph, &output.out);
	else
		ret = ftr_graph_print(graph, &opts, &output.out, &err);
	if (ret != -ENOENT)
		return ftr_output_end(&output, ret, &err);
	ftr_output_close(&output);
	ftr_error("graph: the database has no such calls%s%s", opts.func != NULL ? " of " : "",
		  opts.func != NULL ? opts.func : "");
	return FTR_EXIT_FAILED;
}

static int graph_from(const struct graph_values *values)
{
	const char *refused = refused_of(values);
	struct ftr_fleet_graph graph;
	struct ftr_err err = { 0 };
	bool has_details;
	int status;

	if (refused != NULL || check_fields(values, &has_details, &err) < 0) {
		ftr_error("graph: %s", refused != NULL ? refused : err.text);
		return FTR_EXIT_USAGE;
	}
	memset(&graph, 0, sizeof(graph));
	status = ftr_from_ask(&values->from, "graph", values->from.where, ask_graph, &graph);
	if (status == FTR_EXIT_OK)
		status = print_asked(&graph.graph, values);
	ftr_fleet_graph_fini(&graph);
	return status;
}

/* What a tree by weight cannot be had with, with its reason; NULL: all can. */
static const char *by_refuses(const struct graph_values *values)
{
	if (values->by == FTR_WEIGHT_TIME)
		return NULL;
	if (values->by_task || values->selection.subtract)
		return values->by_task ?
			       "--task is the tree of processes, which --by does not weigh" :
			       "--subtract is about times of calls, not for --by";
	return NULL;
}

static int graph_run(void *values, int argc, char **argv)
{
	struct graph_values of_func = *(const struct graph_values *)values;
	const char *refused = by_refuses(&of_func);
	const struct ftr_from *from = &of_func.from;
	bool is_program;
	int status;

	if (refused != NULL) {
		ftr_error("graph: %s", refused);
		return FTR_EXIT_USAGE;
	}
	of_func.view.weight = ftr_weight_of((enum ftr_weight_by)of_func.by);
	if (argc > 0 && of_func.by_task && !ftr_data_is_of_program(&of_func.common, argv[0])) {
		ftr_error("graph: --task takes no function: %s", argv[0]);
		return FTR_EXIT_USAGE;
	}
	if (of_func.by_task && (of_func.view.sort != NULL || of_func.view.has_srcline)) {
		ftr_error("graph: --sort and --srcline are of functions, not of the tree of --task");
		return FTR_EXIT_USAGE;
	}
	if (of_func.json && of_func.common.is_html) {
		ftr_error("graph: --json is no text for --format=html; leave one out");
		return FTR_EXIT_USAGE;
	}
	if (of_func.json && (argc > 0 || of_func.by_task)) {
		ftr_error("graph: --json has the whole tree; select by -F FUNC, not by name or --task");
		return FTR_EXIT_USAGE;
	}
	if (from->url == NULL && (from->where != NULL || from->login != NULL)) {
		ftr_error("graph: --where and --login are about the database of --from");
		return FTR_EXIT_USAGE;
	}
	if (argc > 0 && !of_func.by_task)
		func_set(&of_func, argv[0]);
	if (from->url != NULL)
		return graph_from(&of_func);
	status = graph_show(&of_func, &is_program);
	of_func.view.func = NULL;
	of_func.selection = ((const struct graph_values *)values)->selection;
	return is_program ? graph_show(&of_func, &is_program) : status;
}

const struct ftr_cmd ftr_cmd_graph = {
	.name	      = "graph",
	.usage	      = "[OPTION...] [TRACE] [FUNC]",
	.summary      = "Show who called whom as a tree",
	.options      = graph_options,
	.values_bytes = sizeof(struct graph_values),
	.trace	      = FTR_CMD_TRACE_FOUND,
	.operand_nr   = 1,
	.run	      = graph_run,
};

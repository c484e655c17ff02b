/* SPDX-License-Identifier: MIT */
/* ftr graph: who called whom, as a tree. */
#include "cmds/cmd.h"
#include "cmds/open.h"
#include "cmds/output.h"
#include "cmds/say.h"
#include "utils/analysis/graph.h"
#include "utils/cli/closest.h"
#include "utils/cli/common.h"
#include "utils/trace/pump.h"
#include "utils/view/graph.h"

#include <errno.h>

struct graph_values {
	struct ftr_common common;
	struct ftr_selection selection;
	struct ftr_graph_opts view;
};

static const struct ftr_option graph_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct graph_values, common),
	FTR_OPTION_GROUP(ftr_selection_options, struct graph_values, selection),
	FTR_OPTION("output-fields", 'f', "FIELD[,FIELD...]",
		   "Columns: total self addr total-avg total-max total-min self-avg self-max self-min all; "
		   "+x adds, none hides",
		   ftr_opt_string, struct graph_values, view.fields),
	{ 0 }
};

/* Every function that was called is known by name by now. */
static void say_not_called(const struct ftr_trace *trace, const char *func)
{
	struct ftr_closest closest = { 0 };

	if (func == NULL) {
		ftr_say_error("%s: no call to show", trace->path);
		return;
	}
	for (size_t i = 0; i < trace->funcs.nr; i++)
		ftr_closest_try(&closest, func, trace->funcs.v[i]->name);
	if (closest.name != NULL)
		ftr_say_error("%s: no call of \"%s\"; did you mean \"%s\"?", trace->path, func,
			      closest.name);
	else
		ftr_say_error("%s: no call of \"%s\": \"report\" lists what was called",
			      trace->path, func);
}

static int print_graph(const struct ftr_graph *graph, const struct ftr_trace *trace,
		       const struct graph_values *values)
{
	struct ftr_graph_opts opts = values->view;
	struct ftr_err err = { 0 };
	struct ftr_output output;
	int ret, status;

	if (ftr_output_open(&output, &values->common, NULL) < 0)
		return FTR_EXIT_FAILED;
	opts.use_color = output.use_color;
	ret = ftr_graph_print(graph, &opts, &output.out, &err);
	status = ftr_output_close(&output);
	if (ret == 0)
		return status;
	if (ret == -ENOENT)
		say_not_called(trace, opts.func);
	else
		ftr_say_error("%s", err.text);
	return FTR_EXIT_FAILED;
}

static int graph_opened(struct ftr_opened *opened, const struct graph_values *values,
			bool has_details)
{
	struct ftr_err err = { 0 };
	struct ftr_sink *sink = ftr_graph_new(has_details, &err);
	int status = FTR_EXIT_FAILED;

	if (sink == NULL || ftr_pump(opened->source, sink, opened->trace, NULL, &err) < 0)
		ftr_say_error("%s", err.text);
	else
		status = print_graph(ftr_graph_get(sink), opened->trace, values);
	ftr_sink_free(sink);
	return status;
}

static int graph_run(void *values, int argc, char **argv)
{
	struct graph_values *self = values;
	struct ftr_err err = { 0 };
	struct ftr_opened opened;
	bool has_details;
	int status;

	if (argc > 1) {
		ftr_say_error("graph: takes one function: %s", argv[1]);
		return FTR_EXIT_USAGE;
	}
	self->view.func = argv[0];
	if (argc > 0) {		/* levels below the function, not from the start */
		self->view.levels = self->selection.depth;
		self->selection.depth = 0;
	}
	if (ftr_graph_check_fields(&self->view, &has_details, &err) < 0) {
		ftr_say_error("%s", err.text);
		return FTR_EXIT_USAGE;
	}
	status = ftr_opened_open(&opened, &self->common, &self->selection, true);
	if (status != FTR_EXIT_OK)
		return status;
	status = graph_opened(&opened, self, has_details);
	ftr_opened_close(&opened);
	return status;
}

const struct ftr_cmd ftr_cmd_graph = {
	.name	      = "graph",
	.usage	      = "[OPTION...] [FUNC]",
	.summary      = "Show who called whom as a tree",
	.options      = graph_options,
	.values_bytes = sizeof(struct graph_values),
	.run	      = graph_run,
};

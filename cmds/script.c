/* SPDX-License-Identifier: MIT */
/* ftr script: functions of a script, called at each event of a trace. */
#include "cmds/script.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmds/apart.h"
#include "cmds/cmd.h"
#include "cmds/message.h"
#include "cmds/open.h"
#include "cmds/show.h"
#include "utils/script/script.h"
#include "utils/script/sink.h"

struct script_values {
	struct ftr_common common;
	struct ftr_selection selection;
	const char *script;	/* (nullable) */
	bool records;
};

static const struct ftr_option script_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct script_values, common),
	FTR_OPTION("script", 'S', "FILE", "The script: .py, .lua, or a program that reads JSON lines",
		   ftr_opt_string, struct script_values, script),
	FTR_OPTION("record", 0, NULL, "Record PROGRAM for it, as \"ftr live --record -S FILE\" does",
		   ftr_opt_flag, struct script_values, records),
	FTR_OPTION_GROUP(ftr_selection_options, struct script_values, selection),
	FTR_OPTION_GROUP(ftr_filter_options, struct script_values, selection.filter),
	{ 0 }
};

int ftr_script_check(const char *path)
{
	struct ftr_err err = { 0 };

	if (ftr_script_engine_find(path, &err) != NULL)
		return FTR_EXIT_OK;
	ftr_error("%s", err.text);
	return FTR_EXIT_USAGE;
}

/* What the script printed must have been written, too. */
static int output_finish(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return FTR_EXIT_OK;
	ftr_error("standard output: %s", strerror(errno));
	return FTR_EXIT_FAILED;
}

static int pump(struct ftr_opened *opened, struct ftr_script *script,
		const struct ftr_script_run *run)
{
	const struct ftr_script_start start = {
		.is_record = run->is_record,
		.version = "ftr v" FTR_VERSION,
		.args = run->args,
		.arg_nr = run->arg_nr,
	};
	struct ftr_pump_stats stats = { 0 };
	struct ftr_err err = { 0 };
	struct ftr_sink *sink;
	int ret;

	sink = ftr_script_sink_new(script, &start, run->selection.filter.rules.match, &err);
	if (sink == NULL) {
		ftr_error("%s", err.text);
		return FTR_EXIT_FAILED;
	}
	sink->err = &err;
	/* An embedded script that prints to nobody ends as other programs do. */
	signal(SIGPIPE, script->engine->is_embedded ? SIG_DFL : SIG_IGN);
	ret = ftr_opened_pump(opened, sink, &stats, &err);
	ftr_sink_free(sink);
	if (ret < 0 && ret != -ECANCELED) {
		ftr_error("%s", err.text);
		return FTR_EXIT_FAILED;
	}
	ftr_verbose(1, "%llu events", (unsigned long long)stats.events);
	return FTR_EXIT_OK;
}

static int show_opened(struct ftr_script *script, const struct ftr_script_run *run)
{
	struct ftr_opened opened;
	int status;

	status = ftr_opened_open(&opened, &run->common, &run->selection, FTR_ORDER_TIME);
	if (status != FTR_EXIT_OK)
		return status;
	status = pump(&opened, script, run);
	ftr_opened_close(&opened);
	return status;
}

int ftr_script_show(const struct ftr_script_run *run)
{
	struct ftr_err err = { 0 };
	struct ftr_script *script;
	int status, ret;

	ret = ftr_script_open(&script, run->path, run->args, run->arg_nr, &err);
	if (ret < 0 && ret != -ECANCELED)
		ftr_error("%s", err.text);
	if (ret < 0)
		return ret == -ECANCELED ? output_finish() : FTR_EXIT_FAILED;
	status = show_opened(script, run);
	ftr_script_close(script);
	ret = output_finish();
	return status != FTR_EXIT_OK ? status : ret;
}

static int show(const void *arg)
{
	return ftr_script_show(arg);
}

int ftr_script_show_after(const struct ftr_script_run *run, int status)
{
	int shown = ftr_run_apart(show, run);

	if (shown == FTR_EXIT_OK || shown == 128 + SIGPIPE)
		return status;
	if (shown > 128)
		ftr_error("%s: killed by signal %d (%s)", run->path, shown - 128,
			  strsignal(shown - 128));
	return status != FTR_EXIT_OK ? status : FTR_EXIT_FTR;
}

static const struct ftr_cmd *script_instead(const void *arg)
{
	const struct script_values *values = arg;

	return values->records ? ftr_cmd_find("live") : NULL;
}

static int script_run(void *arg, int argc, char **argv)
{
	const struct script_values *values = arg;

	if (values->script == NULL) {
		ftr_error("script: name the script: ftr script -S FILE [TRACE] [ARGUMENT...]");
		return FTR_EXIT_USAGE;
	}
	return ftr_script_show(&(struct ftr_script_run){
		.path = values->script,
		.args = argv,
		.arg_nr = argc,
		.common = values->common,
		.selection = values->selection,
	});
}

const struct ftr_cmd ftr_cmd_script = {
	.name		 = "script",
	.usage		 = "[OPTION...] [TRACE] [ARGUMENT...]",
	.summary	 = "Call functions of a script at each event of a trace",
	.options	 = script_options,
	.trace		 = FTR_CMD_TRACE_FIRST,
	.stops_at_operand = true,
	.values_bytes	 = sizeof(struct script_values),
	.instead	 = script_instead,
	.run		 = script_run,
};

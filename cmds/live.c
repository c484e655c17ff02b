/* SPDX-License-Identifier: MIT */
/* ftr PROGRAM: record into a temporary directory, replay it, leave nothing behind. */
#include "cmds/apart.h"
#include "cmds/cmd.h"
#include "cmds/record.h"
#include "cmds/record_attach.h"
#include "cmds/replay.h"
#include "cmds/message.h"
#include "cmds/script.h"
#include "cmds/temporary.h"

struct live_values {
	struct ftr_replay_values replay;
	struct ftr_record_opts record;
	bool keeps_data;
};

static const struct ftr_option live_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct live_values, replay.common),
	FTR_OPTION_GROUP(ftr_record_opts_options, struct live_values, record),
	FTR_OPTION_GROUP(ftr_selection_options, struct live_values, replay.selection),
	FTR_OPTION_GROUP(ftr_filter_options, struct live_values, replay.selection.filter),
	FTR_OPTION_GROUP(ftr_replay_view_options, struct live_values, replay.view),
	FTR_OPTION("record", 0, NULL, "Keep the recorded data (-d does so too)", ftr_opt_flag,
		   struct live_values, keeps_data),
	{ 0 }
};

static const struct live_values live_defaults = {
	.replay = { .view = { .column_offset = 8 } },
	.record = FTR_RECORD_OPTS_DEFAULTS,
};

static int replay(const void *values)
{
	return ftr_replay_show(values);
}

static int show(const struct live_values *values, char **argv, int status)
{
	struct ftr_script_run run = {
		.path = values->record.script,
		.args = argv,
		.is_record = true,
		.common = values->replay.common,
		.selection = values->replay.selection,
	};
	int shown;

	if (run.path != NULL) {
		while (argv[run.arg_nr] != NULL)
			run.arg_nr++;
		return ftr_script_show_after(&run, status);
	}
	/* In a process of its own, which a signal may end: we stay and clean up. */
	shown = ftr_run_apart(replay, &values->replay);
	return shown != FTR_EXIT_OK ? shown : status;
}

static int live_in(struct live_values *values, const char *dir, char **argv)
{
	bool was_run;
	int status;

	status = ftr_record_program(&values->record, dir, argv, &was_run);
	if (!was_run)
		return status;
	values->replay.common.data = dir;
	return show(values, argv, status);
}

/* What is shown is all that need be recorded; what else there is to record is its own. */
static int filter_share(struct live_values *values)
{
	const struct ftr_filter_opts *shown = &values->replay.selection.filter;
	struct ftr_filter_opts *recorded = &values->record.filter;
	int ret = 0;
	size_t i;

	for (i = 0; ret == 0 && i < shown->rules.given.nr; i++)
		ret = ftr_vec_push(&recorded->rules.given, shown->rules.given.v[i]);
	recorded->rules.match = shown->rules.match;
	recorded->size_bytes = shown->size_bytes;
	recorded->starts_off = shown->starts_off;
	values->record.time_ns = values->replay.selection.time_ns;
	values->replay.selection.filter.are_recorders = true;
	return ret;
}

static int live_somewhere(struct live_values *values, char **argv)
{
	const char *kept = values->replay.common.data;
	char *dir;
	int status;

	if (kept != NULL || values->keeps_data)
		return live_in(values, kept != NULL ? kept : ftr_cmd_data_dir(), argv);
	ftr_signals_outlive();
	dir = ftr_temporary_make("live");
	if (dir == NULL)
		return FTR_EXIT_FTR;
	status = live_in(values, dir, argv);
	ftr_temporary_remove(dir);
	return status;
}

static int live_run(void *arg, int argc, char **argv)
{
	struct live_values *values = arg;
	struct ftr_err err = { 0 };
	int status;

	if (values->record.lists_events)
		return ftr_record_list_events(&values->replay.common, argc > 0 ? argv[0] : NULL);
	if (values->record.attach_pid != 0 &&
	    ftr_record_attach_check(&values->record, argc, &err) < 0) {
		ftr_error("live: %s", err.text);
		return FTR_EXIT_USAGE;
	}
	if (argc == 0 && values->record.attach_pid == 0) {
		ftr_error("live: name the program to run: ftr PROGRAM [ARGUMENT...]");
		return FTR_EXIT_USAGE;
	}
	if (values->record.script != NULL && ftr_script_check(values->record.script) != FTR_EXIT_OK)
		return FTR_EXIT_USAGE;
	values->record.depth = values->replay.selection.depth;
	values->record.no_event = values->replay.selection.no_event;
	values->record.no_sched = values->replay.selection.no_sched;
	if (filter_share(values) == 0) {
		status = live_somewhere(values, argv);
	} else {
		ftr_error("live: out of memory");
		status = FTR_EXIT_FAILED;
	}
	ftr_vec_fini(&values->record.filter.rules.given);	/* no option of ours fills it */
	return status;
}

static const char *live_script(const void *values)
{
	return ((const struct live_values *)values)->record.script;
}

const struct ftr_cmd ftr_cmd_live = {
	.name		  = "live",
	.usage		  = "[OPTION...] PROGRAM [ARGUMENT...]",
	.summary	  = "Record and replay at once (what ftr PROGRAM does)",
	.options	  = live_options,
	.values_bytes	  = sizeof(struct live_values),
	.defaults	  = &live_defaults,
	.stops_at_operand = true,
	.script		  = live_script,
	.run		  = live_run,
};

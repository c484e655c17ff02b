/* SPDX-License-Identifier: MIT */
/* ftr build: run a build, and show what it is made of. */
#include <errno.h>
#include <stddef.h>

#include "cmds/cmd.h"
#include "cmds/output.h"
#include "cmds/record.h"
#include "cmds/message.h"
#include "utils/analysis/build.h"
#include "utils/base/bits.h"
#include "utils/export/compile_commands.h"
#include "utils/format/format.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/pump.h"
#include "utils/view/build.h"

#define DATABASE "compile_commands.json"
#define RECORD_FIRST "; record a build first: ftr build -- make"

struct build_values {
	struct ftr_common common;
	const char *output;		/* (nullable) */
	const char *etrace;		/* (nullable) */
	const char *inputs_of;		/* (nullable) */
	const char *outputs_of;		/* (nullable) */
	const char *unused;		/* (nullable) */
	bool lists_files;
	bool lists_processes;
};

static const struct ftr_option build_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct build_values, common),
	FTR_OPTION("output", 'o', "FILE",
		   "Write the compilation database to FILE (default: " DATABASE ")", ftr_opt_string,
		   struct build_values, output),
	FTR_OPTION("etrace", 0, "FILE", "Look at the etrace text FILE instead of recorded data",
		   ftr_opt_string, struct build_values, etrace),
	FTR_OPTION("files", 0, NULL,
		   "List the files that were read (r), written (w), run (x), and their "
		   "creators",
		   ftr_opt_flag, struct build_values, lists_files),
	FTR_OPTION("inputs-of", 0, "FILE", "List what FILE was made from", ftr_opt_string,
		   struct build_values, inputs_of),
	FTR_OPTION("outputs-of", 0, "FILE", "List what was made from FILE", ftr_opt_string,
		   struct build_values, outputs_of),
	FTR_OPTION("processes", 0, NULL,
		   "Show the tree of processes: command, time, exit status, files", ftr_opt_flag,
		   struct build_values, lists_processes),
	FTR_OPTION("unused", 0, "DIR", "List the files below DIR that the build did not use",
		   ftr_opt_string, struct build_values, unused),
	{ 0 }
};

/* ---- answers ---- */

static int write_database(const struct ftr_build *build, const char *path)
{
	struct ftr_ostream out;
	struct ftr_err err;
	size_t nr;

	if (ftr_ostream_open(&out, path, &err) < 0) {
		ftr_error("%s", err.text);
		return FTR_EXIT_FAILED;
	}
	nr = ftr_compile_commands_write(build, &out);
	if (ftr_ostream_close(&out, &err) < 0) {
		ftr_error("%s", err.text);
		return FTR_EXIT_FAILED;
	}
	ftr_verbose(1, "%s: %zu translations, %zu more of files that are gone", path, nr,
			build->translations.nr - nr);
	return FTR_EXIT_OK;
}

static bool has_query(const struct build_values *values)
{
	return values->lists_files || values->lists_processes || values->inputs_of != NULL ||
	       values->outputs_of != NULL || values->unused != NULL;
}

static int print_answers(const struct build_values *values, const struct ftr_build *build,
			 const char *data, struct ftr_ostream *out, struct ftr_err *err)
{
	int ret = 0;

	if (values->lists_files)
		ftr_build_print_files(build, out);
	if (values->lists_processes)
		ftr_build_print_processes(build, out);
	if (values->inputs_of != NULL)
		ret = ftr_build_print_inputs(build, values->inputs_of, out, err);
	if (ret == 0 && values->outputs_of != NULL)
		ret = ftr_build_print_outputs(build, values->outputs_of, out, err);
	if (ret == 0 && values->unused != NULL)
		ret = ftr_build_print_unused(build, values->unused, data, out, err);
	return ret;
}

static int answer(const struct build_values *values, const struct ftr_build *build,
		  const char *data)
{
	struct ftr_output output;
	struct ftr_err err = { 0 };
	int ret, closed;

	if (ftr_output_open(&output, &values->common, NULL) < 0)
		return FTR_EXIT_FAILED;
	ret = print_answers(values, build, data, &output.out, &err);
	if (ret < 0)
		ftr_error("build: %s", err.text);
	closed = ftr_output_close(&output);
	return ret < 0 ? FTR_EXIT_FAILED : closed;
}

/* ---- the command ---- */

static int pump(struct ftr_trace *trace, struct ftr_sink *sink, struct ftr_err *err)
{
	static const struct ftr_pipeline_options all = { .event_full = true };
	struct ftr_source *source = NULL;
	int ret = ftr_trace_pipeline(trace, &all, &source, err);

	if (ret == 0)
		ret = ftr_pump(source, sink, trace, NULL, err);
	ftr_source_free(source);
	if (ret == 0 && ftr_build_get(sink)->call_nr == 0)
		ret = ftr_err_set(err, ENODATA, "%s: holds no system calls" RECORD_FIRST,
				  trace->path);
	return ret;
}

static int examine_trace(const struct build_values *values, const char *data, bool was_run,
			 struct ftr_trace *trace)
{
	struct ftr_err err = { 0 };
	struct ftr_sink *sink = ftr_build_new(&err);
	const struct ftr_build *build;
	int status = FTR_EXIT_OK;

	if (sink == NULL || pump(trace, sink, &err) < 0) {
		ftr_error("%s", err.text);
		ftr_sink_free(sink);
		return FTR_EXIT_FAILED;
	}
	build = ftr_build_get(sink);
	if (was_run || values->output != NULL || !has_query(values))
		status = write_database(build, values->output != NULL ? values->output : DATABASE);
	if (status == FTR_EXIT_OK && has_query(values))
		status = answer(values, build, data);
	ftr_sink_free(sink);
	return status;
}

static int examine(const struct build_values *values, const char *data, bool was_run)
{
	struct ftr_diag diag = ftr_message_diag();
	struct ftr_trace *trace = NULL;
	struct ftr_err err = { 0 };
	int status = FTR_EXIT_FAILED, ret;

	ret = ftr_trace_open(&trace, values->etrace != NULL ? values->etrace : data, &diag, &err);
	if (ret < 0)
		ftr_error("%s" RECORD_FIRST, err.text);
	else
		status = examine_trace(values, data, was_run, trace);
	ftr_trace_free(trace);
	ftr_message_diag_end(&diag);
	return status;
}

static int build_run(void *arg, int argc, char **argv)
{
	static const struct ftr_record_opts opts = {
		.buffer_bytes = FTR_MIB(4), .max_stack = FTR_MIB(1), .has_syscalls = true,
	};
	const struct build_values *values = arg;
	const char *data = values->common.data != NULL ? values->common.data : ftr_cmd_data_dir();
	bool was_run = false;
	int status = FTR_EXIT_OK, examined;

	if (argc > 0 && values->etrace != NULL) {
		ftr_error("build: give either a command or --etrace FILE, not both");
		return FTR_EXIT_USAGE;
	}
	if (argc > 0)
		status = ftr_record_program(&opts, data, argv, &was_run);
	if (argc > 0 && !was_run)
		return status;
	examined = examine(values, data, was_run);
	return status != FTR_EXIT_OK ? status : examined;
}

const struct ftr_cmd ftr_cmd_build = {
	.name = "build",
	.usage = "[OPTION...] [--] [COMMAND [ARGUMENT...]]",
	.summary = "Run a build, write its compilation database",
	.options = build_options,
	.values_bytes = sizeof(struct build_values),
	.stops_at_operand = true,
	.run = build_run,
};

/* SPDX-License-Identifier: MIT */
/* ftr dump: a raw listing of a trace, or the trace in another format. */
#include "cmds/cmd.h"
#include "cmds/open.h"
#include "cmds/output.h"
#include "cmds/record_etrace.h"
#include "cmds/say.h"
#include "cmds/show.h"
#include "utils/cli/common.h"
#include "utils/format/format.h"
#include "utils/view/dump.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct dump_values {
	struct ftr_common common;
	struct ftr_selection selection;
	const struct ftr_format *format;	/* NULL: the raw listing */
	const char *output;			/* (nullable: standard output) */
	struct ftr_etrace_options etrace;
};

static bool is_writer(const struct ftr_format *format)
{
	return format != NULL && (format->write != NULL || format->write_new != NULL);
}

static int parse_format(const struct ftr_option *opt, void *value, const char *arg,
			struct ftr_err *err)
{
	const struct ftr_format **chosen = value;
	const struct ftr_format *format;
	char known[200] = "";
	size_t pos = 0, len = 0;

	*chosen = ftr_format_find(arg);
	if (is_writer(*chosen))
		return 0;
	while ((format = ftr_format_next(&pos)) != NULL)
		if (is_writer(format) && len < sizeof(known))
			len += (size_t)snprintf(known + len, sizeof(known) - len, " %s",
						format->name);
	return ftr_err_set(err, EINVAL, "%s \"%s\"; there are:%s",
			   *chosen ? "cannot write" : "no format", arg, known);
}

/* --chrome and --fxt: the option's name is the format. */
static int parse_short_format(const struct ftr_option *opt, void *value, const char *arg,
			      struct ftr_err *err)
{
	return parse_format(opt, value, opt->name, err);
}

static const struct ftr_option dump_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct dump_values, common),
	FTR_OPTION_GROUP(ftr_selection_options, struct dump_values, selection),
	FTR_OPTION("format", 0, "FORMAT",
		   "Write this format instead of the listing; ftr --version lists them",
		   parse_format, struct dump_values, format),
	FTR_OPTION("output", 'o', "FILE", "Write to FILE; - is standard output", ftr_opt_string,
		   struct dump_values, output),
	FTR_OPTION("fxt", 0, NULL, "Same as --format=fxt", parse_short_format, struct dump_values,
		   format),
	FTR_OPTION("chrome", 0, NULL, "Same as --format=chrome", parse_short_format,
		   struct dump_values, format),
	FTR_OPTION_GROUP(ftr_etrace_opts_options, struct dump_values, etrace),
	{ 0 }
};

static int dump_listing(const struct dump_values *values)
{
	struct ftr_dump_opts opts = { .has_hex = values->common.verbose > 0 };
	struct ftr_err err = { 0 };
	struct ftr_opened opened;
	struct ftr_output output;
	int ret, status;

	status = ftr_opened_open(&opened, &values->common, NULL, false);
	if (status != FTR_EXIT_OK)
		return status;
	ret = ftr_output_open(&output, &values->common, values->output);
	if (ret < 0) {
		ftr_opened_close(&opened);
		return FTR_EXIT_FAILED;
	}
	opened.trace->demangle = (enum ftr_demangle)values->selection.demangle;
	ret = ftr_dump_print(opened.trace, &opts, &output.out, &err);
	if (ret < 0 && !ftr_output_is_closed(&output))
		ftr_say_error("%s", err.text);
	else
		ret = 0;
	status = ftr_output_close(&output);
	ftr_opened_close(&opened);
	return ret < 0 ? FTR_EXIT_FAILED : status;
}

static int convert_to_file(struct ftr_opened *opened, const struct dump_values *values)
{
	struct ftr_common plain = values->common;
	struct ftr_err err = { 0 };
	struct ftr_output output;
	struct ftr_sink *sink;
	int status = FTR_EXIT_FAILED, closed;

	plain.no_pager = true;
	if (ftr_output_open(&output, &plain, values->output) < 0)
		return FTR_EXIT_FAILED;
	sink = ftr_sink_new(values->format->write, &output.out, &err);
	if (sink == NULL)
		ftr_say_error("out of memory");
	if (sink != NULL && values->format == ftr_format_find("etrace"))
		ftr_etrace_sink_set(sink, &values->etrace);
	if (sink != NULL)
		status = ftr_show(opened, sink, &output, true);
	closed = ftr_output_close(&output);
	return output.is_quiet_end ? FTR_EXIT_OK : status != FTR_EXIT_OK ? status : closed;
}

static int convert_to_directory(struct ftr_opened *opened, const struct dump_values *values)
{
	struct ftr_err err = { 0 };
	struct ftr_sink *sink;

	sink = values->format->write_new(values->output, &err);
	if (sink == NULL) {
		ftr_say_error("%s", err.text);
		return FTR_EXIT_FAILED;
	}
	return ftr_show(opened, sink, NULL, true);
}

static int convert(const struct dump_values *values)
{
	bool is_file = values->format->kind == FTR_FORMAT_FILE;
	struct ftr_opened opened;
	int status;

	if (!is_file && values->output == NULL) {
		ftr_say_error("dump: %s is a directory: say which with -o DIR",
			      values->format->name);
		return FTR_EXIT_USAGE;
	}
	status = ftr_opened_open(&opened, &values->common, &values->selection, false);
	if (status != FTR_EXIT_OK)
		return status;
	if (is_file)
		status = convert_to_file(&opened, values);
	else
		status = convert_to_directory(&opened, values);
	ftr_opened_close(&opened);
	return status;
}

static int dump_run(void *values, int argc, char **argv)
{
	const struct dump_values *self = values;

	if (argc > 0) {
		ftr_say_error("dump: takes no operand: %s", argv[0]);
		return FTR_EXIT_USAGE;
	}
	return self->format == NULL ? dump_listing(self) : convert(self);
}

const struct ftr_cmd ftr_cmd_dump = {
	.name	      = "dump",
	.usage	      = "[OPTION...]",
	.summary      = "List the records, or write the trace in another format",
	.options      = dump_options,
	.values_bytes = sizeof(struct dump_values),
	.run	      = dump_run,
};

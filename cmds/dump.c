/* SPDX-License-Identifier: MIT */
/* ftr dump: a raw listing of a trace, or the trace in another format. */
#include "cmds/cmd.h"
#include "cmds/export.h"
#include "cmds/open.h"
#include "cmds/output.h"
#include "cmds/message.h"
#include "cmds/progress.h"
#include "utils/cli/common.h"
#include "utils/format/format.h"
#include "utils/view/dump.h"

#include <string.h>

struct dump_values {
	struct ftr_common common;
	struct ftr_selection selection;
	const struct ftr_format *format;	/* NULL: the raw listing */
	const char *output;			/* (nullable: standard output) */
	struct ftr_option_values of_formats;
};

/* An export leaves nothing out unasked: also not what is outside of calls, as listings do. */
static const struct dump_values dump_defaults = {
	.selection.event_full = true,
	.selection.kernel_full = true,
};

/* "normal" is the listing, as uftrace calls it. */
static int parse_format(const struct ftr_option *opt, void *value, const char *arg,
			struct ftr_err *err)
{
	if (strcmp(arg, "normal") != 0)
		return ftr_opt_format(opt, value, arg, err);
	*(const struct ftr_format **)value = NULL;
	return 0;
}

static const struct ftr_option dump_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct dump_values, common),
	FTR_OPTION_GROUP(ftr_selection_options, struct dump_values, selection),
	FTR_OPTION_GROUP(ftr_filter_options, struct dump_values, selection.filter),
	FTR_OPTION("format", 0, "FORMAT",
		   "Write this format instead of the listing (normal)", parse_format, struct dump_values,
		   format, .next_word = ftr_format_next_written),
	FTR_OPTION("output", 'o', "FILE", "Write to FILE; - is standard output", ftr_opt_string,
		   struct dump_values, output),
	FTR_OPTION("stack", 0, NULL,
		   "With a format: calls within the calls of their stacks (record --stack)",
		   ftr_opt_flag, struct dump_values, selection.shows_stack_calls),
	FTR_OPTION_SETS(ftr_format_dump_options, struct dump_values, format),
	FTR_OPTION_SETS(ftr_format_written_options, struct dump_values, of_formats),
	{ 0 }
};

/* The name of an option that is about calls, whereas the listing is of records; NULL = none is. */
static const char *option_of_calls(const struct dump_values *values)
{
	const struct ftr_filter_opts *filter = &values->selection.filter;

	if (values->selection.shows_stack_calls)
		return "--stack";
	if (values->selection.time_ns > 0)
		return "--time-filter";
	if (filter->rules.given.nr > 0)
		return "a rule";
	if (filter->size_bytes > 0 || filter->starts_off)
		return filter->size_bytes > 0 ? "--size-filter" : "--trace=off";
	return values->selection.no_sched_preempt ? "--no-sched-preempt" : NULL;
}

static bool dump_takes_defaults(const void *values)
{
	const struct dump_values *self = values;

	return self->format != NULL || option_of_calls(self) == NULL;
}

static int dump_listing(const struct dump_values *values)
{
	struct ftr_dump_opts opts = { .has_hex = values->common.verbose > 0 };
	struct ftr_err err = { 0 };
	struct ftr_opened opened;
	struct ftr_output output;
	int ret, status;

	if (option_of_calls(values) != NULL) {
		ftr_error("dump: %s filters calls, but the listing shows records; add --format",
			  option_of_calls(values));
		return FTR_EXIT_USAGE;
	}
	status = ftr_opened_open_records(&opened, &values->common, &values->selection);
	if (status != FTR_EXIT_OK)
		return status;
	if (ftr_output_is_input(opened.trace->path, values->output) ||
	    ftr_output_open(&output, &values->common, values->output) < 0) {
		ftr_opened_close(&opened);
		return FTR_EXIT_FAILED;
	}
	opts.selection = &opened.options;
	ftr_progress_begin(opened.trace);
	ret = ftr_dump_print(opened.trace, &opts, &output.out, &err);
	ftr_progress_end();
	if (ret < 0 && !ftr_output_is_closed(&output))
		ftr_error("%s", err.text);
	else
		ret = 0;
	status = ftr_output_close(&output);
	ftr_opened_close(&opened);
	return ret < 0 ? FTR_EXIT_FAILED : status;
}

static int convert(const struct dump_values *values)
{
	const struct ftr_export to = {
		.common = &values->common, .format = values->format, .path = values->output,
		.values = ftr_option_values_get(&values->of_formats, ftr_format_written_options,
						values->format->name),
	};
	struct ftr_opened opened;
	int status;

	if (values->format->kind == FTR_FORMAT_DIRECTORY && values->output == NULL) {
		ftr_error("dump: %s writes a directory; name it with -o DIR",
			      values->format->name);
		return FTR_EXIT_USAGE;
	}
	status = ftr_opened_open(&opened, &values->common, &values->selection, FTR_ORDER_TIME);
	if (status != FTR_EXIT_OK)
		return status;
	status = ftr_export(&opened, &to);
	ftr_opened_close(&opened);
	return status;
}

static int dump_run(void *values, int argc, char **argv)
{
	const struct dump_values *self = values;
	struct ftr_err err = { 0 };

	if (ftr_option_values_check(&self->of_formats, ftr_format_written_options,
				    self->format != NULL ? self->format->name : NULL, "format",
				    &err) < 0) {
		ftr_error("dump: %s", err.text);
		return FTR_EXIT_USAGE;
	}
	return self->format == NULL ? dump_listing(self) : convert(self);
}

const struct ftr_cmd ftr_cmd_dump = {
	.name	      = "dump",
	.usage	      = "[OPTION...] [TRACE]",
	.summary      = "List the records, or write the trace in another format",
	.options      = dump_options,
	.trace	      = FTR_CMD_TRACE_OPERAND,
	.values_bytes = sizeof(struct dump_values),
	.defaults     = &dump_defaults,
	.takes_defaults = dump_takes_defaults,
	.run	      = dump_run,
};

/* SPDX-License-Identifier: MIT */
/* ftr check: does a file keep the rules of its format, a trace the limits that it is given? */
#include <fcntl.h>
#include <stdio.h>

#include "cmds/cmd.h"
#include "cmds/message.h"
#include "cmds/open.h"
#include "cmds/output.h"
#include "cmds/show.h"
#include "utils/analysis/limit.h"
#include "utils/analysis/limit_sums.h"
#include "utils/cli/common.h"
#include "utils/format/format.h"
#include "utils/view/limit.h"

struct check_values {
	struct ftr_common common;
	struct ftr_selection selection;
	struct ftr_format_file file;
	struct ftr_opt_list limits;	/* pairs: kind, "FUNC=LIMIT" */
	bool json;
};

static const struct ftr_option check_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct check_values, common),
	FTR_OPTION_SETS(ftr_format_check_options, struct check_values, file),
	FTR_OPTION("max", 0, "FUNC=TIME", "No call of FUNC may take longer", ftr_opt_list_named,
		   struct check_values, limits),
	FTR_OPTION("max-avg", 0, "FUNC=TIME", "Nor its calls on average", ftr_opt_list_named,
		   struct check_values, limits),
	FTR_OPTION("max-total", 0, "FUNC=TIME", "Nor all its calls together", ftr_opt_list_named,
		   struct check_values, limits),
	FTR_OPTION("max-self", 0, "FUNC=TIME", "Nor they without what they called",
		   ftr_opt_list_named, struct check_values, limits),
	FTR_OPTION("max-calls", 0, "FUNC=N", "FUNC may not be called more often",
		   ftr_opt_list_named, struct check_values, limits),
	FTR_OPTION("max-bytes", 0, "FUNC=SIZE",
		   "Its calls, with what they call, may not ask for more memory (--probe=memory)",
		   ftr_opt_list_named, struct check_values, limits),
	FTR_OPTION("max-blocks", 0, "FUNC=N", "Nor for more blocks", ftr_opt_list_named,
		   struct check_values, limits),
	FTR_OPTION("max-leak", 0, "FUNC=SIZE", "No more of it may never be given back",
		   ftr_opt_list_named, struct check_values, limits),
	FTR_OPTION("max-wait", 0, "FUNC=TIME",
		   "Nor may they wait longer for other threads (--probe=sync)", ftr_opt_list_named,
		   struct check_values, limits),
	FTR_OPTION("json", 0, NULL, "Of limits: print a JSON object a line", ftr_opt_flag,
		   struct check_values, json),
	FTR_OPTION_GROUP(ftr_selection_options, struct check_values, selection),
	FTR_OPTION_GROUP(ftr_filter_options, struct check_values, selection.filter),
	FTR_OPTION_GROUP(ftr_subtract_options, struct check_values, selection),
	{ 0 }
};

static void print_violation(void *arg, const char *text)
{
	struct ftr_output *output = arg;

	ftr_ostream_puts(&output->out, text);
	ftr_ostream_putc(&output->out, '\n');
}

static int check_file(const struct check_values *values)
{
	const struct ftr_format_file *file = &values->file;
	struct ftr_check_result result = { 0 };
	struct ftr_output output;
	struct ftr_istream in;
	struct ftr_err err;
	int ret, status;

	if (ftr_istream_open_refilled(&in, AT_FDCWD, file->path, &err) < 0) {
		ftr_error("%s", err.text);
		return FTR_EXIT_FAILED;
	}
	if (ftr_output_open(&output, &values->common, NULL) < 0) {
		ftr_istream_close(&in);
		return FTR_EXIT_FAILED;
	}
	ret = file->format->check(&in, print_violation, &output, &result);
	if (ret < 0)
		ftr_error("%s: out of memory", file->path);
	else if ((ret = ftr_istream_check(&in, &err)) < 0)
		ftr_error("%s", err.text);
	else
		ftr_ostream_printf(&output.out, "%s: %zu records, %u violations\n", file->path,
				   result.record_nr, result.violation_nr);
	status = ftr_output_close(&output);
	if (ret < 0 || result.violation_nr > 0)
		status = FTR_EXIT_FAILED;
	ftr_istream_close(&in);
	return status;
}

struct printer {
	struct ftr_output output;
	bool json;
};

static void print_result(void *arg, const struct ftr_limit_result *result)
{
	struct printer *printer = arg;

	if (printer->json)
		ftr_limit_print_json(result, &printer->output.out);
	else
		ftr_limit_print(result, &printer->output.out);
}

static int print_limits(const struct ftr_limits *limits, const struct ftr_limited *limited,
			const struct check_values *values)
{
	struct printer printer = { .json = values->json };
	int broken_nr, status;

	if (ftr_output_open(&printer.output, &values->common, NULL) < 0)
		return FTR_EXIT_FAILED;
	broken_nr = ftr_limits_check(limits, limited, print_result, &printer);
	if (broken_nr < 0)
		ftr_error("check: out of memory");
	else if (values->json)
		ftr_limits_print_end_json(limits->v.nr, broken_nr, &printer.output.out);
	else
		ftr_limits_print_end(limits->v.nr, broken_nr, &printer.output.out);
	status = ftr_output_close(&printer.output);
	return broken_nr != 0 ? FTR_EXIT_FAILED : status;
}

/* After the pump. */
static int print_sums(struct ftr_limit_sums *sums, const struct ftr_limits *limits,
		      const struct check_values *values)
{
	struct ftr_limited limited;

	if (ftr_limit_sums_get(sums, &limited) == 0)
		return print_limits(limits, &limited, values);
	ftr_error("check: out of memory");
	return FTR_EXIT_FAILED;
}

static int check_trace(const struct ftr_limits *limits, const struct check_values *values)
{
	struct ftr_selection selection = values->selection;
	bool weighs = ftr_limits_weigh(limits);
	struct ftr_limit_sums sums;
	struct ftr_opened opened;
	struct ftr_err err = { 0 };
	int status;

	selection.event_full |= weighs;
	status = ftr_opened_open(&opened, &values->common, &selection,
				 weighs ? FTR_ORDER_TIME : FTR_ORDER_ANY);
	if (status != FTR_EXIT_OK)
		return status;
	if (!weighs)
		opened.trace->wants_text = ftr_trace_wants_no_text;
	status = FTR_EXIT_FAILED;
	if (ftr_limit_sums_init(&sums, limits, &err) == 0 &&
	    ftr_opened_pump(&opened, ftr_limit_sums_sink(&sums), NULL, &err) == 0)
		status = print_sums(&sums, limits, values);
	else
		ftr_error("%s", err.text);
	ftr_limit_sums_fini(&sums);
	ftr_opened_close(&opened);
	return status;
}

static int check_limits(const struct check_values *values)
{
	const struct ftr_opt_list *given = &values->limits;
	struct ftr_limits limits = { 0 };
	int status = FTR_EXIT_OK;

	for (size_t i = 0; i + 1 < given->nr && status == FTR_EXIT_OK; i += 2) {
		struct ftr_err err;

		if (ftr_limits_add(&limits, given->v[i], given->v[i + 1],
				   (enum ftr_match)values->selection.filter.rules.match,
				   &err) < 0) {
			ftr_error("--%s: %s", given->v[i], err.text);
			status = FTR_EXIT_USAGE;
		}
	}
	if (status == FTR_EXIT_OK && ftr_limits_weigh(&limits) && values->selection.depth != 0) {
		ftr_error("check: --max-bytes, --max-blocks, --max-leak and --max-wait count what "
			  "happens at any depth; leave -D out");
		status = FTR_EXIT_USAGE;
	}
	if (status == FTR_EXIT_OK)
		status = check_trace(&limits, values);
	ftr_limits_fini(&limits);
	return status;
}

static int check_run(void *arg, int argc, char **argv)
{
	const struct check_values *values = arg;

	if (values->limits.nr > 0 && values->file.format == NULL)
		return check_limits(values);
	if (values->limits.nr == 0 && values->file.format != NULL && argc == 0)
		return check_file(values);
	ftr_error("check: name limits for a trace: ftr check --max FUNC=5ms TRACE; or a file and its "
		  "format: ftr check --etrace FILE");
	return FTR_EXIT_USAGE;
}

const struct ftr_cmd ftr_cmd_check = {
	.name	      = "check",
	.usage	      = "LIMIT... [TRACE] | --etrace FILE",
	.summary      = "Check limits of calls, times and memory, or a file's format",
	.options      = check_options,
	.trace	      = FTR_CMD_TRACE_OPERAND,
	.values_bytes = sizeof(struct check_values),
	.run	      = check_run,
};

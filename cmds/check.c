/* SPDX-License-Identifier: MIT */
/* ftr check: does a file keep the rules of its format? */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "cmds/cmd.h"
#include "cmds/output.h"
#include "cmds/message.h"
#include "utils/cli/common.h"
#include "utils/format/format.h"

struct check_values {
	struct ftr_common common;
	struct ftr_format_file file;
};

static const struct ftr_option check_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct check_values, common),
	FTR_OPTION_SETS(ftr_format_check_options, struct check_values, file),
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

static int check_run(void *arg, int argc, char **argv)
{
	const struct check_values *values = arg;

	if (argc > 0 || values->file.format == NULL) {
		ftr_error("check: name the file and its format: ftr check --etrace FILE");
		return FTR_EXIT_USAGE;
	}
	return check_file(values);
}

const struct ftr_cmd ftr_cmd_check = {
	.name	      = "check",
	.usage	      = "--etrace FILE",
	.summary      = "Report violations of a file's format",
	.options      = check_options,
	.values_bytes = sizeof(struct check_values),
	.run	      = check_run,
};

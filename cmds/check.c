/* SPDX-License-Identifier: MIT */
/* ftr check: does a file keep the rules of its format? */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "cmds/cmd.h"
#include "cmds/output.h"
#include "cmds/message.h"
#include "utils/cli/common.h"
#include "utils/format/etrace/etrace.h"

struct check_values {
	struct ftr_common common;
	const char *etrace;	/* (nullable) */
};

static const struct ftr_option check_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct check_values, common),
	FTR_OPTION("etrace", 0, "FILE", "Check the etrace text FILE; - is standard input",
		   ftr_opt_string, struct check_values, etrace),
	{ 0 }
};

static void print_violation(void *arg, const char *text)
{
	struct ftr_output *output = arg;

	ftr_ostream_puts(&output->out, text);
	ftr_ostream_putc(&output->out, '\n');
}

static int check_etrace(const struct check_values *values)
{
	struct ftr_etrace_log log;
	struct ftr_output output;
	struct ftr_istream in;
	struct ftr_err err;
	int ret, status;

	if (ftr_istream_open_refilled(&in, AT_FDCWD, values->etrace, &err) < 0) {
		ftr_error("%s", err.text);
		return FTR_EXIT_FAILED;
	}
	if (ftr_output_open(&output, &values->common, NULL) < 0) {
		ftr_istream_close(&in);
		return FTR_EXIT_FAILED;
	}
	ftr_etrace_log_init(&log);
	ret = ftr_etrace_load(&log, &in, print_violation, &output);
	if (ret < 0)
		ftr_error("%s: out of memory", values->etrace);
	else if ((ret = ftr_istream_check(&in, &err)) < 0)
		ftr_error("%s", err.text);
	else
		ftr_ostream_printf(&output.out, "%s: %zu records, %u violations\n", values->etrace,
				   log.calls.nr, log.violations);
	status = ftr_output_close(&output);
	if (ret < 0 || log.violations > 0)
		status = FTR_EXIT_FAILED;
	ftr_etrace_log_fini(&log);
	ftr_istream_close(&in);
	return status;
}

static int check_run(void *arg, int argc, char **argv)
{
	const struct check_values *values = arg;

	if (argc > 0 || values->etrace == NULL) {
		ftr_error("check: name the file and its format: ftr check --etrace FILE");
		return FTR_EXIT_USAGE;
	}
	return check_etrace(values);
}

const struct ftr_cmd ftr_cmd_check = {
	.name	      = "check",
	.usage	      = "--etrace FILE",
	.summary      = "Say where a file breaks the rules of its format",
	.options      = check_options,
	.values_bytes = sizeof(struct check_values),
	.run	      = check_run,
};

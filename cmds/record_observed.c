/* SPDX-License-Identifier: MIT */
/* A format of observed system calls, written while the program runs; no data directory. */
#include "cmds/record_observed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cmds/cmd.h"
#include "cmds/message.h"
#include "utils/base/ostream.h"
#include "utils/observe/observer.h"
#include "utils/record/program.h"
#include "utils/trace/format.h"

struct observed_output {
	const struct ftr_observed_ops *ops;
	struct ftr_ostream out;
	void *writer;			/* (owned) of ops->size */
};

static void output_call(void *arg, const struct ftr_syscall *call)
{
	struct observed_output *self = arg;

	self->ops->call(self->writer, call);
}

static void output_flush(void *arg)
{
	struct observed_output *self = arg;

	ftr_ostream_flush(&self->out, NULL);
}

static int exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static int follow(struct observed_output *output, const char *path, char **argv)
{
	struct ftr_diag diag = ftr_message_diag();
	struct ftr_observer_sink sink = {
		.call = output_call, .idle = output_flush, .arg = output,
		.failures = output->ops->failures, .diag = &diag,
	};
	struct ftr_observe_result result;
	struct ftr_err err = { 0 };
	int status = FTR_EXIT_FTR;

	if (ftr_observe_program(path, argv, &sink, &result, &err) < 0) {
		ftr_error("%s", err.text);
	} else if (result.exec_error != 0) {
		ftr_error("%s: cannot be run: %s", path, strerror(result.exec_error));
		status = FTR_EXIT_NOT_RUN;
	} else {
		status = exit_status(result.wait_status);
	}
	if (result.was_stopped)
		ftr_diag_warn(&diag, "interrupted by a signal; the remaining processes were "
				     "killed, because their system calls fail without a tracer");
	ftr_message_diag_end(&diag);
	return status;
}

static int run_observed(struct observed_output *output, const void *values, const char *path,
			char **argv)
{
	int status = FTR_EXIT_FTR;

	output->writer = calloc(1, output->ops->size);
	if (output->writer == NULL) {
		ftr_error("out of memory");
		return status;
	}
	output->ops->begin(output->writer, &output->out, values);
	status = follow(output, path, argv);
	output->ops->fini(output->writer);
	free(output->writer);
	return status;
}

int ftr_record_observed(const struct ftr_observed_ops *ops, const void *values,
			const char *path, char **argv)
{
	struct observed_output output = { .ops = ops };
	struct ftr_program program;
	struct ftr_err err = { 0 };
	int ret, status;

	ret = ftr_program_find_any(&program, argv[0], &err);
	if (ret < 0) {
		ftr_error("%s", err.text);
		return ret == -ENOENT ? FTR_EXIT_NOT_FOUND : FTR_EXIT_NOT_RUN;
	}
	if (ftr_ostream_open(&output.out, path != NULL ? path : "-", &err) < 0) {
		ftr_error("%s", err.text);
		ftr_program_fini(&program);
		return FTR_EXIT_FTR;
	}
	status = run_observed(&output, values, program.path, argv);
	if (ftr_ostream_close(&output.out, &err) < 0)
		ftr_error("%s", err.text);
	ftr_program_fini(&program);
	return status;
}

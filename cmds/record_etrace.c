/* SPDX-License-Identifier: MIT */
/* Etrace text while the program runs; no data directory. */
#include "cmds/record_etrace.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "cmds/cmd.h"
#include "cmds/message.h"
#include "utils/observe/observer.h"
#include "utils/record/program.h"

struct text_output {
	struct ftr_ostream out;
	struct ftr_etrace_writer writer;
};

static void output_call(void *arg, const struct ftr_syscall *call)
{
	struct text_output *self = arg;

	ftr_etrace_write(&self->writer, call);
}

static void output_flush(void *arg)
{
	struct text_output *self = arg;

	ftr_ostream_flush(&self->out, NULL);
}

static int exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static int follow(struct text_output *text, const char *path, char **argv)
{
	struct ftr_diag diag = ftr_message_diag();
	struct ftr_observer_sink sink = {
		.call = output_call, .idle = output_flush, .arg = text,
		.failures = FTR_ETRACE_FAILURES, .diag = &diag,
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
		ftr_diag_warn(&diag, "ended by a signal; the processes left were killed, as they "
				     "cannot run on without their observer");
	ftr_message_diag_end(&diag);
	return status;
}

int ftr_record_etrace(const struct ftr_etrace_options *options, const char *output, char **argv)
{
	struct ftr_program program;
	struct ftr_err err = { 0 };
	struct text_output text;
	int ret, status;

	ret = ftr_program_find_any(&program, argv[0], &err);
	if (ret < 0) {
		ftr_error("%s", err.text);
		return ret == -ENOENT ? FTR_EXIT_NOT_FOUND : FTR_EXIT_NOT_RUN;
	}
	if (ftr_ostream_open(&text.out, output != NULL ? output : "-", &err) < 0) {
		ftr_error("%s", err.text);
		ftr_program_fini(&program);
		return FTR_EXIT_FTR;
	}
	ftr_etrace_writer_init(&text.writer, &text.out, options);
	status = follow(&text, program.path, argv);
	ftr_etrace_writer_fini(&text.writer);
	if (ftr_ostream_close(&text.out, &err) < 0)
		ftr_error("%s", err.text);
	ftr_program_fini(&program);
	return status;
}

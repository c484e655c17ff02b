/* SPDX-License-Identifier: MIT */
/* Etrace text while the program runs; no data directory. */
#include "cmds/record_etrace.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/say.h"
#include "utils/record/program.h"
#include "utils/record/syscall_observer.h"

const struct ftr_option ftr_etrace_opts_options[] = {
	FTR_OPTION("etrace-prefix", 0, NULL, "etrace: INITCWD= first and \"0: \" before each line",
		   ftr_opt_flag, struct ftr_etrace_options, has_prefix),
	FTR_OPTION("mount", 0, NULL, "etrace: also mount and umount", ftr_opt_flag,
		   struct ftr_etrace_options, mounts),
	FTR_OPTION("skip-repeated-opens", 0, NULL, "etrace: without opens that repeat the task's last one",
		   ftr_opt_flag, struct ftr_etrace_options, skip_repeated_opens),
	FTR_OPTION("thread-names", 0, NULL, "etrace: also names that tasks give themselves", ftr_opt_flag,
		   struct ftr_etrace_options, thread_names),
	{ 0 }
};

struct text_output {
	struct ftr_ostream out;
	struct ftr_etrace_writer writer;
};

static void output_record(void *arg, const struct ftr_etrace_record *rec)
{
	struct text_output *self = arg;

	ftr_etrace_write(&self->writer, rec);
}

static void output_flush(void *arg)
{
	struct text_output *self = arg;

	ftr_ostream_flush(&self->out, NULL);
}

static void become(struct ftr_observer_gate *gate, const char *path, char **argv,
		   const sigset_t *mask)
{
	int ret;

	sigprocmask(SIG_SETMASK, mask, NULL);
	ret = ftr_observer_gate_pass(gate);
	if (ret < 0)
		_exit(FTR_EXIT_FTR);
	execv(path, argv);
	dprintf(STDERR_FILENO, "ftr: %s: cannot be run: %s\n", path, strerror(errno));
	_exit(FTR_EXIT_NOT_RUN);
}

/* For the handler: the program that signals sent to us alone are meant for. */
static volatile sig_atomic_t program_pid;

static void hand_on(int signal)
{
	kill((pid_t)program_pid, signal);
}

static void hand_on_signals(pid_t child)
{
	struct sigaction action = { .sa_handler = hand_on, .sa_flags = SA_RESTART };

	program_pid = child;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static int exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static int follow(struct text_output *text, const char *path, char **argv)
{
	struct ftr_diag diag = ftr_say_diag();
	struct ftr_observer_sink sink = { output_record, output_flush, text, &diag };
	struct ftr_observer *observer;
	struct ftr_observer_gate gate;
	struct ftr_err err = { 0 };
	sigset_t ignored, mask;
	int wait_status = 0;
	pid_t child;

	if (ftr_observer_gate_open(&gate, &err) < 0) {
		ftr_say_error("%s", err.text);
		return FTR_EXIT_FTR;
	}
	/* The terminal's signals are the program's. */
	sigemptyset(&ignored);
	sigaddset(&ignored, SIGINT);
	sigaddset(&ignored, SIGQUIT);
	sigprocmask(SIG_BLOCK, &ignored, &mask);
	child = fork();
	if (child == 0)
		become(&gate, path, argv, &mask);
	observer = child < 0 ? NULL : ftr_observer_new(&sink, child, &gate, &err);
	ftr_observer_gate_close(&gate);
	if (observer == NULL) {
		ftr_say_error("%s", child < 0 ? strerror(errno) : err.text);
		return FTR_EXIT_FTR;
	}
	hand_on_signals(child);
	ftr_observer_run(observer, &wait_status);
	ftr_observer_free(observer);
	ftr_say_diag_end(&diag);
	return exit_status(wait_status);
}

int ftr_record_etrace(const struct ftr_etrace_options *options, const char *output, char **argv)
{
	struct ftr_program program;
	struct ftr_err err = { 0 };
	struct text_output text;
	int ret, status;

	ret = ftr_program_find_any(&program, argv[0], &err);
	if (ret < 0) {
		ftr_say_error("%s", err.text);
		return ret == -ENOENT ? FTR_EXIT_NOT_FOUND : FTR_EXIT_NOT_RUN;
	}
	if (ftr_ostream_open(&text.out, output != NULL ? output : "-", &err) < 0) {
		ftr_say_error("%s", err.text);
		ftr_program_fini(&program);
		return FTR_EXIT_FTR;
	}
	ftr_etrace_writer_init(&text.writer, &text.out, options);
	status = follow(&text, program.path, argv);
	ftr_etrace_writer_fini(&text.writer);
	if (ftr_ostream_close(&text.out, &err) < 0)
		ftr_say_error("%s", err.text);
	ftr_program_fini(&program);
	return status;
}

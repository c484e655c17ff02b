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
#include "cmds/message.h"
#include "utils/record/program.h"
#include "utils/observe/observer.h"

#define STOP_REQUESTS_MAX 3	/* as of a recording in a data directory */

struct text_output {
	struct ftr_ostream out;
	struct ftr_etrace_writer writer;
	struct ftr_observer *observer;
};

/* For the handler: the program that signals sent to us alone are meant for, while it is there. */
static volatile sig_atomic_t program_pid, stop_requests;

static void output_record(void *arg, const struct ftr_etrace_record *rec)
{
	struct text_output *self = arg;

	ftr_etrace_write(&self->writer, rec);
}

static bool output_idle(void *arg)
{
	struct text_output *self = arg;

	ftr_ostream_flush(&self->out, NULL);
	if (program_pid != 0 && ftr_observer_root_is_gone(self->observer))
		program_pid = stop_requests = 0; /* what ended it does not end its children */
	return stop_requests < (program_pid != 0 ? STOP_REQUESTS_MAX : 1);
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

/* The terminal's signals reach the program without us. */
static void hand_on(int signal, siginfo_t *info, void *context)
{
	stop_requests++;
	if (info->si_code <= 0 && program_pid != 0)
		kill((pid_t)program_pid, signal);
}

/*
 * Without SA_RESTART: the observer's wait ends, and it sees that it is to stop.  What is ignored
 * stays so.
 */
static void signals_catch(const int *signals, pid_t program)
{
	struct sigaction action = { .sa_sigaction = hand_on, .sa_flags = SA_SIGINFO }, old;

	program_pid = program;
	for (; *signals != 0; signals++) {
		if (sigaction(*signals, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(*signals, &action, NULL);
	}
}

static void signals_block(const int *signals, sigset_t *mask)
{
	sigset_t set;

	sigemptyset(&set);
	for (; *signals != 0; signals++)
		sigaddset(&set, *signals);
	sigprocmask(SIG_BLOCK, &set, mask);
}

static int exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static int follow(struct text_output *text, const char *path, char **argv)
{
	struct ftr_diag diag = ftr_message_diag();
	struct ftr_observer_sink sink = {
		.record = output_record, .idle = output_idle, .arg = text, .diag = &diag,
	};
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, 0 };
	struct ftr_observer_gate gate;
	struct ftr_err err = { 0 };
	sigset_t mask;
	int wait_status = 0;
	pid_t child;

	if (ftr_observer_gate_open(&gate, &err) < 0) {
		ftr_error("%s", err.text);
		return FTR_EXIT_FTR;
	}
	signals_block(signals, &mask);
	child = fork();
	if (child == 0)
		become(&gate, path, argv, &mask);
	text->observer = child < 0 ? NULL : ftr_observer_new(&sink, child, &gate, &err);
	ftr_observer_gate_close(&gate);
	if (text->observer == NULL) {
		ftr_error("%s", child < 0 ? strerror(errno) : err.text);
		return FTR_EXIT_FTR;
	}
	signals_catch(signals, child);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (!ftr_observer_run(text->observer, &wait_status))
		ftr_diag_warn(
			&diag,
			"ended by a signal: what still ran cannot run on without its observer and was "
			"killed");
	ftr_observer_free(text->observer);
	ftr_message_diag_end(&diag);
	return exit_status(wait_status);
}

int ftr_record_etrace(const struct ftr_etrace_options *options, const char *output, char **argv)
{
	struct ftr_program program;
	struct ftr_err err = { 0 };
	struct text_output text = { .observer = NULL };
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

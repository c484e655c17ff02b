/* SPDX-License-Identifier: MIT */
/* Running a program under the observer: fork, signals, and the error of an exec that failed. */
#include "utils/observe/observer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REQUESTS_MAX 3		/* to end, while the program runs; as of a recording */
#define CHILD_FAILED 126	/* exit status of a child that could not exec */

static const int end_signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };

#define END_SIGNALS (sizeof(end_signals) / sizeof(end_signals[0]))

/* What the program gets back. */
struct saved_signals {
	sigset_t mask;
	struct sigaction chld;
};

/* What is ignored stays so.  Ignoring SIGCHLD would make the kernel drop what we wait for. */
static void signals_block(struct ftr_observer_signals *signals, struct saved_signals *saved)
{
	struct sigaction action = { .sa_handler = SIG_DFL };

	*signals = (struct ftr_observer_signals){ 0 };
	sigemptyset(&signals->set);
	sigaddset(&signals->set, SIGCHLD);
	sigaction(SIGCHLD, &action, &saved->chld);
	for (size_t i = 0; i < END_SIGNALS; i++) {
		if (sigaction(end_signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&signals->set, end_signals[i]);
	}
	sigprocmask(SIG_BLOCK, &signals->set, &saved->mask);
}

/* Requests that came while the tree ended are answered by its end. */
static void signals_drain(const struct ftr_observer_signals *signals)
{
	struct timespec now = { 0 };

	while (sigtimedwait(&signals->set, NULL, &now) > 0)
		;
}

static void signals_restore(const struct saved_signals *saved)
{
	sigaction(SIGCHLD, &saved->chld, NULL);
	sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

bool ftr_observer_signals_wait(struct ftr_observer_signals *signals, bool program_is_gone)
{
	siginfo_t info;
	int signal;

	if (signals->program != 0 && program_is_gone)
		signals->program = signals->requests = 0; /* what ended it does not end its tree */
	signal = sigwaitinfo(&signals->set, &info);
	if (signal > 0 && signal != SIGCHLD) {
		signals->requests++;
		if (info.si_code <= 0 && signals->program != 0)	/* sent to us alone */
			kill(signals->program, signal);
	}
	return signals->requests < (signals->program != 0 ? REQUESTS_MAX : 1);
}

/* In the child.  The exec closes @failure, so that nothing in it means success. */
static void become(struct ftr_observer_gate *gate, const char *path, char *const *argv,
		   const struct saved_signals *saved, int failure)
{
	int code;

	signals_restore(saved);
	code = -ftr_observer_gate_pass(gate);
	if (code == 0) {
		execv(path, argv);
		code = errno;
	}
	(void)!write(failure, &code, sizeof(code));
	_exit(CHILD_FAILED);
}

int ftr_observe_program(const char *path, char *const *argv, const struct ftr_observer_sink *sink,
			struct ftr_observe_result *result, struct ftr_err *err)
{
	struct ftr_observer *observer = NULL;
	struct ftr_observer_signals signals;
	struct ftr_observer_gate gate;
	struct saved_signals saved;
	int failure[2], ret;

	*result = (struct ftr_observe_result){ 0 };
	ret = ftr_observer_gate_open(&gate, err);
	if (ret < 0)
		return ret;
	if (pipe2(failure, O_CLOEXEC | O_NONBLOCK) < 0) {
		ret = ftr_err_set(err, errno, "cannot make a pipe: %s", strerror(errno));
		ftr_observer_gate_close(&gate);
		return ret;
	}
	signals_block(&signals, &saved);
	signals.program = fork();
	if (signals.program == 0)
		become(&gate, path, argv, &saved, failure[1]);
	close(failure[1]);
	if (signals.program < 0)
		ret = ftr_err_set(err, errno, "cannot fork: %s", strerror(errno));
	else
		observer = ftr_observer_new(sink, signals.program, &gate, err);
	ftr_observer_gate_close(&gate);
	if (observer != NULL) {
		result->was_stopped = !ftr_observer_run(observer, &signals, &result->wait_status);
		ftr_observer_free(observer);
		(void)!read(failure[0], &result->exec_error, sizeof(result->exec_error));
	} else if (ret == 0) {
		ret = -err->code;
	}
	close(failure[0]);
	signals_drain(&signals);
	signals_restore(&saved);
	return ret;
}

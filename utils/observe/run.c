/* SPDX-License-Identifier: MIT */
/*
 * Running a program under the observer: the gate at which it waits, fork, signals, and the error of
 * an exec that failed.
 */
#include "utils/observe/observer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/syscalls.h"

#define REQUESTS_MAX 3		/* to end, while the program runs; as of a recording */
#define WAKE_SIGNAL  SIGURG	/* of the observer's thread; otherwise ignored */
#define WAKE_AGAIN_NS 1000000
#define CHILD_FAILED 126	/* exit status of a child that could not exec */

/* ---- the gate ---- */

int ftr_observer_gate_open(struct ftr_observer_gate *gate, struct ftr_err *err)
{
	if (ftr_abis[0].name == NULL)
		return ftr_err_set(err, ENOTSUP, "system calls are not observed on %s yet; record "
				   "without --syscalls", ftr_arch_host->title);
	ftr_observer_filter_init(&gate->filter);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate->fds) < 0)
		return ftr_err_set(err, errno, "cannot make a socket pair: %s", strerror(errno));
	return 0;
}

void ftr_observer_gate_close(struct ftr_observer_gate *gate)
{
	for (int i = 0; i < 2; i++) {
		if (gate->fds[i] >= 0)
			close(gate->fds[i]);
		gate->fds[i] = -1;
	}
}

int ftr_observer_gate_pass(struct ftr_observer_gate *gate)
{
	char go = 0;
	ssize_t got;

	close(gate->fds[0]);
	/* Where only ancestors may trace (Yama): the holder of the other end may, too. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	do
		got = read(gate->fds[1], &go, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		return -EPIPE;
	prctl(PR_SET_PTRACER, 0, 0, 0, 0);
	close(gate->fds[1]);
	return ftr_observer_filter_install(&gate->filter);
}

/* ---- signals ---- */

static const int end_signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };

#define END_SIGNALS (sizeof(end_signals) / sizeof(end_signals[0]))

/* What the program gets back. */
struct saved_signals {
	sigset_t mask;
	struct sigaction chld, wake, file_size, pipe;
};

static void on_wake(int signal)
{
}

/*
 * What is ignored stays so.  Ignoring SIGCHLD would make the kernel drop what we wait for; a limit,
 * or a reader that is gone, is a write that fails: an observer that it ends takes it along.
 */
static void signals_block(struct ftr_observer_signals *signals, struct saved_signals *saved)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t wake;

	*signals = (struct ftr_observer_signals){ .observer = pthread_self() };
	sigemptyset(&signals->set);
	sigaction(SIGCHLD, &action, &saved->chld);
	action.sa_handler = on_wake;	/* without SA_RESTART: a wait ends */
	sigaction(WAKE_SIGNAL, &action, &saved->wake);
	action.sa_handler = SIG_IGN;
	sigaction(SIGXFSZ, &action, &saved->file_size);
	sigaction(SIGPIPE, &action, &saved->pipe);
	for (size_t i = 0; i < END_SIGNALS; i++) {
		if (sigaction(end_signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&signals->set, end_signals[i]);
	}
	sigprocmask(SIG_BLOCK, &signals->set, &saved->mask);
	sigemptyset(&wake);
	sigaddset(&wake, WAKE_SIGNAL);
	sigprocmask(SIG_UNBLOCK, &wake, NULL);
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
	sigaction(WAKE_SIGNAL, &saved->wake, NULL);
	sigaction(SIGXFSZ, &saved->file_size, NULL);
	sigaction(SIGPIPE, &saved->pipe, NULL);
	sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

/*
 * A thread takes the signals, so that the observer's costs no call but its wait.  A wake that comes
 * right before the wait is lost: it is repeated until the request was seen.
 */
static void *signals_take(void *arg)
{
	const struct timespec again = { .tv_nsec = WAKE_AGAIN_NS };
	struct ftr_observer_signals *signals = arg;
	siginfo_t info;

	for (;;) {
		int signal = sigwaitinfo(&signals->set, &info);
		pid_t program = atomic_load(&signals->program);

		if (signal <= 0)
			continue;
		if (info.si_code <= 0 && program != 0)	/* sent to us alone */
			kill(program, signal);
		atomic_fetch_add(&signals->requests, 1);
		while (atomic_load(&signals->seen) != atomic_load(&signals->requests)) {
			pthread_kill(signals->observer, WAKE_SIGNAL);
			nanosleep(&again, NULL);
		}
	}
	return NULL;
}

bool ftr_observer_signals_allow(struct ftr_observer_signals *signals, bool program_is_gone)
{
	unsigned requests = atomic_load(&signals->requests);
	bool has_program = atomic_load(&signals->program) != 0;

	atomic_store(&signals->seen, requests);
	if (has_program && program_is_gone) {	/* what ended it does not end its tree */
		atomic_store(&signals->program, 0);
		signals->forgiven = requests;
		has_program = false;
	}
	return requests - signals->forgiven < (has_program ? REQUESTS_MAX : 1);
}

/* ---- the program ---- */

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

/* The program waits at the gate, which is closed in any case. */
static int observe(struct ftr_observer_signals *signals, const struct ftr_observer_sink *sink,
		   pid_t program, struct ftr_observer_gate *gate,
		   struct ftr_observe_result *result, struct ftr_err *err)
{
	struct ftr_observer *observer;
	pthread_t thread;
	int ret = pthread_create(&thread, NULL, signals_take, signals);

	if (ret != 0)
		return ftr_err_set(err, ret, "cannot start a thread: %s", strerror(ret));
	observer = ftr_observer_new(sink, program, gate, err);
	ftr_observer_gate_close(gate);
	if (observer == NULL)
		ret = -err->code;
	else
		result->was_stopped = !ftr_observer_run(observer, signals, &result->wait_status);
	ftr_observer_free(observer);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	return ret;
}

int ftr_observe_program(const char *path, char *const *argv, const struct ftr_observer_sink *sink,
			struct ftr_observe_result *result, struct ftr_err *err)
{
	struct ftr_observer_signals signals;
	struct ftr_observer_gate gate;
	struct saved_signals saved;
	int failure[2], ret;
	pid_t program;

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
	program = fork();
	if (program == 0)
		become(&gate, path, argv, &saved, failure[1]);
	close(failure[1]);
	signals.program = program;
	if (program < 0)
		ret = ftr_err_set(err, errno, "cannot fork: %s", strerror(errno));
	else
		ret = observe(&signals, sink, program, &gate, result, err);
	ftr_observer_gate_close(&gate);
	if (ret == 0)
		(void)!read(failure[0], &result->exec_error, sizeof(result->exec_error));
	close(failure[0]);
	signals_drain(&signals);
	signals_restore(&saved);
	return ret;
}

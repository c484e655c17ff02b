/* SPDX-License-Identifier: MIT */
/*
 * The observer: follows a process tree from outside, with ptrace and a seccomp filter, and reports
 * the system calls that concern files and processes (trace/syscall.h).
 *
 *	struct ftr_observer_gate gate;
 *	ftr_observer_gate_open(&gate, err);
 *	child = fork();
 *	if (child == 0) {
 *		if (ftr_observer_gate_pass(&gate) < 0) _exit(125);
 *		execv(...);
 *	}
 *	observer = ftr_observer_new(&sink, child, &gate, err);
 *	ftr_observer_run(observer, NULL, &wait_status);
 *
 * All of it in one thread, but for the child's part; ftr_observe_program() does that.  When the
 * observer's process dies, the kernel kills the tree: without a tracer its filtered calls would
 * fail.
 */
#ifndef FTR_OBSERVE_OBSERVER_H
#define FTR_OBSERVE_OBSERVER_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/observe/filter.h"
#include "utils/trace/syscall.h"

/* ---- observe/run.c: the gate, where the child waits until its observer has attached ---- */

struct ftr_observer_gate {
	int fds[2];		/* (owned) [0] the observer's end, [1] the child's */
	struct ftr_observer_filter filter;
};

int  ftr_observer_gate_open(struct ftr_observer_gate *gate, struct ftr_err *err);
void ftr_observer_gate_close(struct ftr_observer_gate *gate);

/*
 * In the child, between fork and exec: wait for the observer, install the filter.  The next thing
 * must be the exec.  Async-signal-safe.  0, or -errno: -EPIPE when the observer gave up.
 */
int  ftr_observer_gate_pass(struct ftr_observer_gate *gate);

/* ---- the observer ---- */

/* Where a call in a stack stands. */
struct ftr_observer_frame {
	const char *path;		/* of the module, as the kernel names it */
	uint64_t offset;		/* from its first mapping, within the calling instruction */
	const char *name;		/* (nullable: not known) mangled, of the function */
	uint64_t name_offset;		/* where that begins */
};

struct ftr_observer_sink {
	/* A call; what it borrows is valid until the callback returns. */
	void (*call)(void *arg, const struct ftr_syscall *call);
	/* (nullable) No task has stopped since the last call: time to flush. */
	void (*idle)(void *arg);
	/*
	 * (nullable, both: calls have no stacks) A frame, and a stack of frames, the innermost
	 * first, that was not there before; numbers begin with 1 (ftr_syscall.stack).
	 */
	void (*frame)(void *arg, uint32_t number, const struct ftr_observer_frame *frame);
	void (*stack)(void *arg, uint32_t number, const uint32_t *frames, size_t nr);
	void *arg;
	/*
	 * Report how long calls took, and every failure.  Else calls whose outcome is known when
	 * they begin are stopped only once.
	 */
	bool has_details;
	uint32_t failures;		/* FTR_BIT() of the kinds whose failed calls are reported */
	struct ftr_diag *diag;		/* (borrowed, nullable) warnings about set-uid programs */
};

struct ftr_observer;

/*
 * Attach to @child, which waits at the gate, and let it pass.  NULL with a description: -EPERM when
 * another tracer follows us or the kernel forbids it.
 */
struct ftr_observer *ftr_observer_new(const struct ftr_observer_sink *sink, pid_t child,
				      struct ftr_observer_gate *gate, struct ftr_err *err);

/*
 * Follow until the last process of the tree is gone (true) or @signals (nullable) ask to end.
 * *@wait_status: of the first process, as if killed while it runs.
 */
struct ftr_observer_signals;
bool ftr_observer_run(struct ftr_observer *observer, struct ftr_observer_signals *signals,
		      int *wait_status);
void ftr_observer_free(struct ftr_observer *observer);

/* ---- observe/run.c: a program of our own, with its signals ---- */

/*
 * Blocked signals that ask to end.  The terminal's reach the program, too; others are handed on.
 * The thread that takes them interrupts the observer's wait.
 */
struct ftr_observer_signals {
	sigset_t set;
	pthread_t observer;
	_Atomic pid_t program;		/* 0 = gone */
	_Atomic unsigned requests;	/* to end */
	_Atomic unsigned seen;		/* of those, by the observer */
	unsigned forgiven;		/* those that ended the program */
};

/* False: follow no longer. */
bool ftr_observer_signals_allow(struct ftr_observer_signals *signals, bool program_is_gone);

struct ftr_observe_result {
	int  wait_status;	/* of the program */
	int  exec_error;	/* errno of its exec, 0 = it was run */
	bool was_stopped;	/* signals asked to end: what still ran was killed */
};

/*
 * Run the file @path and report what its processes do.  SIGINT, SIGQUIT, SIGTERM and SIGHUP, where
 * not ignored, ask to end: the third one while the program runs, the first one after it.  0, or
 * -errno with a description when it could not be observed.
 */
int ftr_observe_program(const char *path, char *const *argv, const struct ftr_observer_sink *sink,
			struct ftr_observe_result *result, struct ftr_err *err);

#endif /* FTR_OBSERVE_OBSERVER_H */

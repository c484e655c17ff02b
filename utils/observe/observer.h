/* SPDX-License-Identifier: MIT */
/*
 * The observer: follows a process tree from outside, with ptrace and a seccomp filter, and gives
 * out one record a system call that concerns files and processes.
 *
 *	struct ftr_observer_gate gate;
 *	ftr_observer_gate_open(&gate, err);
 *	child = fork();
 *	if (child == 0) {
 *		if (ftr_observer_gate_pass(&gate) < 0) _exit(125);
 *		execvp(...);
 *	}
 *	observer = ftr_observer_new(&sink, child, &gate, err);
 *	ftr_observer_run(observer, &wait_status);
 *
 * All of it in one thread, but for the child's part.  When the observer's process dies, the kernel
 * kills the tree: without a tracer its filtered calls would fail.
 */
#ifndef FTR_OBSERVE_OBSERVER_H
#define FTR_OBSERVE_OBSERVER_H

#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/format/etrace/etrace.h"
#include "utils/observe/filter.h"

/* Where the child waits until it is followed. */
struct ftr_observer_gate {
	int fds[2];		/* (owned) [0] the observer's end, [1] the child's */
	struct ftr_syscall_filter filter;
};

int  ftr_observer_gate_open(struct ftr_observer_gate *gate, struct ftr_err *err);
void ftr_observer_gate_close(struct ftr_observer_gate *gate);

/*
 * In the child, between fork and exec: wait until the observer is there, install the filter.  The
 * next thing must be the exec.  Async-signal-safe.  0, or -errno: -EPIPE when the observer gave up.
 */
int  ftr_observer_gate_pass(struct ftr_observer_gate *gate);

struct ftr_observer_sink {
	/* A record; what it borrows is valid for the time of the call. */
	void (*record)(void *arg, const struct ftr_etrace_record *rec);
	/*
	 * (nullable) Nothing is waiting, or a signal came: time to flush.  False: follow no longer.
	 */
	bool (*idle)(void *arg);
	void *arg;
	/*
	 * How long calls took, and failures that the format has no words for, matter, too.  Else
	 * calls whose outcome can be foreseen are stopped only once.
	 */
	bool has_details;
	struct ftr_diag *diag;		/* (borrowed, nullable) set-uid programs are said there */
};

struct ftr_observer;

/*
 * Take hold of @child, which waits at the gate, and let it pass.  NULL with a description: -EPERM
 * when somebody traces us or the kernel forbids it.
 */
struct ftr_observer *ftr_observer_new(const struct ftr_observer_sink *sink, pid_t child,
				      struct ftr_observer_gate *gate, struct ftr_err *err);

/*
 * Follow until the last process of the tree is gone (true) or idle says that it is enough.
 * *@wait_status: of the first one, as if killed while it runs.
 */
bool ftr_observer_run(struct ftr_observer *observer, int *wait_status);
bool ftr_observer_root_is_gone(const struct ftr_observer *observer);
void ftr_observer_free(struct ftr_observer *observer);

#endif /* FTR_OBSERVE_OBSERVER_H */

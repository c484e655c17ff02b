/* SPDX-License-Identifier: MIT */
/* The threads of a process that are stopped for a moment, by ptrace. */
#ifndef FTR_ATTACH_TRACEE_H
#define FTR_ATTACH_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/attach/call.h"
#include "utils/base/vec.h"

/* The PTRACE_EVENT_* that a status of waitpid has in its upper half; 0 = none. */
#define FTR_STATUS_EVENT(status) ((unsigned)(status) / 0x10000u)

struct ftr_tracee {
	pid_t tid;
	bool is_stopped;	/* else it was asked to, and may stop at any time */
	struct ftr_call call;
};

struct ftr_tracees {
	pid_t pid;
	FTR_VEC(struct ftr_tracee) all;		/* whom we trace */
	bool is_urgent;				/* we are, for the time that all are stopped */
	int policy;				/* what we had before */
	/* CLOCK_MONOTONIC: when all were asked to stop, and when the last was released. */
	uint64_t asked_ns, released_ns;
};

/*
 * Stop one thread where it is, in a system call or not: it goes on as if nothing had been, once it
 * is released.  0; -ESRCH it is gone; -ETIMEDOUT it does not stop, or a signal has stopped it;
 * -EPERM and the like: it may not be traced.
 */
int ftr_tracee_stop(struct ftr_tracees *tracees, pid_t tid);

/* What is known of the call of @tid, whom we trace. */
const struct ftr_call *ftr_tracee_call(const struct ftr_tracees *tracees, pid_t tid);

/* It runs on, traced by nobody. */
void ftr_tracee_release(struct ftr_tracees *tracees, pid_t tid);

/*
 * Stop all threads, those that are started meanwhile too.  0 or -errno, with some stopped.  Until
 * they are released the calling thread runs before any other that is no real-time one, if it may:
 * the first that is released must not take the processor from it while others still wait.
 */
int ftr_tracees_stop(struct ftr_tracees *tracees);

/* All but @kept run on; those that had not stopped yet are waited for, but not for long. */
void ftr_tracees_release(struct ftr_tracees *tracees, pid_t kept);

void ftr_tracees_fini(struct ftr_tracees *tracees);

/*
 * Wait until @tid stops: 0 with *@status, -ESRCH when it has ended, -ETIMEDOUT after @wait_ns (0:
 * it is waited for as long as it takes).
 */
int ftr_tracee_wait(pid_t tid, int *status, uint64_t wait_ns);

#endif /* FTR_ATTACH_TRACEE_H */

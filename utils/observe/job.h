/* SPDX-License-Identifier: MIT */
/*
 * The observer beside a recording: a process of its own that follows the program and writes
 * FTR_SYSCALL_FILE of the data directory, which old readers ignore.
 */
#ifndef FTR_OBSERVE_JOB_H
#define FTR_OBSERVE_JOB_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/observe/observer.h"

struct ftr_syscall_job {
	const char *dir;		/* (borrowed) data directory */
	struct ftr_diag *diag;		/* (borrowed, nullable) */
	struct ftr_observer_gate gate;
	pid_t pid;			/* of the observer, 0 = there is none */
};

int  ftr_syscall_job_open(struct ftr_syscall_job *job, const char *dir, struct ftr_diag *diag,
			  struct ftr_err *err);

/* For struct ftr_launch: what the child and its parent do, @arg is the job. */
int  ftr_syscall_job_in_child(void *arg);
int  ftr_syscall_job_in_parent(void *arg, pid_t program, struct ftr_err *err);

/* Has the observer ended (its last process is gone)?  Does not wait. */
bool ftr_syscall_job_has_ended(struct ftr_syscall_job *job);
void ftr_syscall_job_close(struct ftr_syscall_job *job);

#endif /* FTR_OBSERVE_JOB_H */

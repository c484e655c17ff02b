/* SPDX-License-Identifier: MIT */
/*
 * System calls of a recording: a process of its own beside the recorder, which observes the program
 * and its children and writes them into the data directory (doc/adr/0013-the-observer.md).
 */
#ifndef FTR_RECORD_SYSCALLS_H
#define FTR_RECORD_SYSCALLS_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/observe/observer.h"
#include "utils/record/budget.h"

struct ftr_record_syscalls {
	int dir;			/* (borrowed) data directory */
	struct ftr_diag *diag;		/* (borrowed, nullable) */
	const struct ftr_budget_shared *budget; /* (borrowed) */
	bool has_stacks;		/* of calls, set before it is opened */
	struct ftr_observer_gate gate;
	pid_t pid;			/* of the observer, 0 = there is none */
};

int  ftr_record_syscalls_open(struct ftr_record_syscalls *self, int dir,
			      const struct ftr_budget_shared *budget, struct ftr_diag *diag,
			      struct ftr_err *err);

/* The last thing before the program's exec: wait for the observer.  0 or an errno. */
int  ftr_record_syscalls_in_child(struct ftr_record_syscalls *self);
/* Meanwhile, in the recorder: start the observer.  0 or -errno. */
int  ftr_record_syscalls_in_parent(struct ftr_record_syscalls *self, pid_t program,
				   struct ftr_err *err);

/* Has the observer ended, as its last process has?  Does not wait. */
bool ftr_record_syscalls_have_ended(struct ftr_record_syscalls *self);
void ftr_record_syscalls_close(struct ftr_record_syscalls *self);

#endif /* FTR_RECORD_SYSCALLS_H */

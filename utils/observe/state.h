/* SPDX-License-Identifier: MIT */
/* The state of the observer, shared by its files. */
#ifndef FTR_OBSERVE_STATE_H
#define FTR_OBSERVE_STATE_H

#include "utils/observe/decode.h"
#include "utils/observe/observer.h"

#define FTR_OBSERVER_BUCKETS 1024u

struct ftr_observer {
	struct ftr_observer_sink sink;
	struct ftr_tracee *tasks[FTR_OBSERVER_BUCKETS];	/* by tid */
	struct ftr_tracee *unused;	/* (owned) for new tasks */
	unsigned task_nr;
	unsigned early_nr;		/* stopped before their parent's event came */
	uint64_t serial;		/* of upids */
	pid_t root;
	int root_status; /* as wait gives it; until then that of one who was killed */
	bool root_is_gone;
	struct ftr_syscall_scratch scratch;
};

/* ---- observe/task.c: the table ---- */

struct ftr_tracee *ftr_observer_task_find(struct ftr_observer *observer, pid_t tid); /* or NULL */
struct ftr_tracee *ftr_observer_task_new(struct ftr_observer *observer,
					 pid_t tid); /* NULL: no memory */
void ftr_observer_task_drop(struct ftr_observer *observer, struct ftr_tracee *task);
/* Its number changes: take it out, change it, put it in. */
void ftr_observer_task_unlink(struct ftr_observer *observer, struct ftr_tracee *task);
void ftr_observer_task_link(struct ftr_observer *observer, struct ftr_tracee *task);
/*
 * Its place in the tree is known from now on.  @parent NULL: none that we know.  False: no memory.
 */
bool ftr_observer_task_place(struct ftr_observer *observer, struct ftr_tracee *task,
			     const struct ftr_tracee *parent, bool is_thread);
void ftr_observer_tasks_fini(struct ftr_observer *observer);

/* ---- observe/call.c: its calls ---- */

/* Let it go on, with a signal or 0, up to the next stop that matters. */
void ftr_observer_task_resume(struct ftr_tracee *task, int signal);
/* For a record of what it does now. */
struct ftr_syscall_decoding ftr_observer_decoding(struct ftr_observer *observer,
						  struct ftr_tracee *task);
void ftr_observer_on_seccomp(struct ftr_observer *observer, struct ftr_tracee *task);
void ftr_observer_on_syscall(struct ftr_observer *observer, struct ftr_tracee *task);

/* ---- observe/life.c: its life ---- */

void ftr_observer_on_fork(struct ftr_observer *observer, struct ftr_tracee *task, int event);
void ftr_observer_on_exec(struct ftr_observer *observer, struct ftr_tracee *task);
/* It is about to end. */
void ftr_observer_on_end(struct ftr_observer *observer, struct ftr_tracee *task);
/* It has ended, as wait says. */
void ftr_observer_on_gone(struct ftr_observer *observer, struct ftr_tracee *task, int status);

#endif /* FTR_OBSERVE_STATE_H */

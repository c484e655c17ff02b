/* SPDX-License-Identifier: MIT */
/* The observer's state: whom it follows, and what happens in their lives. */
#ifndef FTR_OBSERVE_TASK_H
#define FTR_OBSERVE_TASK_H

#include "utils/base/vec.h"
#include "utils/observe/decode.h"
#include "utils/observe/observer.h"
#include "utils/observe/stack.h"
#include "utils/observe/tracee.h"

#define FTR_OBSERVER_BUCKETS 1024u

/* Buffers that one call at a time uses. */
struct ftr_observer_scratch {
	struct ftr_strbuf cmdline;
	struct ftr_strbuf text;
	FTR_VEC(struct ftr_slice) argv;
};

struct ftr_observer {
	struct ftr_observer_sink sink;
	struct ftr_tracee *tasks[FTR_OBSERVER_BUCKETS];	/* (owned) by tid */
	struct ftr_tracee *unused;	/* (owned) for new tasks */
	unsigned task_nr;
	unsigned early_nr;		/* stopped before their parent's event came */
	uint64_t serial;		/* of upids */
	pid_t root;
	int root_status;		/* as of wait; until then that of a killed one */
	bool root_is_gone;
	bool root_has_run;		/* it is the program, no longer who started it */
	bool has_news;			/* calls were reported since the sink was last idle */
	struct ftr_observer_scratch scratch;
	struct ftr_observer_stacks stacks;	/* where the sink wants them */
};

/* ---- the table ---- */

struct ftr_tracee *ftr_observer_task_find(struct ftr_observer *observer, pid_t tid); /* or NULL */
/* NULL = out of memory. */
struct ftr_tracee *ftr_observer_task_new(struct ftr_observer *observer, pid_t tid);
/*
 * Give the task its upid and its process: that of @parent for a thread.  @parent NULL: not known.
 * False: out of memory.
 */
bool ftr_observer_task_place(struct ftr_observer *observer, struct ftr_tracee *task,
			     const struct ftr_tracee *parent, bool is_thread);
void ftr_observer_tasks_fini(struct ftr_observer *observer);

/* ---- what happens to a task ---- */

/* Continue it, with a signal or 0, up to the next stop that matters. */
void ftr_observer_task_resume(struct ftr_tracee *task, int signal);
/* For a call that ends now. */
struct ftr_decoding ftr_observer_decoding(struct ftr_observer *observer, struct ftr_tracee *task);

void ftr_observer_on_fork(struct ftr_observer *observer, struct ftr_tracee *task, int event);
void ftr_observer_on_exec(struct ftr_observer *observer, struct ftr_tracee *task);
/* It is about to end. */
void ftr_observer_on_end(struct ftr_observer *observer, struct ftr_tracee *task);
/*
 * Tasks that wait to be announced by one that no longer can: killed, it never reports them.  They
 * must not wait for ever.
 */
void ftr_observer_adopt_orphans(struct ftr_observer *observer);
/* It has ended, with a status as of wait. */
void ftr_observer_on_gone(struct ftr_observer *observer, struct ftr_tracee *task, int status);

#endif /* FTR_OBSERVE_TASK_H */

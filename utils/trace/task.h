/* SPDX-License-Identifier: MIT */
/* A task (thread) of a trace. */
#ifndef FTR_TRACE_TASK_H
#define FTR_TRACE_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/trace/event.h"

struct ftr_session;

struct ftr_task {
	int32_t  pid;
	int32_t  tid;
	uint32_t id;			/* dense, in order of appearance */
	uint64_t start_ns;		/* of its TASK/FORK line, 0 = unknown */
	const char *name;		/* comm; never NULL */
	struct ftr_task *parent;	/* (nullable) the task that forked it */
	struct ftr_task
		*maker; /* (nullable) the thread that made it, where the kernel recorded it */
	struct ftr_session **sessions;	/* by time; a process's images, exec to exec */
	uint32_t session_nr;
	struct ftr_task *thread;	/* (nullable) the thread one of whose coroutines it is */
	uint32_t stack_nr;		/* ... and the number of its stack there */
	uint64_t data_bytes;		/* recorded bytes */
	bool     is_forked;		/* by fork, not by pthread_create */
};

static inline bool ftr_task_is_main(const struct ftr_task *task)
{
	return task->pid == task->tid;
}

/* What a forked child begins with are calls of its parent.  @flags: of an ENTRY or EXIT. */
static inline bool ftr_task_has_inherited(const struct ftr_task *task, uint8_t flags)
{
	return (flags & FTR_EVENT_NO_ENTRY) && task->is_forked;
}

#endif /* FTR_TRACE_TASK_H */

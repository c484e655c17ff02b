/* SPDX-License-Identifier: MIT */
/*
 * FXT reader: koids, numbers of 64 bits, as processes and threads of a trace, which has 31.  A koid
 * keeps its lower bits where no other task has them.
 */
#include <errno.h>

#include "utils/format/fxt/read.h"

#define KOID_STEP 1000003u	/* to the next number that is tried */

/* The task of a thread's koid in a process; koids of threads may be the same in two processes. */
struct fxt_koids {
	uint64_t process, thread;
	struct ftr_task *task;
	struct fxt_koids *next;		/* of the same hash (nullable) */
};

static int32_t number_of(uint64_t koid)
{
	return (int32_t)(koid & INT32_MAX);
}

/* 0 stands for none, so no task has it. */
static int32_t number_next(int32_t number)
{
	int32_t next = (int32_t)(((uint32_t)number + KOID_STEP) & INT32_MAX);

	return next == 0 ? 1 : next;
}

static int32_t tid_free(const struct fxt_reader *r, uint64_t koid)
{
	int32_t tid = number_of(koid);

	while (ftr_trace_task_find(r->trace, tid) != NULL || (tid == 0 && koid != 0))
		tid = number_next(tid);
	return tid;
}

int32_t fxt_pid_of(struct fxt_reader *r, uint64_t process)
{
	uintptr_t known = (uintptr_t)ftr_hashmap_find(&r->pids, process);
	int32_t pid = number_of(process);

	if (known != 0)
		return (int32_t)(known - 1);
	while (ftr_hashmap_find(&r->pid_taken, (uint32_t)pid) != NULL || (pid == 0 && process != 0))
		pid = number_next(pid);
	if (ftr_hashmap_set(&r->pids, process, (void *)((uintptr_t)pid + 1)) < 0 ||
	    ftr_hashmap_set(&r->pid_taken, (uint32_t)pid, r) < 0)
		r->is_failed = true;
	return pid;
}

/* The first task of a thread koid is the one that the koid alone stands for. */
static int thread_set(struct fxt_reader *r, uint64_t thread, struct ftr_task *task)
{
	return ftr_hashmap_find(&r->threads, thread) != NULL ? 0 :
	       ftr_hashmap_set(&r->threads, thread, task);
}

struct ftr_task *fxt_task_find(const struct fxt_reader *r, uint64_t thread)
{
	return ftr_hashmap_find(&r->threads, thread);
}

struct ftr_task *fxt_task_by_thread(struct fxt_reader *r, uint64_t thread)
{
	struct ftr_task *task = fxt_task_find(r, thread);
	int32_t tid;

	if (task != NULL)
		return task;
	tid = tid_free(r, thread);
	task = ftr_trace_task_get(r->trace, tid, tid);
	if (task == NULL || thread_set(r, thread, task) < 0) {
		r->is_failed = true;
		return NULL;
	}
	return task;
}

struct ftr_task *fxt_task_of(struct fxt_reader *r, uint64_t process, uint64_t thread)
{
	uint64_t hash = ftr_hash_u64(process) ^ thread;
	struct fxt_koids *koids = ftr_hashmap_find(&r->tasks, hash), *added;

	for (added = koids; added != NULL; added = added->next) {
		if (added->process == process && added->thread == thread)
			return added->task;
	}
	added = ftr_arena_alloc(&r->trace->arena, sizeof(*added));
	if (added != NULL)
		*added = (struct fxt_koids){
			process, thread,
			ftr_trace_task_get(r->trace, fxt_pid_of(r, process), tid_free(r, thread)),
			koids,
		};
	if (added == NULL || added->task == NULL || thread_set(r, thread, added->task) < 0 ||
	    ftr_hashmap_set(&r->tasks, hash, added) < 0) {
		r->is_failed = true;
		return NULL;
	}
	return added->task;
}

void fxt_tasks_fini(struct fxt_reader *r)
{
	ftr_hashmap_fini(&r->tasks);
	ftr_hashmap_fini(&r->threads);
	ftr_hashmap_fini(&r->pids);
	ftr_hashmap_fini(&r->pid_taken);
}

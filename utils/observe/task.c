/* SPDX-License-Identifier: MIT */
/* Who is followed: the tasks of the observer, by their number. */
#include "utils/observe/state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ftr_tracee **bucket_of(struct ftr_observer *observer, pid_t tid)
{
	return &observer->tasks[(unsigned)tid % FTR_OBSERVER_BUCKETS];
}

struct ftr_tracee *ftr_observer_task_find(struct ftr_observer *observer, pid_t tid)
{
	struct ftr_tracee *task = *bucket_of(observer, tid);

	while (task != NULL && task->tid != tid)
		task = task->next;
	return task;
}

void ftr_observer_task_link(struct ftr_observer *observer, struct ftr_tracee *task)
{
	struct ftr_tracee **bucket = bucket_of(observer, task->tid);

	task->next = *bucket;
	*bucket = task;
}

void ftr_observer_task_unlink(struct ftr_observer *observer, struct ftr_tracee *task)
{
	struct ftr_tracee **link = bucket_of(observer, task->tid);

	while (*link != task)
		link = &(*link)->next;
	*link = task->next;
}

struct ftr_tracee *ftr_observer_task_new(struct ftr_observer *observer, pid_t tid)
{
	struct ftr_tracee *task = observer->unused;

	if (task != NULL) {
		observer->unused = task->next;
	} else {
		task = calloc(1, sizeof(*task));
		if (task == NULL)
			return NULL;
	}
	task->tid = tid;
	task->stat_fd = -1;
	ftr_observer_task_link(observer, task);
	observer->task_nr++;
	return task;
}

static void process_drop(struct ftr_tracee_process *process)
{
	if (process != NULL && --process->users == 0)
		free(process);
}

/* The buffers are kept for the next task. */
void ftr_observer_task_drop(struct ftr_observer *observer, struct ftr_tracee *task)
{
	struct ftr_tracee kept = { .next = observer->unused };

	ftr_observer_task_unlink(observer, task);
	process_drop(task->process);
	if (task->stat_fd >= 0)
		close(task->stat_fd);
	memcpy(kept.path, task->path, sizeof(kept.path));
	memcpy(kept.real, task->real, sizeof(kept.real));
	*task = kept;
	observer->unused = task;
	observer->task_nr--;
}

static void task_free(struct ftr_tracee *task)
{
	for (size_t i = 0; i < sizeof(task->path) / sizeof(task->path[0]); i++)
		ftr_strbuf_fini(&task->path[i]);
	for (size_t i = 0; i < sizeof(task->real) / sizeof(task->real[0]); i++)
		ftr_strbuf_fini(&task->real[i]);
	free(task);
}

/* Its place in the tree is known from now on.  @parent NULL: none that we know. */
bool ftr_observer_task_place(struct ftr_observer *observer, struct ftr_tracee *task,
		       const struct ftr_tracee *parent, bool is_thread)
{
	uint64_t mask = (uint64_t)INT64_MAX;

	task->upid = (++observer->serial << FTR_ETRACE_PID_BITS | (uint64_t)task->tid) & mask;
	task->is_known = true;
	if (is_thread && parent != NULL) {
		task->process = parent->process;
		task->process->users++;
		return true;
	}
	task->process = calloc(1, sizeof(*task->process));
	if (task->process == NULL)
		return false;
	if (parent != NULL)
		*task->process = *parent->process;
	task->process->pid = task->tid;
	task->process->users = 1;
	task->process->shares_fds = false;
	return true;
}

void ftr_observer_tasks_fini(struct ftr_observer *observer)
{
	struct ftr_tracee *task;

	for (size_t i = 0; i < FTR_OBSERVER_BUCKETS; i++) {
		while ((task = observer->tasks[i]) != NULL)
			ftr_observer_task_drop(observer, task);
	}
	while ((task = observer->unused) != NULL) {
		observer->unused = task->next;
		task_free(task);
	}
}

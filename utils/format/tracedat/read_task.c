/* SPDX-License-Identifier: MIT */
/*
 * Whose the events of a trace.dat are: of the task that ran, whose number each record has.  Number
 * 0 is idle on every CPU, so that calls in it would mix: they belong to a task for each CPU.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "utils/format/tracedat/read.h"

#define IDLE_NAME "<idle>"
#define IDLE_TID_BASE ((int32_t)FTR_BIT(22))	/* real ones are less */

struct ftr_ftrace_task *tdat_task_get(struct tdat_reader *reader, int32_t tid)
{
	struct ftr_ftrace_task *task = ftr_hashmap_find(&reader->tasks, (uint32_t)tid);

	if (task != NULL)
		return task;
	task = ftr_arena_alloc(&reader->trace->arena, sizeof(*task));
	if (task == NULL)
		return NULL;
	*task = (struct ftr_ftrace_task){ .task = ftr_trace_task_get(reader->trace, tid, tid) };
	if (task->task == NULL || ftr_hashmap_set(&reader->tasks, (uint32_t)tid, task) < 0)
		return NULL;
	if (tid == 0)
		task->task->name = IDLE_NAME;
	return task;
}

static struct ftr_ftrace_task *idle_get(struct tdat_reader *reader, uint32_t cpu)
{
	struct ftr_ftrace_task *task = tdat_task_get(reader, IDLE_TID_BASE + (int32_t)cpu);
	char name[24];

	if (task == NULL || task->task->name[0] != '\0')
		return task;
	snprintf(name, sizeof(name), "swapper/%u", cpu);
	task->task->name = tdat_strdup(reader, ftr_slice_make(name, strlen(name)));
	return task->task->name == NULL ? NULL : task;
}

static struct ftr_ftrace_task *event_task(struct tdat_reader *reader,
					  const struct ftr_ftrace_cpu *cpu, int32_t tid,
					  const struct ftr_ftrace_event *event)
{
	if (tid == 0 && cpu->cpu_nr != 0 && event->kind != FTR_FTRACE_POINT)
		return idle_get(reader, cpu->cpu_nr - 1u);
	if (reader->last == NULL || reader->last_tid != tid) {
		reader->last = tdat_task_get(reader, tid);
		reader->last_tid = tid;
	}
	return reader->last;
}

static struct ftr_ftrace_task *owner_task(void *arg, const struct ftr_ftrace_cpu *cpu,
					  const struct ftr_ftrace_page *page,
					  const struct ftr_ftrace_event *event)
{
	struct tdat_reader *reader = arg;
	int32_t tid = (int32_t)ftr_ftrace_number(page, event->pid);
	struct ftr_ftrace_task *task = event_task(reader, cpu, tid, event);

	if (task == NULL || (reader->kin != NULL && tdat_kin_event(reader, page, event) < 0))
		reader->is_failed = true;
	return task;
}

static struct ftr_ftrace_task *owner_first(void *arg, const struct ftr_ftrace_cpu *cpu)
{
	return tdat_task_get(arg, 0);
}

static const char *owner_instance(void *arg, const struct ftr_ftrace_cpu *cpu)
{
	const char *name = ((const struct tdat_buffer *)cpu->buffer)->name;

	return name[0] == '\0' ? NULL : name;
}

const struct ftr_ftrace_owner tdat_owner = {
	.task	 = owner_task,
	.first	 = owner_first,
	.time_ns = tdat_time_ns,
	.instance = owner_instance,
};

/* SPDX-License-Identifier: MIT */
/* Any trace as a uftrace directory: task.txt, maps and info. */
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/uftrace/export.h"

#define COMM_CHARS 15u		/* of a task's name */
#define STACK_MAX 1024		/* where the trace has none */

static int task_add_slow(struct ufx *x, const struct ftr_task *task, uint64_t time_ns)
{
	if (ftr_vec_reach(&x->tasks, task->id) < 0)
		return -ENOMEM;
	x->tasks.v[task->id] = (struct ufx_task){ .task = task, .first_ns = time_ns,
						  .parent = task->parent };
	return 0;
}

struct ufx_task *ufx_task_get(struct ufx *x, const struct ftr_task *task, uint64_t time_ns)
{
	if (__builtin_expect(task->id >= x->tasks.nr || x->tasks.v[task->id].task == NULL, 0)) {
		if (task_add_slow(x, task, time_ns) < 0) {
			ufx_no_memory(x);
			return NULL;
		}
	}
	return &x->tasks.v[task->id];
}

static uint64_t task_start(const struct ufx_task *task)
{
	if (task->task->start_ns != 0)
		return task->task->start_ns;
	return task->fork_ns != 0 ? task->fork_ns : task->first_ns;
}

/* Of the program that it ran first. */
static uint64_t image_start(const struct ufx_task *task)
{
	uint64_t start_ns = task_start(task);
	const struct ftr_session *first = task->task->session_nr == 0 ? NULL :
									task->task->sessions[0];

	if (first != NULL && first->start_ns != 0 && first->start_ns < start_ns)
		return first->start_ns;
	return start_ns;
}

static int compare_starts(const void *a, const void *b)
{
	const struct ufx_task *x = *(const struct ufx_task *const *)a;
	const struct ufx_task *y = *(const struct ufx_task *const *)b;
	uint64_t x_ns = task_start(x), y_ns = task_start(y);

	if (x_ns != y_ns)
		return x_ns < y_ns ? -1 : 1;
	return x->task->id < y->task->id ? -1 : x->task->id > y->task->id;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

static bool name_is(const char *exename, const char *name)
{
	return exename != NULL && strncmp(base_name(exename), name, COMM_CHARS) == 0;
}

/* A path that gives the task its name again, where the trace has one and no perf record does. */
static const char *task_exename(const struct ufx *x, const struct ftr_task *task, bool has_name)
{
	if (has_name && task->session_nr > 0 && task->sessions[0]->exename != NULL)
		return task->sessions[0]->exename;
	for (uint32_t i = 0; i < task->session_nr; i++) {
		if (name_is(task->sessions[i]->exename, task->name))
			return task->sessions[i]->exename;
	}
	if (task->name[0] != '\0' && !name_is(x->trace->info.exename, task->name))
		return task->name;
	return x->trace->info.exename == NULL ? "" : x->trace->info.exename;
}

static bool is_forked(const struct ufx_task *task)
{
	return task->parent != NULL && task->parent->pid != task->task->pid;
}

/* One image for each process that none of the others forked: all have the same modules. */
static int put_session(struct ufx *x, const struct ufx_task *task, uint64_t start_ns)
{
	const struct ftr_task *t = task->task;
	bool has_own = t->session_nr > 0 && t->sessions[0]->pid == t->pid;
	char sid[17];
	int ret;

	if (has_own)
		memcpy(sid, t->sessions[0]->sid, sizeof(sid));
	else
		snprintf(sid, sizeof(sid), "%016x", (unsigned)t->pid);
	ret = ftr_uftrace_dir_session(x->dir, start_ns, task->task->pid, sid,
				      task_exename(x, t, task->is_named));
	return ret < 0 ? ret : ufx_write_map(x, sid, t->session_nr > 0 ? t->sessions[0] : NULL);
}

static int put_image(struct ufx *x, const struct ftr_session *image)
{
	int ret = ftr_uftrace_dir_session(x->dir, image->start_ns, image->pid, image->sid,
					  image->exename);

	return ret < 0 ? ret : ufx_write_map(x, image->sid, image);
}

/* The images after that, which it became by exec. */
static int put_images(struct ufx *x, const struct ufx_task *task, bool has_first)
{
	const struct ftr_task *t = task->task;

	for (uint32_t i = has_first; i < t->session_nr; i++) {
		const struct ftr_session *image = t->sessions[i];
		int ret;

		if (image->pid != t->pid || image->exename == NULL)
			continue;
		ret = put_image(x, image);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Those of processes that did no more than system calls: their tasks are known by these. */
static int put_other_images(struct ufx *x, const struct ftr_hashmap *processes)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && x->trace->has_syscalls && i < x->trace->sessions.nr; i++) {
		const struct ftr_session *image = x->trace->sessions.v[i];

		if (image->exename != NULL && image->exename[0] != '\0' &&
		    ftr_hashmap_find(processes, (uint32_t)image->pid) == NULL)
			ret = put_image(x, image);
	}
	return ret;
}

static int put_task(struct ufx *x, struct ufx_task *task, struct ftr_hashmap *processes)
{
	const struct ftr_task *t = task->task;
	uint64_t start_ns = task_start(task);
	bool is_first = ftr_hashmap_find(processes, (uint32_t)t->pid) == NULL;
	int ret = 0;

	if (is_first && ftr_hashmap_set(processes, (uint32_t)t->pid, x) < 0)
		return -ENOMEM;
	if (is_first && is_forked(task) && ftr_task_is_main(t)) {
		ret = ftr_uftrace_dir_fork(x->dir, start_ns, t->tid, task->parent->pid);
		return ret < 0 ? ret : put_images(x, task, false);
	}
	if (is_first)
		ret = put_session(x, task, image_start(task));
	if (ret == 0)
		ret = ftr_uftrace_dir_task(x->dir, start_ns, t->tid, t->pid);
	return ret == 0 && is_first ? put_images(x, task, true) : ret;
}

/* The name that the directory's reader finds by itself is that of the process's program. */
static int put_name(struct ufx *x, const struct ufx_task *task)
{
	const struct ftr_task *leader = ftr_trace_task_find(x->trace, task->task->pid);
	const char *known = task_exename(x, leader == NULL ? task->task : leader, false);

	if (task->is_named || task->task->name[0] == '\0' || name_is(known, task->task->name))
		return 0;
	return ufx_perf_comm(x, task->task, task->first_ns,
			     ftr_slice_make(task->task->name, strlen(task->task->name)),
			     task->cpu_nr);
}

int ufx_write_tasks(struct ufx *x)
{
	struct ufx_task **order = calloc(x->tasks.nr + 1, sizeof(struct ufx_task *));
	struct ftr_hashmap processes;
	size_t nr = 0;
	int ret = 0;

	if (order == NULL)
		return ufx_no_memory(x);
	for (size_t i = 0; i < x->tasks.nr; i++) {
		if (x->tasks.v[i].task != NULL)
			order[nr++] = &x->tasks.v[i];
	}
	qsort(order, nr, sizeof(order[0]), compare_starts);
	ftr_hashmap_init(&processes);
	for (size_t i = 0; ret == 0 && i < nr; i++) {
		ret = put_task(x, order[i], &processes);
		if (ret == 0)
			ret = put_name(x, order[i]);
	}
	if (ret == 0)
		ret = put_other_images(x, &processes);
	ftr_hashmap_fini(&processes);
	free(order);
	if (ret < 0 && x->base.err != NULL && x->base.err->code == 0)
		ftr_err_set(x->base.err, -ret, "task.txt: %s", strerror(-ret));
	return ret;
}

static const struct {
	size_t flag;		/* offset of a bool in struct ufx */
	uint64_t features;
} features[] = {
	{ offsetof(struct ufx, has_args),   FTR_FEATURE_ARGUMENT | FTR_FEATURE_AUTO_ARGS |
					    FTR_FEATURE_DEBUG_INFO },
	{ offsetof(struct ufx, has_retval), FTR_FEATURE_RETVAL | FTR_FEATURE_AUTO_ARGS |
					    FTR_FEATURE_DEBUG_INFO },
	{ offsetof(struct ufx, has_events), FTR_FEATURE_EVENT },
	{ offsetof(struct ufx, has_perf),   FTR_FEATURE_PERF_EVENT },
	{ offsetof(struct ufx, has_places), FTR_FEATURE_DEBUG_INFO },
	{ offsetof(struct ufx, has_kernel), FTR_FEATURE_KERNEL },
};

static int info_tids(struct ufx *x, struct ftr_info *info)
{
	int32_t *tids = ftr_arena_alloc(&x->arena, (x->tasks.nr + 1) * sizeof(*tids));

	if (tids == NULL)
		return ufx_no_memory(x);
	info->task_nr = 0;
	for (size_t i = 0; i < x->tasks.nr; i++) {
		const struct ftr_task *task = x->tasks.v[i].task;

		if (task != NULL && task->tid != 0)	/* uftrace 0.19 takes no idle task here */
			tids[info->task_nr++] = task->tid;
	}
	info->tids = tids;
	return 0;
}

/* uftrace finds the layouts of arguments by patterns, and names pictures by the program. */
static void info_of_peer(const struct ufx *x, struct ftr_info *info)
{
	if (info->pattern_type == NULL || info->pattern_type[0] == '\0')
		info->pattern_type = "regex";
	if (info->exename == NULL)
		info->exename = "";
	for (size_t i = 0; info->exename[0] == '\0' && i < x->tasks.nr; i++) {
		const struct ftr_task *task = x->tasks.v[i].task;

		if (task != NULL)
			info->exename = task_exename(x, task, x->tasks.v[i].is_named);
	}
	info->info_mask |= FTR_INFO_PATTERN_TYPE | FTR_INFO_EXE_NAME;
}

/* What the trace has, and what this directory holds; the layouts stand in the .dbg files. */
int ufx_write_info(struct ufx *x)
{
	struct ftr_info info = x->trace->info;

	info.elf_data = FTR_HOST_IS_BIG ? ELFDATA2MSB : ELFDATA2LSB;
	info.elf_class = ELFCLASS64;
	if (info.max_stack == 0)
		info.max_stack = STACK_MAX;
	info.feature_mask = FTR_FEATURE_PLTHOOK | FTR_FEATURE_TASK_SESSION |
			    FTR_FEATURE_SYM_REL_ADDR | FTR_FEATURE_MAX_STACK;
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		if (*((const bool *)((const char *)x + features[i].flag)))
			info.feature_mask |= features[i].features;
	}
	info.auto_args = x->has_args || x->has_retval;
	info.argspec = info.retspec = info.argauto = info.retauto = info.enumauto = NULL;
	info.info_mask &= ~(uint64_t)FTR_INFO_ARG_SPEC;
	if (info.auto_args)
		info.info_mask |= FTR_INFO_ARG_SPEC;
	info.info_mask |= FTR_INFO_TASKINFO;
	info_of_peer(x, &info);
	if (info_tids(x, &info) < 0)
		return -ENOMEM;
	return ftr_uftrace_dir_info(x->dir, &info, x->base.err);
}

/* SPDX-License-Identifier: MIT */
/*
 * FXT writer: arrows from the call that made a task to the task's first call.
 *
 * Who forked whom the trace knows.  A thread that the kernel spoke of was made in the call of
 * pthread_create or the like that was open at that time in the thread that made it.  Of others no
 * more is known than that such calls happened and threads began: in the order of their ids, where
 * all were recorded; else a thread is that of the last such call before it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/fxt/write.h"
#include "utils/trace/trace.h"

struct fxt_maker {
	FTR_VEC(uint32_t) flows;	/* of calls that make a thread, in order; 0 = taken */
	FTR_VEC(int32_t) tids;		/* of the process's threads but the first, ascending */
};

bool fxt_func_makes_thread(const char *name)
{
	static const char *const names[] = { "pthread_create", "thrd_create",
					     "std::thread::_M_start_thread" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

/* @child: the task that is made, NULL = not known yet, or it is the one whose call this is. */
static int put_flow(struct fxt_writer *w, const struct ftr_task *task, struct fxt_shape shape,
		    const char *name, const struct ftr_task *child)
{
	int ret = fxt_shape_own(w, &shape, name);

	fxt_args_clear(w);
	if (ret == 0 && child != NULL)
		ret = fxt_arg_word(w, FXT_KEY_CHILD, FXT_ARG_KOID, (uint32_t)child->tid);
	return ret < 0 ? ret : fxt_put_event(w, task, &shape);
}

static struct fxt_shape flow_shape(enum fxt_event type, uint64_t time_ns, uint32_t flow)
{
	return (struct fxt_shape){ .type = type, .time_ns = time_ns, .has_extra = true,
				   .extra = FXT_FLOW_FORK | flow };
}

int fxt_write_fork(struct fxt_writer *w, const struct ftr_event *ev)
{
	if (fxt_task_get(w, ev->fork.peer) == NULL || fxt_task_get(w, ev->task) == NULL)
		return -ENOMEM;
	w->tasks.v[ev->task->id].last_ns = ev->time_ns;
	w->tasks.v[ev->fork.peer->id].flow_id = ++w->flow_nr;
	w->tasks.v[ev->fork.peer->id].flow_is_fork = true;
	return put_flow(w, ev->task, flow_shape(FXT_FLOW_BEGIN, ev->time_ns, w->flow_nr),
			FXT_NAME_FORK, ev->fork.peer);
}

static int compare_tids(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return x < y ? -1 : x > y;
}

static struct fxt_maker *maker_new(struct fxt_writer *w, int32_t pid)
{
	struct fxt_maker *maker = calloc(1, sizeof(*maker));

	if (maker == NULL || ftr_hashmap_set(&w->makers, (uint32_t)pid, maker) < 0) {
		free(maker);
		return NULL;
	}
	for (size_t i = 0; i < w->trace->tasks.nr; i++) {
		const struct ftr_task *task = w->trace->tasks.v[i];

		if (task->pid == pid && !ftr_task_is_main(task) &&
		    ftr_vec_push(&maker->tids, task->tid) < 0)
			return NULL;
	}
	if (maker->tids.nr > 1)
		qsort(maker->tids.v, maker->tids.nr, sizeof(*maker->tids.v), compare_tids);
	return maker;
}

/* One call that makes a thread may make another one do it: the outer one is meant. */
static bool is_inside_maker(const struct fxt_task *task)
{
	return task->maker_depth < task->open.nr &&
	       task->open.v[task->maker_depth] == task->maker_pos;
}

int fxt_flow_thread(struct fxt_writer *w, const struct ftr_event *ev)
{
	struct fxt_maker *maker = ftr_hashmap_find(&w->makers, (uint32_t)ev->task->pid);
	struct fxt_task *task = &w->tasks.v[ev->task->id];

	if (task->maker_depth < task->open.nr - 1 && is_inside_maker(task))
		return 0;
	task->maker_depth = (uint32_t)task->open.nr - 1;
	task->maker_pos = task->open.v[task->maker_depth];
	if (maker == NULL)
		maker = maker_new(w, ev->task->pid);
	if (maker == NULL || ftr_vec_push(&maker->flows, ++w->flow_nr) < 0)
		return fxt_no_memory(w);
	task->maker_flow = w->flow_nr;
	return put_flow(w, ev->task, flow_shape(FXT_FLOW_BEGIN, ev->time_ns, w->flow_nr),
			FXT_NAME_THREAD, NULL);
}

/* It is one of the last ones.  False: a thread that the kernel did not speak of has it. */
static bool flow_take(struct fxt_maker *maker, uint32_t flow)
{
	for (size_t i = maker->flows.nr; i-- > 0;) {
		if (maker->flows.v[i] != flow)
			continue;
		maker->flows.v[i] = 0;
		return true;
	}
	return false;
}

void fxt_flow_made(struct fxt_writer *w, const struct ftr_task *task)
{
	const struct ftr_task *maker = task->maker;
	struct fxt_task *made = &w->tasks.v[task->id], *from;

	if (maker == NULL || made->flow_id != FXT_FLOW_THREAD)
		return;
	from = maker->id < w->tasks.nr ? &w->tasks.v[maker->id] : NULL;
	made->flow_id = 0;
	if (from == NULL || from->maker_flow == 0 || !is_inside_maker(from))
		return;
	if (flow_take(ftr_hashmap_find(&w->makers, (uint32_t)maker->pid), from->maker_flow))
		made->flow_id = from->maker_flow;
	from->maker_flow = 0;
}

/* The arrow that leads to a thread; 0 = none does. */
static uint32_t thread_flow(struct fxt_writer *w, const struct ftr_task *task)
{
	struct fxt_maker *maker = ftr_hashmap_find(&w->makers, (uint32_t)task->pid);
	const int32_t *own;
	uint32_t flow;
	size_t at;

	if (maker == NULL || maker->flows.nr == 0)
		return 0;
	own = maker->tids.nr == 0 ? NULL : bsearch(&task->tid, maker->tids.v, maker->tids.nr,
						   sizeof(*maker->tids.v), compare_tids);
	at = own == NULL ? maker->flows.nr : (size_t)(own - maker->tids.v);
	if (at >= maker->flows.nr || maker->flows.v[at] == 0) {
		at = maker->flows.nr - 1;
		while (at > 0 && maker->flows.v[at] == 0)
			at--;
	}
	flow = maker->flows.v[at];
	maker->flows.v[at] = 0;
	return flow;
}

int fxt_flow_end(struct fxt_writer *w, const struct ftr_task *task, uint64_t time_ns)
{
	uint32_t flow = w->tasks.v[task->id].flow_id;

	w->tasks.v[task->id].flow_id = 0;
	if (flow == FXT_FLOW_THREAD)
		flow = thread_flow(w, task);
	if (flow == 0)
		return 0;
	return put_flow(w, task, flow_shape(FXT_FLOW_END, time_ns, flow),
			w->tasks.v[task->id].flow_is_fork ? FXT_NAME_FORK : FXT_NAME_THREAD, NULL);
}

void fxt_makers_fini(struct fxt_writer *w)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;

	while ((slot = ftr_hashmap_next(&w->makers, &pos)) != NULL) {
		struct fxt_maker *maker = slot->value;

		ftr_vec_fini(&maker->flows);
		ftr_vec_fini(&maker->tids);
		free(maker);
	}
	ftr_hashmap_fini(&w->makers);
}

/* SPDX-License-Identifier: MIT */
/* What system calls are as tasks and events. */
#include "utils/format/etrace/make.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "utils/base/bytes.h"

#define COMM_MAX 15u

/* ---- tasks ---- */

static void task_name_set(struct ftr_trace *trace, struct ftr_task *task, struct ftr_slice name)
{
	const char *copy = ftr_arena_strndup(&trace->arena, name.s,
					     name.len < COMM_MAX ? name.len : COMM_MAX);

	if (copy != NULL)
		task->name = copy;
}

static struct ftr_slice base_name(struct ftr_slice path)
{
	const char *slash = path.len > 0 ? memrchr(path.s, '/', path.len) : NULL;

	if (slash == NULL)
		return path;
	return ftr_slice_make(slash + 1, (size_t)(path.s + path.len - slash - 1));
}

/* A task of which no parent is known is a process. */
static struct ftr_task *task_of(struct ftr_etrace_maker *maker, uint64_t upid)
{
	struct ftr_task *task = ftr_hashmap_find(&maker->task_by_upid, upid);
	int32_t tid = ftr_upid_tid(upid);

	if (task != NULL)
		return task;
	task = ftr_trace_task_get(maker->trace, tid, tid);
	if (task == NULL || ftr_hashmap_set(&maker->task_by_upid, upid, task) < 0)
		return NULL;
	return task;
}

static int fork_apply(struct ftr_etrace_maker *maker, const struct ftr_syscall *call,
		      struct ftr_task *parent)
{
	bool is_thread = ftr_syscall_makes_thread(call);
	int32_t tid = ftr_upid_tid(call->fork.child);
	struct ftr_task *child;

	if (call->is_failed || call->fork.child == 0)
		return 0;
	child = ftr_trace_task_get(maker->trace, is_thread ? parent->pid : tid, tid);
	if (child == NULL)
		return -ENOMEM;
	if (child->parent == NULL && child != parent) {
		child->parent = parent;
		if (ftr_hashmap_set(&maker->own_forks, call->fork.child, child) < 0)
			return -ENOMEM;
	}
	if (child->start_ns == 0)
		child->start_ns = call->end_ns;
	if (child->name[0] == '\0')
		child->name = parent->name;
	child->is_forked = !is_thread;
	return ftr_hashmap_set(&maker->task_by_upid, call->fork.child, child);
}

/* A thread that execs goes on as its process's leader. */
static int exec_apply(struct ftr_etrace_maker *maker, const struct ftr_syscall *call,
		      struct ftr_task **task)
{
	if (call->is_failed)
		return 0;
	if ((*task)->pid != (*task)->tid) {
		*task = ftr_trace_task_get(maker->trace, (*task)->pid, (*task)->pid);
		if (*task == NULL || ftr_hashmap_set(&maker->task_by_upid, call->upid, *task) < 0)
			return -ENOMEM;
	}
	task_name_set(maker->trace, *task, base_name(call->exec.program));
	return 0;
}

int ftr_etrace_apply(struct ftr_etrace_maker *maker, const struct ftr_syscall *call,
		     struct ftr_task **out)
{
	struct ftr_task *task = task_of(maker, call->upid);
	int ret = task != NULL ? 0 : -ENOMEM;

	if (ret == 0 && ftr_syscall_is_fork(call))
		ret = fork_apply(maker, call, task);
	else if (ret == 0 && call->kind == FTR_SYSCALL_EXEC)
		ret = exec_apply(maker, call, &task);
	else if (ret == 0 && call->kind == FTR_SYSCALL_COMM && !call->is_failed &&
		 call->comm.name.s != NULL)
		task_name_set(maker->trace, task, call->comm.name);
	*out = task;
	return ret;
}

int ftr_etrace_maker_init(struct ftr_etrace_maker *maker, struct ftr_trace *trace)
{
	*maker = (struct ftr_etrace_maker){ .trace = trace };
	ftr_hashmap_init(&maker->task_by_upid);
	ftr_hashmap_init(&maker->own_forks);
	maker->module = ftr_trace_module_get(trace, FTR_SYSCALL_MODULE, NULL);
	return maker->module != NULL ? 0 : -ENOMEM;
}

void ftr_etrace_maker_fini(struct ftr_etrace_maker *maker)
{
	ftr_hashmap_fini(&maker->task_by_upid);
	ftr_hashmap_fini(&maker->own_forks);
}

/* ---- events ---- */

static const struct ftr_func *func_of(struct ftr_etrace_maker *maker,
				      const struct ftr_syscall *call)
{
	enum ftr_sysid id = ftr_syscall_id(call);

	if (maker->funcs[id] == NULL)
		maker->funcs[id] = ftr_syscall_func(maker->trace, maker->module, id);
	return maker->funcs[id];
}

/* @data holds where the bytes begin until the batch is whole: they may move. */
static void payload_set(struct ftr_etrace_batch *self, struct ftr_event *ev,
			const struct ftr_argspec *spec, size_t start,
			const struct ftr_syscall *call)
{
	struct ftr_payload *payload = &self->payloads[ev - self->evs];

	*payload = (struct ftr_payload){
		.data = (const uint8_t *)(uintptr_t)start,
		.spec = spec,
		.len = (uint16_t)(self->bytes.len - start),
		.is_big_endian = FTR_HOST_IS_BIG,
		.syscall = ev->type != FTR_EVENT_ENTRY ? call : NULL,
	};
	ev->payload = payload;
}

static struct ftr_event *event_add(struct ftr_etrace_batch *self, struct ftr_task *task,
				   uint8_t type, uint64_t time_ns)
{
	struct ftr_event *ev = &self->evs[self->nr++];

	*ev = (struct ftr_event){
		.time_ns = time_ns,
		.task = task,
		.type = type,
		.depth = FTR_DEPTH_UNKNOWN,
	};
	return ev;
}

/* An exec renames its task: no call of its own. */
static bool is_name_of_exec(const struct ftr_syscall *call)
{
	return call->kind == FTR_SYSCALL_COMM &&
	       (call->id == FTR_SYSID_EXECVE || call->id == FTR_SYSID_EXECVEAT);
}

static void name_event(struct ftr_etrace_batch *self, struct ftr_task *task,
		       const struct ftr_syscall *call)
{
	struct ftr_event *ev = event_add(self, task, FTR_EVENT_POINT, call->end_ns);
	size_t start = self->bytes.len;

	ev->point.name = "linux:task-name";	/* without its id: shown outside of calls, too */
	payload_set(self, ev, ftr_syscall_args(call, &self->bytes), start, call);
}

static void entry_event(struct ftr_etrace_batch *self, struct ftr_task *task,
			const struct ftr_func *func, const struct ftr_syscall *call,
			bool *is_new_image)
{
	struct ftr_event *ev = event_add(self, task, FTR_EVENT_ENTRY, call->start_ns);
	size_t start = self->bytes.len;
	const struct ftr_argspec *spec = ftr_syscall_args(call, &self->bytes);

	ev->call.func = func;
	if (*is_new_image)
		ev->depth = 0;
	*is_new_image = call->kind == FTR_SYSCALL_EXEC && !call->is_failed;
	if (spec == NULL && call->stack == 0)
		return;
	payload_set(self, ev, spec, start, call);
	self->payloads[ev - self->evs].stack = call->stack;
}

int ftr_etrace_batch_add(struct ftr_etrace_batch *self, struct ftr_task *task,
			 const struct ftr_syscall *call, bool *is_new_image)
{
	const struct ftr_func *func = func_of(self->maker, call);
	struct ftr_task *peer = NULL;
	struct ftr_event *ev;
	size_t start;

	assert(!ftr_etrace_batch_is_full(self));
	if (func == NULL)
		return -ENOMEM;
	if (is_name_of_exec(call)) {
		name_event(self, task, call);
		return 0;
	}
	entry_event(self, task, func, call, is_new_image);
	if (ftr_syscall_is_fork(call))
		peer = ftr_hashmap_find(&self->maker->own_forks, call->fork.child);
	if (peer != NULL) {
		ev = event_add(self, task, FTR_EVENT_FORK, call->end_ns);
		ev->fork.peer = peer;
		payload_set(self, ev, NULL, self->bytes.len, call);
	}
	ev = event_add(self, task, FTR_EVENT_EXIT, call->end_ns);
	ev->call.func = func;
	start = self->bytes.len;
	payload_set(self, ev, ftr_syscall_result(call, &self->bytes), start, call);
	return 0;
}

void ftr_etrace_batch_begin(struct ftr_etrace_batch *self)
{
	ftr_strbuf_clear(&self->bytes);
	self->nr = 0;
}

ssize_t ftr_etrace_batch_end(struct ftr_etrace_batch *self, struct ftr_event **evs)
{
	if (self->bytes.failed)
		return -ENOMEM;
	for (size_t i = 0; i < self->nr; i++) {
		if (self->evs[i].payload != NULL)
			self->payloads[i].data = (const uint8_t *)ftr_strbuf_str(&self->bytes) +
						 (uintptr_t)self->payloads[i].data;
	}
	*evs = self->evs;
	return (ssize_t)self->nr;
}

/* SPDX-License-Identifier: MIT */
/* System calls of the etrace text to tasks and events. */
#include "utils/format/etrace/events.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/etrace/etrace.h"
#include "utils/trace/syscall.h"

#define COMM_MAX 15u
#define BATCH 48		/* events: a build has thousands of tasks, each with a batch */
#define EVENTS_PER_CALL 3

/* What one task did. */
struct task_calls {
	struct ftr_task *task;
	FTR_VEC(const struct ftr_syscall *) calls;	/* by time */
	bool is_taken;
};

struct ftr_etrace_events {
	struct ftr_trace *trace;
	struct ftr_etrace_log log;
	struct ftr_hashmap task_by_upid;	/* struct ftr_task */
	struct ftr_hashmap calls_by_task;	/* task id -> struct task_calls */
	struct ftr_hashmap own_forks; /* upid of a child that no other file mentions -> its task */
	FTR_VEC(struct task_calls *) all;	/* (owned) */
	const struct ftr_module *module;	/* of the calls' functions */
	const struct ftr_func *funcs[FTR_SYSIDS];	/* (nullable) made at first use */
};

struct etrace_source {
	struct ftr_source base;
	struct ftr_etrace_events *events;
	struct task_calls *from;
	size_t pos;
	bool is_new_image;			/* an exec ended all calls around it */
	struct ftr_strbuf bytes;		/* of the batch's payloads */
	struct ftr_event batch[BATCH];
	struct ftr_payload payloads[BATCH];
};

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
static struct ftr_task *task_of(struct ftr_etrace_events *events, uint64_t upid)
{
	struct ftr_task *task = ftr_hashmap_find(&events->task_by_upid, upid);
	int32_t tid = ftr_upid_tid(upid);

	if (task != NULL)
		return task;
	task = ftr_trace_task_get(events->trace, tid, tid);
	if (task == NULL || ftr_hashmap_set(&events->task_by_upid, upid, task) < 0)
		return NULL;
	return task;
}

static int fork_apply(struct ftr_etrace_events *events, const struct ftr_syscall *call,
		      struct ftr_task *parent)
{
	bool is_thread = ftr_syscall_makes_thread(call);
	int32_t tid = ftr_upid_tid(call->fork.child);
	struct ftr_task *child;

	if (call->is_failed || call->fork.child == 0)
		return 0;
	child = ftr_trace_task_get(events->trace, is_thread ? parent->pid : tid, tid);
	if (child == NULL)
		return -ENOMEM;
	if (child->parent == NULL && child != parent) {
		child->parent = parent;
		if (ftr_hashmap_set(&events->own_forks, call->fork.child, child) < 0)
			return -ENOMEM;
	}
	if (child->start_ns == 0)
		child->start_ns = call->end_ns;
	if (child->name[0] == '\0')
		child->name = parent->name;
	child->is_forked = !is_thread;
	return ftr_hashmap_set(&events->task_by_upid, call->fork.child, child);
}

/* A thread that execs goes on as its process's leader. */
static int exec_apply(struct ftr_etrace_events *events, const struct ftr_syscall *call,
		      struct ftr_task **task)
{
	if (call->is_failed)
		return 0;
	if ((*task)->pid != (*task)->tid) {
		*task = ftr_trace_task_get(events->trace, (*task)->pid, (*task)->pid);
		if (*task == NULL || ftr_hashmap_set(&events->task_by_upid, call->upid, *task) < 0)
			return -ENOMEM;
	}
	task_name_set(events->trace, *task, base_name(call->exec.program));
	return 0;
}

static int calls_add(struct ftr_etrace_events *events, struct ftr_task *task,
		       const struct ftr_syscall *call)
{
	struct task_calls *calls = ftr_hashmap_find(&events->calls_by_task, task->id);

	if (calls == NULL) {
		calls = calloc(1, sizeof(*calls));
		if (calls == NULL || ftr_vec_push(&events->all, calls) < 0) {
			free(calls);
			return -ENOMEM;
		}
		calls->task = task;
		if (ftr_hashmap_set(&events->calls_by_task, task->id, calls) < 0)
			return -ENOMEM;
	}
	return ftr_vec_push(&calls->calls, call);
}

static int call_apply(struct ftr_etrace_events *events, const struct ftr_syscall *call)
{
	struct ftr_task *task = task_of(events, call->upid);
	int ret = task != NULL ? 0 : -ENOMEM;

	if (ret == 0 && ftr_syscall_is_fork(call))
		ret = fork_apply(events, call, task);
	else if (ret == 0 && call->kind == FTR_SYSCALL_EXEC)
		ret = exec_apply(events, call, &task);
	else if (ret == 0 && call->kind == FTR_SYSCALL_COMM && !call->is_failed &&
		 call->comm.name.s != NULL)
		task_name_set(events->trace, task, call->comm.name);
	return ret < 0 ? ret : calls_add(events, task, call);
}

/* ---- the source ---- */

static const struct ftr_func *func_of(struct ftr_etrace_events *events,
				      const struct ftr_syscall *call)
{
	enum ftr_sysid id = ftr_syscall_id(call);

	if (events->funcs[id] == NULL)
		events->funcs[id] = ftr_syscall_func(events->trace, events->module, id);
	return events->funcs[id];
}

/* @data holds where the bytes begin until the batch is whole: they may move. */
static void payload_set(struct etrace_source *self, struct ftr_event *ev,
			const struct ftr_argspec *spec, size_t start,
			const struct ftr_syscall *call)
{
	struct ftr_payload *payload = &self->payloads[ev - self->batch];

	*payload = (struct ftr_payload){
		.data = (const uint8_t *)(uintptr_t)start,
		.spec = spec,
		.len = (uint16_t)(self->bytes.len - start),
		.is_big_endian = FTR_HOST_IS_BIG,
		.syscall = ev->type != FTR_EVENT_ENTRY ? call : NULL,
	};
	ev->payload = payload;
}

static struct ftr_event *event_add(struct etrace_source *self, size_t *nr, uint8_t type,
				   uint64_t time_ns)
{
	struct ftr_event *ev = &self->batch[(*nr)++];

	*ev = (struct ftr_event){
		.time_ns = time_ns,
		.task = self->from->task,
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

static void name_event(struct etrace_source *self, const struct ftr_syscall *call, size_t *nr)
{
	struct ftr_event *ev = event_add(self, nr, FTR_EVENT_POINT, call->end_ns);
	size_t start = self->bytes.len;

	ev->point.name = "linux:task-name";	/* without its id: shown outside of calls, too */
	payload_set(self, ev, ftr_syscall_args(call, &self->bytes), start, call);
}

static int call_events(struct etrace_source *self, const struct ftr_syscall *call,
			 size_t *nr)
{
	const struct ftr_func *func = func_of(self->events, call);
	const struct ftr_argspec *spec;
	struct ftr_task *peer;
	struct ftr_event *ev;
	size_t start;

	if (func == NULL)
		return -ENOMEM;
	if (is_name_of_exec(call)) {
		name_event(self, call, nr);
		return 0;
	}
	ev = event_add(self, nr, FTR_EVENT_ENTRY, call->start_ns);
	ev->call.func = func;
	if (self->is_new_image)
		ev->depth = 0;
	self->is_new_image = call->kind == FTR_SYSCALL_EXEC && !call->is_failed;
	start = self->bytes.len;
	spec = ftr_syscall_args(call, &self->bytes);
	if (spec != NULL)
		payload_set(self, ev, spec, start, call);
	peer = ftr_syscall_is_fork(call) ?
		       ftr_hashmap_find(&self->events->own_forks, call->fork.child) :
		       NULL;
	if (peer != NULL) {
		ev = event_add(self, nr, FTR_EVENT_FORK, call->end_ns);
		ev->fork.peer = peer;
		payload_set(self, ev, NULL, self->bytes.len, call);
	}
	ev = event_add(self, nr, FTR_EVENT_EXIT, call->end_ns);
	ev->call.func = func;
	start = self->bytes.len;
	spec = ftr_syscall_result(call, &self->bytes);
	payload_set(self, ev, spec, start, call);
	return 0;
}

static ssize_t etrace_source_next(struct ftr_source *source, struct ftr_event **evs,
				  struct ftr_err *err)
{
	struct etrace_source *self = (struct etrace_source *)source;
	size_t nr = 0;

	ftr_strbuf_clear(&self->bytes);
	while (self->pos < self->from->calls.nr && nr + EVENTS_PER_CALL <= BATCH) {
		if (call_events(self, self->from->calls.v[self->pos++], &nr) < 0 ||
		    self->bytes.failed)
			return ftr_err_set(err, ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < nr; i++) {
		if (self->batch[i].payload != NULL)
			self->payloads[i].data = (const uint8_t *)ftr_strbuf_str(&self->bytes) +
						 (uintptr_t)self->payloads[i].data;
	}
	*evs = self->batch;
	return (ssize_t)nr;
}

static void etrace_source_free(struct ftr_source *source)
{
	struct etrace_source *self = (struct etrace_source *)source;

	ftr_strbuf_fini(&self->bytes);
	free(self);
}

static const struct ftr_source_ops etrace_source_ops = {
	.next = etrace_source_next,
	.free = etrace_source_free,
};

static struct ftr_source *source_new(struct ftr_etrace_events *events, struct task_calls *calls)
{
	struct etrace_source *self = calloc(1, sizeof(*self));

	if (self == NULL)
		return NULL;
	self->base.ops = &etrace_source_ops;
	self->events = events;
	self->from = calls;
	calls->is_taken = true;
	return &self->base;
}

int ftr_etrace_events_take(struct ftr_etrace_events *events, const struct ftr_task *task,
			   struct ftr_source **out)
{
	struct task_calls *calls = ftr_hashmap_find(&events->calls_by_task, task->id);

	assert(events->trace->tasks.v[task->id] == task);
	*out = NULL;
	if (calls == NULL || calls->is_taken)
		return 0;
	*out = source_new(events, calls);
	return *out != NULL ? 0 : -ENOMEM;
}

int ftr_etrace_events_take_rest(struct ftr_etrace_events *events)
{
	for (size_t i = 0; i < events->all.nr; i++) {
		struct ftr_source *source;
		int ret = ftr_etrace_events_take(events, events->all.v[i]->task, &source);

		if (ret < 0)
			return ret;
		if (source != NULL && ftr_vec_push(&events->trace->sources, source) < 0) {
			ftr_source_free(source);
			return -ENOMEM;
		}
	}
	return 0;
}

/*
 * A session is known from when its image reported itself: it began with the exec before.  Later
 * execs first, or one whose image never reported itself would take the next one's.
 */
int ftr_etrace_events_sessions(struct ftr_etrace_events *events)
{
	size_t task_nr = events->trace->tasks.nr;
	uint64_t *next_ns = malloc((task_nr + 1) * sizeof(*next_ns));	/* exec, by task->id */

	if (next_ns == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < task_nr; i++)
		next_ns[i] = UINT64_MAX;
	for (size_t i = events->log.calls.nr; i-- > 0;) {
		const struct ftr_syscall *call = &events->log.calls.v[i];
		struct ftr_task *task = ftr_hashmap_find(&events->task_by_upid, call->upid);

		if (call->kind != FTR_SYSCALL_EXEC || call->is_failed || task == NULL)
			continue;
		for (uint32_t at = 1; at < task->session_nr; at++) {
			struct ftr_session *session = task->sessions[at];

			if (session->start_ns <= call->end_ns ||
			    session->start_ns >= next_ns[task->id])
				continue;
			session->start_ns = call->end_ns;
			break;
		}
		next_ns[task->id] = call->end_ns;
	}
	free(next_ns);
	return 0;
}

static void warn(void *arg, const char *text)
{
	ftr_diag_warn(arg, "%s", text);
}

static int events_init(struct ftr_etrace_events *events, struct ftr_istream *in)
{
	struct ftr_trace *trace = events->trace;
	int ret;

	ftr_etrace_log_init(&events->log);
	ftr_hashmap_init(&events->task_by_upid);
	ftr_hashmap_init(&events->calls_by_task);
	ftr_hashmap_init(&events->own_forks);
	events->module = ftr_trace_module_get(trace, FTR_SYSCALL_MODULE, NULL);
	ret = events->module != NULL ? ftr_etrace_load(&events->log, in, warn, trace->diag) :
				       -ENOMEM;
	for (size_t i = 0; ret == 0 && i < events->log.calls.nr; i++)
		ret = call_apply(events, &events->log.calls.v[i]);
	trace->has_syscalls = ret == 0;
	if (ret == 0 && events->log.calls.nr > 0 &&
	    (trace->first_ns == 0 || trace->first_ns > events->log.calls.v[0].start_ns))
		trace->first_ns = events->log.calls.v[0].start_ns;
	return ret;
}

int ftr_etrace_events_load(struct ftr_etrace_events **out, struct ftr_trace *trace,
			   struct ftr_istream *in, struct ftr_err *err)
{
	struct ftr_etrace_events *events = calloc(1, sizeof(*events));

	if (events == NULL)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", in->name);
	events->trace = trace;
	if (events_init(events, in) < 0) {
		ftr_etrace_events_free(events);
		return ftr_err_set(err, ENOMEM, "%s: out of memory", in->name);
	}
	if (events->log.calls.nr == 0) {
		ftr_etrace_events_free(events);
		return ftr_err_set(err, EBADMSG, "%s: no etrace records found; expected lines like "
				   "UPID,CPU,TIME,TIMEN!|...", in->name);
	}
	*out = events;
	return 0;
}

void ftr_etrace_events_free(struct ftr_etrace_events *events)
{
	if (events == NULL)
		return;
	for (size_t i = 0; i < events->all.nr; i++) {
		ftr_vec_fini(&events->all.v[i]->calls);
		free(events->all.v[i]);
	}
	ftr_vec_fini(&events->all);
	ftr_hashmap_fini(&events->task_by_upid);
	ftr_hashmap_fini(&events->calls_by_task);
	ftr_hashmap_fini(&events->own_forks);
	ftr_etrace_log_fini(&events->log);
	free(events);
}

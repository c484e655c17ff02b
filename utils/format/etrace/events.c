/* SPDX-License-Identifier: MIT */
/* System calls of the etrace text to tasks and events. */
#include "utils/format/etrace/events.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/etrace/etrace.h"
#include "utils/format/etrace/make.h"
#include "utils/trace/syscall.h"

/* What one task did. */
struct task_calls {
	struct ftr_task *task;
	FTR_VEC(const struct ftr_syscall *) calls;	/* by time */
	bool is_taken;
};

struct ftr_etrace_events {
	struct ftr_trace *trace;
	struct ftr_etrace_log log;
	struct ftr_etrace_maker maker;
	struct ftr_hashmap calls_by_task;	/* task id -> struct task_calls */
	FTR_VEC(struct task_calls *) all;	/* (owned) */
};

struct etrace_source {
	struct ftr_source base;
	struct task_calls *from;
	size_t pos;
	bool is_new_image;
	struct ftr_etrace_batch batch;
};

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
	struct ftr_task *task;
	int ret = ftr_etrace_apply(&events->maker, call, &task);

	return ret < 0 ? ret : calls_add(events, task, call);
}

/* ---- the source ---- */

static ssize_t etrace_source_next(struct ftr_source *source, struct ftr_event **evs,
				  struct ftr_err *err)
{
	struct etrace_source *self = (struct etrace_source *)source;
	struct task_calls *from = self->from;
	ssize_t nr;
	int ret = 0;

	ftr_etrace_batch_begin(&self->batch);
	while (ret == 0 && self->pos < from->calls.nr && !ftr_etrace_batch_is_full(&self->batch))
		ret = ftr_etrace_batch_add(&self->batch, from->task, from->calls.v[self->pos++],
					   &self->is_new_image);
	nr = ftr_etrace_batch_end(&self->batch, evs);
	return ret < 0 || nr < 0 ? ftr_err_set(err, ENOMEM, "out of memory") : nr;
}

static void etrace_source_free(struct ftr_source *source)
{
	struct etrace_source *self = (struct etrace_source *)source;

	ftr_strbuf_fini(&self->batch.bytes);
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
	self->batch.maker = &events->maker;
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
		if (source != NULL)
			source->task = events->all.v[i]->task;
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
		struct ftr_task *task = ftr_hashmap_find(&events->maker.task_by_upid, call->upid);

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

int ftr_etrace_describe_empty(const struct ftr_istream *in, struct ftr_err *err)
{
	if (in->size == 0 || in->is_line_cut)
		return ftr_err_set(err, EBADMSG, "%s: the file ends before its first record: "
				   "its writer was killed or had no room, or it was cut; record "
				   "again", in->name);
	return ftr_err_set(err, EBADMSG, "%s: no etrace records found; expected lines like "
			   "UPID,CPU,TIME,TIMEN!|...", in->name);
}

static int events_init(struct ftr_etrace_events *events, struct ftr_istream *in)
{
	struct ftr_trace *trace = events->trace;
	int ret;

	ftr_etrace_log_init(&events->log);
	ftr_hashmap_init(&events->calls_by_task);
	ret = ftr_etrace_maker_init(&events->maker, trace);
	if (ret == 0)
		ret = ftr_etrace_load(&events->log, in, warn, trace->diag);
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
		return ftr_etrace_describe_empty(in, err);
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
	ftr_hashmap_fini(&events->calls_by_task);
	ftr_etrace_maker_fini(&events->maker);
	ftr_etrace_log_fini(&events->log);
	free(events);
}

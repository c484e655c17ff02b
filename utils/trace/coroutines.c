/* SPDX-License-Identifier: MIT */
/* See coroutines.h.  Events are changed where they lie; what is put between them is made[]. */
#include "utils/trace/coroutines.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/per_task.h"
#include "utils/trace/trace.h"

/* Above every tid that the kernel gives (PID_MAX_LIMIT). */
#define TID_FIRST 4194305

struct change {
	uint32_t nr;
	bool	 is_new;
	uint32_t moved;
};

struct open {
	const struct ftr_func *func;
	uint64_t addr;
};

struct stack {
	struct ftr_task *task;		/* NULL = not known yet */
	FTR_VEC(struct open) open;
	bool is_suspended;
	bool has_begun;
};

/* A thread, and the stack that it is on. */
struct thread {
	struct ftr_task *task;
	uint32_t now;			/* index of stacks */
	bool is_switching;		/* ... or ever did */
	FTR_VEC(struct stack) stacks;	/* [0] is its own */
};

struct coroutines {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	struct ftr_trace *trace;
	struct ftr_per_task threads;
	struct ftr_event *in;		/* (borrowed) batch of inner, handed out in slices */
	size_t pos;
	size_t nr;
	FTR_VEC(struct ftr_event) made;
	size_t made_pos;
};

static struct change change_of(uint64_t id)
{
	id -= FTR_EVENT_ID_STACK;
	return (struct change){
		.nr = (uint32_t)(id >> FTR_EVENT_STACK_NR_SHIFT) & FTR_EVENT_STACK_NR_MAX,
		.is_new = (id & FTR_EVENT_STACK_NEW) != 0,
		.moved = (uint32_t)(id >> FTR_EVENT_STACK_MOVED_SHIFT) & FTR_EVENT_STACK_MOVED_MAX,
	};
}

static bool is_change(const struct ftr_event *ev)
{
	return ev->type == FTR_EVENT_POINT && ev->point.kind == FTR_POINT_INSTANT &&
	       ev->point.id >= FTR_EVENT_ID_STACK && ev->point.id <= FTR_EVENT_ID_STACK_LAST;
}

static struct ftr_task *task_find(const struct ftr_trace *trace, const struct ftr_task *thread,
				  uint32_t nr)
{
	for (size_t i = thread->id + (size_t)1; i < trace->tasks.nr; i++) {
		if (trace->tasks.v[i]->thread == thread && trace->tasks.v[i]->stack_nr == nr)
			return trace->tasks.v[i];
	}
	return NULL;
}

/* The first number that no task has. */
static int32_t tid_free(const struct ftr_trace *trace)
{
	int32_t tid = TID_FIRST;

	for (size_t i = 0; i < trace->tasks.nr; i++) {
		if (trace->tasks.v[i]->tid >= tid && trace->tasks.v[i]->tid < INT32_MAX)
			tid = trace->tasks.v[i]->tid + 1;
	}
	return tid;
}

static const char *name_make(struct ftr_trace *trace, const char *name, uint32_t nr)
{
	struct ftr_strbuf text;
	const char *made;

	ftr_strbuf_init(&text);
	ftr_strbuf_printf(&text, "%s~%u", name, nr);
	made = ftr_arena_strndup(&trace->arena, ftr_strbuf_str(&text), text.len);
	ftr_strbuf_fini(&text);
	return made;
}

struct ftr_task *ftr_coroutine_task(struct ftr_trace *trace, struct ftr_task *thread, uint32_t nr)
{
	struct ftr_task *task = task_find(trace, thread, nr);

	if (task != NULL)
		return task;
	task = ftr_trace_task_get(trace, thread->pid, tid_free(trace));
	if (task == NULL)
		return NULL;
	task->thread = thread;
	task->stack_nr = nr;
	task->parent = thread;
	task->sessions = thread->sessions;
	task->session_nr = thread->session_nr;
	task->name = name_make(trace, thread->name, nr);
	return task->name == NULL ? NULL : task;
}

/* NULL = out of memory. */
static struct stack *stack_get(struct coroutines *self, struct thread *thread, uint32_t nr)
{
	struct stack *stack;

	if (ftr_vec_reach(&thread->stacks, nr) < 0)
		return NULL;
	stack = &thread->stacks.v[nr];
	if (stack->task == NULL)
		stack->task = nr == 0 ? thread->task :
					ftr_coroutine_task(self->trace, thread->task, nr);
	return stack->task == NULL ? NULL : stack;
}

static struct thread *thread_get(struct coroutines *self, struct ftr_task *task)
{
	struct thread *thread = ftr_per_task_get(&self->threads, task);

	if (thread == NULL)
		return NULL;
	thread->task = task;
	return stack_get(self, thread, 0) == NULL ? NULL : thread;
}

static int make(struct coroutines *self, const struct stack *stack, uint64_t time_ns,
		struct ftr_event ev)
{
	ev.task = stack->task;
	ev.time_ns = time_ns;
	ev.depth = FTR_DEPTH_UNKNOWN;
	return ftr_vec_push(&self->made, ev);
}

static int make_point(struct coroutines *self, const struct stack *stack, uint64_t time_ns,
		      enum ftr_event_id id)
{
	return make(self, stack, time_ns, (struct ftr_event){
		.type = FTR_EVENT_POINT,
		.point = { .id = id, .name = ftr_event_kind_by_id(id)->name },
	});
}

static int make_call(struct coroutines *self, const struct stack *stack, uint64_t time_ns,
		     enum ftr_event_type type, const struct open *open)
{
	return make(self, stack, time_ns, (struct ftr_event){
		.type = (uint8_t)type,
		.flags = FTR_EVENT_INFERRED | (type == FTR_EVENT_ENTRY ? FTR_EVENT_NO_ENTRY : 0),
		.call = { .func = open->func, .addr = open->addr },
	});
}

/* What is open there waits.  Without open calls there is nothing to be seen. */
static int stack_suspend(struct coroutines *self, struct stack *stack, uint64_t time_ns)
{
	if (stack->open.nr == 0 || stack->is_suspended)
		return 0;
	stack->is_suspended = true;
	return make_point(self, stack, time_ns, FTR_EVENT_ID_SUSPEND);
}

static int stack_resume(struct coroutines *self, struct stack *stack, uint64_t time_ns)
{
	if (!stack->is_suspended)
		return 0;
	stack->is_suspended = false;
	return make_point(self, stack, time_ns, FTR_EVENT_ID_RESUME);
}

/* The innermost calls down to @left are over. */
static int stack_close(struct coroutines *self, struct stack *stack, uint64_t time_ns, size_t left)
{
	int ret = 0;

	while (ret == 0 && stack->open.nr > left) {
		stack->open.nr--;
		ret = make_call(self, stack, time_ns, FTR_EVENT_EXIT,
				&stack->open.v[stack->open.nr]);
	}
	return ret;
}

/* Its memory belongs to another coroutine now: what was there never returned. */
static int stack_renew(struct coroutines *self, struct stack *stack, uint64_t time_ns)
{
	int ret;

	if (stack->open.nr == 0)
		return 0;
	ret = stack_resume(self, stack, time_ns);
	return ret == 0 ? stack_close(self, stack, time_ns, 0) : ret;
}

static int stack_begin(struct coroutines *self, const struct stack *from, struct stack *stack,
		       uint64_t time_ns)
{
	if (stack->has_begun)
		return 0;
	stack->has_begun = true;
	if (stack->task->start_ns == 0)
		stack->task->start_ns = time_ns;
	return make(self, from, time_ns, (struct ftr_event){
		.type = FTR_EVENT_FORK,
		.fork = { .peer = stack->task },
	});
}

/* The newest calls of @from were made on @to: there they go on, begun before that was known. */
static int calls_move(struct coroutines *self, struct stack *from, struct stack *to,
		      uint64_t time_ns, size_t nr)
{
	size_t left = nr < from->open.nr ? from->open.nr - nr : 0, end = from->open.nr;
	int ret = stack_begin(self, from, to, time_ns);

	if (ret == 0)
		ret = stack_close(self, from, time_ns, left);
	for (size_t i = left; ret == 0 && i < end; i++) {
		ret = ftr_vec_push(&to->open, from->open.v[i]);
		if (ret == 0)
			ret = make_call(self, to, time_ns, FTR_EVENT_ENTRY, &from->open.v[i]);
	}
	return ret == 0 ? stack_suspend(self, to, time_ns) : ret;
}

static int stacks_switch(struct coroutines *self, struct thread *thread, struct stack *to,
			 const struct ftr_event *ev)
{
	struct stack *from = &thread->stacks.v[thread->now];
	int ret = 0;

	if (from == to)
		return 0;
	if (to != &thread->stacks.v[0])
		ret = stack_begin(self, from, to, ev->time_ns);
	if (ret == 0)
		ret = stack_suspend(self, from, ev->time_ns);
	if (ret == 0)
		ret = stack_resume(self, to, ev->time_ns);
	thread->now = (uint32_t)(to - thread->stacks.v);
	return ret;
}

/* 0 or -ENOMEM. */
static int change_take(struct coroutines *self, const struct ftr_event *ev)
{
	struct change change = change_of(ev->point.id);
	struct thread *thread = thread_get(self, ev->task);
	struct stack *to = thread == NULL ? NULL : stack_get(self, thread, change.nr);
	int ret = 0;

	if (to == NULL)
		return -ENOMEM;
	thread->is_switching = true;
	if (change.is_new && change.nr != thread->now)
		ret = stack_renew(self, to, ev->time_ns);
	else if (change.is_new)
		ret = stack_close(self, to, ev->time_ns, 0);
	if (ret < 0)
		return ret;
	if (change.moved != 0 && change.nr != thread->now)
		return calls_move(self, &thread->stacks.v[thread->now], to, ev->time_ns,
				  change.moved);
	return stacks_switch(self, thread, to, ev);
}

/* Of the innermost call of that function, where not all that was open has an EXIT. */
static void open_pop(struct stack *stack, const struct ftr_func *func)
{
	for (size_t i = stack->open.nr; i > 0; i--) {
		if (stack->open.v[i - 1].func == func) {
			stack->open.nr = i - 1;
			return;
		}
	}
}

/* 0 or -ENOMEM. */
static int event_take(struct thread *thread, struct ftr_event *ev)
{
	struct stack *stack = &thread->stacks.v[thread->now];

	if (ev->type == FTR_EVENT_ENTRY) {
		struct open open = { ev->call.func, ev->call.addr };

		if (ftr_vec_push(&stack->open, open) < 0)
			return -ENOMEM;
	} else if (ev->type == FTR_EVENT_EXIT) {
		open_pop(stack, ev->call.func);
	}
	if (thread->is_switching && ev->type <= FTR_EVENT_EXIT)
		ev->depth = FTR_DEPTH_UNKNOWN;	/* was counted for all stacks together */
	ev->task = stack->task;
	return 0;
}

/* The batch's events up to a change of stacks, or to its end: where that is, or -ENOMEM. */
static ssize_t events_take(struct coroutines *self)
{
	size_t i = self->pos;

	for (; i < self->nr && !is_change(&self->in[i]); i++) {
		struct thread *thread = thread_get(self, self->in[i].task);

		if (thread == NULL || event_take(thread, &self->in[i]) < 0)
			return -ENOMEM;
	}
	return (ssize_t)i;
}

static ssize_t made_next(struct coroutines *self, struct ftr_event **evs)
{
	size_t nr = self->made.nr - self->made_pos;

	if (nr > FTR_SOURCE_BATCH)
		nr = FTR_SOURCE_BATCH;
	*evs = self->made.v + self->made_pos;
	self->made_pos += nr;
	return (ssize_t)nr;
}

static ssize_t slice_next(struct coroutines *self, struct ftr_event **evs, struct ftr_err *err)
{
	ssize_t end = events_take(self), nr;

	if (end < 0)
		return ftr_err_set(err, ENOMEM, "out of memory");
	*evs = self->in + self->pos;
	nr = end - (ssize_t)self->pos;
	self->pos = (size_t)end;
	return nr;
}

static ssize_t coroutines_next(struct ftr_source *source, struct ftr_event **evs,
			       struct ftr_err *err)
{
	struct coroutines *self = (struct coroutines *)source;
	ssize_t nr;

	for (;;) {
		if (self->made_pos < self->made.nr)
			return made_next(self, evs);
		if (self->pos == self->nr) {
			nr = ftr_source_next(self->inner, &self->in, err);
			if (nr <= 0)
				return nr;
			self->pos = 0;
			self->nr = (size_t)nr;
		}
		nr = slice_next(self, evs, err);
		if (nr != 0)
			return nr;
		self->made.nr = 0;
		self->made_pos = 0;
		if (change_take(self, &self->in[self->pos++]) < 0)
			return ftr_err_set(err, ENOMEM, "out of memory");
	}
}

static void coroutines_free(struct ftr_source *source)
{
	struct coroutines *self = (struct coroutines *)source;
	struct thread *thread;
	size_t pos = 0;

	ftr_source_free(self->inner);
	while ((thread = ftr_per_task_next(&self->threads, &pos)) != NULL) {
		for (size_t i = 0; i < thread->stacks.nr; i++)
			ftr_vec_fini(&thread->stacks.v[i].open);
		ftr_vec_fini(&thread->stacks);
	}
	ftr_per_task_fini(&self->threads);
	ftr_vec_fini(&self->made);
	free(self);
}

static const struct ftr_source_ops coroutines_ops = {
	.next = coroutines_next,
	.free = coroutines_free,
};

struct ftr_source *ftr_coroutines_new(struct ftr_source *inner, struct ftr_trace *trace)
{
	struct coroutines *self = calloc(1, sizeof(*self));

	assert(inner != NULL);
	if (self == NULL) {
		ftr_source_free(inner);
		return NULL;
	}
	self->base.ops = &coroutines_ops;
	self->inner = inner;
	self->trace = trace;
	self->threads.bytes = sizeof(struct thread);
	return &self->base;
}

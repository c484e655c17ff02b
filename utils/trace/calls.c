/* SPDX-License-Identifier: MIT */
/* Shadow stacks over a stream: matching, depth, durations, repair. */
#include "utils/trace/calls.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/hashmap.h"
#include "utils/base/vec.h"
#include "utils/trace/trace.h"

/* Deeper claims than a record can make are damage: such depths are counted instead. */
#define RECORDED_DEPTH_MAX 1023

struct frame {
	const struct ftr_func *func;
	uint64_t addr;
	uint64_t start_ns;
	uint64_t child_ns;
	uint8_t  flags;		/* of its ENTRY */
};

/* A task's open calls: frames.v[1] is the outermost, frames.v[0] a sentinel of no function. */
struct stack {
	struct ftr_task *task;
	FTR_VEC(struct frame) frames;	/* nr is not used: see open_nr */
	size_t open_nr;
	uint64_t last_ns;
	uint64_t sched_out_ns;	/* 0 = running */
	uint8_t  sched_flags;
};

struct calls {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	struct ftr_trace *trace;
	const struct ftr_func *lost;	/* stands for a function nobody knows */
	struct stack *current;
	struct ftr_hashmap by_task;
	FTR_VEC(struct stack *) stacks;
	struct ftr_event *in;		/* (borrowed) batch of inner, handed out in slices */
	size_t pos;
	size_t nr;
	size_t drained;			/* stacks that were emptied at the end */
	bool is_ended;
	struct ftr_event made[FTR_SOURCE_BATCH];
};

/* Room for as many calls as one batch can open. */
static int stack_reserve(struct stack *stack)
{
	return ftr_vec_reserve(&stack->frames, stack->open_nr + FTR_SOURCE_BATCH + 2);
}

static struct stack *stack_new(struct calls *self, struct ftr_task *task)
{
	struct stack *stack = calloc(1, sizeof(*stack));

	if (stack == NULL)
		return NULL;
	stack->task = task;
	if (ftr_vec_push(&self->stacks, stack) < 0) {
		free(stack);
		return NULL;
	}
	if (stack_reserve(stack) < 0 || ftr_hashmap_set(&self->by_task, task->id, stack) < 0)
		return NULL;
	stack->frames.v[0] = (struct frame){ 0 };
	return stack;
}

/* The stack of @task, with room for a batch; NULL when out of memory. */
static struct stack *stack_of(struct calls *self, struct ftr_task *task)
{
	struct stack *stack = ftr_hashmap_find(&self->by_task, task->id);

	if (stack == NULL)
		stack = stack_new(self, task);
	if (stack == NULL || stack_reserve(stack) < 0)
		return NULL;
	self->current = stack;
	return stack;
}

static inline struct frame *stack_top(const struct stack *stack)
{
	return &stack->frames.v[stack->open_nr];
}

/*
 * ENTRY and EXIT in one, without a branch between them: which comes next is what nobody can predict.
 * *open_nr is the stack's, or a copy that a loop keeps.  False when the event does not fit.
 */
static inline bool frames_call(struct frame *frames, size_t *open_nr, struct ftr_event *ev)
{
	size_t is_exit = ev->type;	/* 0 or 1 */
	size_t depth = *open_nr - is_exit;
	struct frame *frame = &frames[depth + 1];
	uint64_t start_ns = frame->start_ns;
	uint64_t child_ns = frame->child_ns;
	uint64_t mask = 0 - (uint64_t)is_exit;

	static_assert(FTR_EVENT_ENTRY == 0 && FTR_EVENT_EXIT == 1, "is_exit is the type");
	if (__builtin_expect(((ev->depth != depth) & (ev->depth != FTR_DEPTH_UNKNOWN)) |
			     (is_exit & (frame->func != ev->call.func)), 0))
		return false;
	/* Else the compiler loads both times at once, which waits for the store of child_ns before. */
	__asm__("" : "+r"(child_ns));
	ev->depth = (uint32_t)depth;
	ev->flags |= frame->flags & (uint8_t)mask;
	ev->call.start_ns = start_ns;
	ev->call.child_ns = child_ns;
	frame[-1].child_ns += (ev->time_ns - start_ns) & mask;
	frame->func = ev->call.func;
	frame->addr = ev->call.addr;
	frame->start_ns = ev->time_ns;
	frame->child_ns = 0;
	frame->flags = ev->flags & FTR_EVENT_NO_ENTRY;
	*open_nr = depth + 1 - is_exit;
	return true;
}

static inline bool stack_call(struct stack *stack, struct ftr_event *ev)
{
	return frames_call(stack->frames.v, &stack->open_nr, ev);
}

/* A pair of sched-out and sched-in is like a call that the current function made. */
static void stack_point(struct stack *stack, struct ftr_event *ev)
{
	if (ev->point.kind != FTR_POINT_INSTANT)
		return;
	ev->point.start_ns = 0;
	if (ev->point.id == FTR_EVENT_ID_SCHED_OUT ||
	    ev->point.id == FTR_EVENT_ID_SCHED_OUT_PREEMPTED) {
		if (ev->point.id == FTR_EVENT_ID_SCHED_OUT_PREEMPTED)
			ev->flags |= FTR_EVENT_PREEMPTED;
		stack->sched_flags = ev->flags & FTR_EVENT_PREEMPTED;
		stack->sched_out_ns = ev->time_ns;
	} else if (ev->point.id == FTR_EVENT_ID_SCHED_IN && stack->sched_out_ns != 0) {
		ev->flags |= stack->sched_flags;
		ev->point.start_ns = stack->sched_out_ns;
		stack_top(stack)->child_ns += ev->time_ns - ev->point.start_ns;
		stack->sched_out_ns = 0;
	}
}

static void stack_other(struct stack *stack, struct ftr_event *ev)
{
	ev->depth = (uint32_t)stack->open_nr;
	if (ev->type == FTR_EVENT_POINT)
		stack_point(stack, ev);
}

/*
 * Calls of one task from index @i on, in registers.  Returns the index of the first event that is something
 * else, does not fit, or steps back in time.
 */
static size_t take_calls(struct calls *self, struct stack *stack, size_t i)
{
	struct ftr_task *task = stack->task;
	struct frame *frames = stack->frames.v;
	size_t open_nr = stack->open_nr;
	uint64_t last_ns = stack->last_ns;

	for (; i < self->nr; i++) {
		struct ftr_event *ev = &self->in[i];

		if (__builtin_expect((ev->task != task) | (ev->type > FTR_EVENT_EXIT) |
				     (ev->time_ns < last_ns), 0))
			break;
		if (__builtin_expect(!frames_call(frames, &open_nr, ev), 0))
			break;
		last_ns = ev->time_ns;
	}
	stack->open_nr = open_nr;
	stack->last_ns = last_ns;
	return i;
}

/* One event of any kind.  False when it needs repair. */
static bool take_event(struct stack *stack, struct ftr_event *ev)
{
	if (ev->time_ns < stack->last_ns)
		ev->time_ns = stack->last_ns;
	if (ev->type > FTR_EVENT_EXIT)
		stack_other(stack, ev);
	else if (!stack_call(stack, ev))
		return false;
	stack->last_ns = ev->time_ns;
	return true;
}

/*
 * Take the batch's events as far as they fit.  Returns the index of the first that needs repair (nr =
 * none), or -ENOMEM.
 */
static ssize_t calls_take(struct calls *self)
{
	struct stack *stack = self->current;
	size_t i = self->pos;

	self->base.is_calls_only = true;
	if (stack != NULL && stack_reserve(stack) < 0)
		return -ENOMEM;
	while (i < self->nr) {
		if (stack == NULL || stack->task != self->in[i].task) {
			stack = stack_of(self, self->in[i].task);
			if (stack == NULL)
				return -ENOMEM;
		}
		i = take_calls(self, stack, i);
		if (i == self->nr || self->in[i].task != stack->task)
			continue;
		if (!take_event(stack, &self->in[i]))
			break;
		self->base.is_calls_only &= self->in[i].type <= FTR_EVENT_EXIT;
		i++;
	}
	return (ssize_t)i;
}

static struct ftr_event *make_event(struct calls *self, struct stack *stack, size_t at)
{
	struct ftr_event *made = &self->made[at];

	memset(made, 0, sizeof(*made));
	made->task = stack->task;
	made->flags = FTR_EVENT_INFERRED;
	made->time_ns = stack->last_ns;
	return made;
}

static void make_exit(struct calls *self, struct stack *stack, size_t at)
{
	const struct frame *frame = stack_top(stack);
	struct ftr_event *made = make_event(self, stack, at);

	made->type = FTR_EVENT_EXIT;
	made->depth = FTR_DEPTH_UNKNOWN;
	made->call.func = frame->func;
	made->call.addr = frame->addr;
	stack_call(stack, made);
}

static void make_entry(struct calls *self, struct stack *stack, size_t at,
		       const struct ftr_func *func)
{
	struct ftr_event *made = make_event(self, stack, at);

	made->type = FTR_EVENT_ENTRY;
	made->depth = FTR_DEPTH_UNKNOWN;
	made->flags |= FTR_EVENT_NO_ENTRY;
	made->call.func = func;
	made->call.addr = func->addr;
	stack_call(stack, made);
}

/* How deep the stack has to be for @ev, an ENTRY or EXIT, to happen on it. */
static size_t depth_for(const struct stack *stack, const struct ftr_event *ev)
{
	size_t nr = stack->open_nr;

	if (ev->depth <= RECORDED_DEPTH_MAX)
		return ev->depth + (ev->type == FTR_EVENT_EXIT);
	if (ev->type == FTR_EVENT_ENTRY)
		return nr;
	for (size_t i = nr; i > 0; i--) {	/* EXIT: of the innermost call of its function */
		if (stack->frames.v[i].func == ev->call.func)
			return i;
	}
	return nr + 1;
}

/* Is the stack as the event needs it? */
static bool stack_fits(const struct stack *stack, const struct ftr_event *ev)
{
	return depth_for(stack, ev) == stack->open_nr &&
	       (ev->type == FTR_EVENT_ENTRY || stack_top(stack)->func == ev->call.func);
}

/* One inferred event that brings the stack nearer to what @ev needs. */
static void repair_step(struct calls *self, struct stack *stack, const struct ftr_event *ev,
			size_t at)
{
	size_t nr = stack->open_nr;
	size_t want = depth_for(stack, ev);
	bool is_exit = ev->type == FTR_EVENT_EXIT;

	if (nr > want || (nr == want && is_exit))
		make_exit(self, stack, at);
	else
		make_entry(self, stack, at, nr + 1 == want && is_exit ? ev->call.func : self->lost);
}

/* Fill made[] until the event at pos fits.  Returns how many, or -ENOMEM. */
static ssize_t calls_repair(struct calls *self)
{
	struct ftr_event *ev = &self->in[self->pos];
	struct stack *stack = self->current;
	size_t nr;

	if (ev->depth > RECORDED_DEPTH_MAX)
		ev->depth = FTR_DEPTH_UNKNOWN;
	if (stack->last_ns == 0)	/* the task's first event */
		stack->last_ns = ev->time_ns;
	if (stack_reserve(stack) < 0)
		return -ENOMEM;
	for (nr = 0; nr < FTR_SOURCE_BATCH && !stack_fits(stack, ev); nr++)
		repair_step(self, stack, ev, nr);
	return (ssize_t)nr;
}

/* The end: everything that is still open did not finish; it took until its task's last event. */
static ssize_t calls_drain(struct calls *self)
{
	size_t nr = 0;

	while (self->drained < self->stacks.nr && nr < FTR_SOURCE_BATCH) {
		struct stack *stack = self->stacks.v[self->drained];

		if (stack->open_nr == 0) {
			self->drained++;
			continue;
		}
		make_exit(self, stack, nr);
		self->made[nr++].flags |= FTR_EVENT_UNFINISHED;
	}
	return (ssize_t)nr;
}

static ssize_t calls_refill(struct calls *self, struct ftr_err *err)
{
	ssize_t nr = ftr_source_next(self->inner, &self->in, err);

	self->pos = 0;
	self->nr = nr < 0 ? 0 : (size_t)nr;
	self->is_ended = nr == 0;
	return nr;
}

static ssize_t calls_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct calls *self = (struct calls *)source;
	ssize_t nr;

	if (self->pos == self->nr && !self->is_ended && (nr = calls_refill(self, err)) < 0)
		return nr;
	if (self->is_ended) {
		*evs = self->made;
		return calls_drain(self);
	}
	do {
		nr = calls_take(self);
		if (nr > (ssize_t)self->pos) {
			*evs = &self->in[self->pos];
			nr -= (ssize_t)self->pos;
			self->pos += (size_t)nr;
			return nr;
		}
		*evs = self->made;
		if (nr >= 0)
			nr = calls_repair(self);
	} while (nr == 0);	/* an absurd depth was dropped: the event fits now */
	return nr < 0 ? ftr_err_set(err, ENOMEM, "out of memory") : nr;
}

static void calls_free(struct ftr_source *source)
{
	struct calls *self = (struct calls *)source;

	ftr_source_free(self->inner);
	for (size_t i = 0; i < self->stacks.nr; i++) {
		ftr_vec_fini(&self->stacks.v[i]->frames);
		free(self->stacks.v[i]);
	}
	ftr_vec_fini(&self->stacks);
	ftr_hashmap_fini(&self->by_task);
	free(self);
}

static const struct ftr_source_ops calls_ops = {
	.next = calls_next,
	.free = calls_free,
};

struct ftr_source *ftr_calls_new(struct ftr_source *inner, struct ftr_trace *trace)
{
	struct calls *self = calloc(1, sizeof(*self));

	if (self == NULL) {
		ftr_source_free(inner);
		return NULL;
	}
	self->base.ops = &calls_ops;
	self->inner = inner;
	self->trace = trace;
	ftr_hashmap_init(&self->by_task);
	self->lost = ftr_trace_func_by_name(trace, NULL, FTR_CALLS_LOST_NAME,
					    strlen(FTR_CALLS_LOST_NAME));
	if (self->lost == NULL) {
		calls_free(&self->base);
		return NULL;
	}
	return &self->base;
}

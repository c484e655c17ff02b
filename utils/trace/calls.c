/* SPDX-License-Identifier: MIT */
/* Shadow stacks over a stream: matching, depth, durations, repair. */
#include "utils/trace/calls.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/trace/event_kind.h"
#include "utils/trace/per_task.h"
#include "utils/trace/stack.h"
#include "utils/trace/trace.h"

/* Deeper claims than a record can make are damage: such depths are counted instead. */
#define RECORDED_DEPTH_MAX 1023

/* A task's open calls, and what else is known of it. */
struct stack {
	struct ftr_stack open;
	struct ftr_task *task;
	uint64_t last_ns;
	struct half {			/* the first event of a pair, which waits for its second */
		uint64_t closed_by;	/* kind of that; 0 = unused */
		uint64_t begin_ns;	/* 0 = closed */
		uint8_t  flags;
	} halves[FTR_EVENT_PAIRS_MAX];
};

struct calls {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	struct ftr_trace *trace;
	uint64_t threshold_ns;		/* of runs: what takes less does not count */
	const struct ftr_func *lost;	/* stands for an unknown function */
	struct ftr_per_task stacks;
	struct stack *current;
	struct ftr_event *in;		/* (borrowed) batch of inner, handed out in slices */
	size_t pos;
	size_t nr;
	size_t drain_pos;
	struct stack *draining;		/* at the end */
	bool is_ended;
	struct ftr_event made[FTR_SOURCE_BATCH];
};

/* The stack of @task, with room for a batch; NULL when out of memory. */
static struct stack *stack_of(struct calls *self, struct ftr_task *task)
{
	struct stack *stack = ftr_per_task_get(&self->stacks, task);

	if (stack == NULL || ftr_stack_reserve(&stack->open) < 0)
		return NULL;
	stack->task = task;
	self->current = stack;
	return stack;
}

/* The half that an event of kind @id closes, or room for one; NULL = neither. */
static struct half *half_of(struct stack *stack, uint64_t id)
{
	for (size_t i = 0; i < FTR_EVENT_PAIRS_MAX; i++) {
		if (stack->halves[i].closed_by == id || stack->halves[i].closed_by == 0)
			return &stack->halves[i];
	}
	return NULL;
}

static void pair_open(struct stack *stack, const struct ftr_event_kind *kind, struct ftr_event *ev)
{
	struct half *half = half_of(stack, kind->closed_by);

	assert(half != NULL);
	if (kind->id == FTR_EVENT_ID_SCHED_OUT_PREEMPTED)
		ev->flags |= FTR_EVENT_PREEMPTED;
	*half = (struct half){ kind->closed_by, ev->time_ns, ev->flags & FTR_EVENT_PREEMPTED };
}

/* Join the events of pairs: sched-out and sched-in. */
static void stack_pair(struct stack *stack, struct ftr_event *ev)
{
	const struct ftr_event_kind *kind = ftr_event_kind_by_id(ev->point.id);
	struct half *half = half_of(stack, ev->point.id);

	if (kind != NULL && kind->pair != 0) {
		pair_open(stack, kind, ev);
	} else if (half != NULL && half->begin_ns != 0) {
		ev->flags |= half->flags;
		ev->point.start_ns = half->begin_ns;
		half->begin_ns = 0;
	}
}

static void stack_point(struct stack *stack, struct ftr_event *ev)
{
	if (ev->point.kind != FTR_POINT_INSTANT)
		return;
	ev->point.start_ns = 0;
	if (ev->point.id > FTR_TRACEPOINT_ID_MAX)
		stack_pair(stack, ev);
	ftr_stack_point(&stack->open, ev);
}

static void stack_other(struct stack *stack, struct ftr_event *ev)
{
	ev->depth = (uint32_t)stack->open.open_nr;
	if (ev->type == FTR_EVENT_POINT)
		stack_point(stack, ev);
}

/*
 * Calls of one task from index @i on, in registers.  Returns the index of the first event that is
 * something else, does not fit, or steps back in time.
 */
static size_t take_calls(struct calls *self, struct stack *stack, size_t i)
{
	struct ftr_task *task = stack->task;
	struct ftr_stack_frame *frames = stack->open.frames.v;
	size_t open_nr = stack->open.open_nr;
	uint64_t last_ns = stack->last_ns;

	for (; i < self->nr; i++) {
		struct ftr_event *ev = &self->in[i];

		if (__builtin_expect((ev->task != task) | (ev->type > FTR_EVENT_EXIT) |
				     (ev->time_ns < last_ns), 0))
			break;
		if (__builtin_expect(!ftr_stack_frames_call(frames, &open_nr, ev), 0))
			break;
		last_ns = ev->time_ns;
	}
	stack->open.open_nr = open_nr;
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
	else if (!ftr_stack_call(&stack->open, ev))
		return false;
	stack->last_ns = ev->time_ns;
	return true;
}

/*
 * Take the batch's events as far as they fit.  Returns the index of the first that needs repair (nr
 * = none), or -ENOMEM.
 */
static ssize_t calls_take(struct calls *self)
{
	struct stack *stack = self->current;
	size_t i = self->pos;

	self->base.is_calls_only = true;
	if (stack != NULL && ftr_stack_reserve(&stack->open) < 0)
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

static void make_exit(struct stack *stack, struct ftr_event *made)
{
	bool fits;

	ftr_stack_make(&stack->open, stack->open.open_nr - 1, FTR_EVENT_EXIT, made);
	fits = ftr_stack_call(&stack->open, made);
	assert(fits);
}

/* The EXIT of a call that a jump left: it ended when the jump, @ev, arrived. */
static void make_left_exit(struct stack *stack, const struct ftr_event *ev, struct ftr_event *made)
{
	bool fits;

	if (ev->time_ns > stack->last_ns)
		stack->last_ns = ev->time_ns;
	*made = (struct ftr_event){ .task = stack->task, .time_ns = stack->last_ns };
	ftr_stack_make(&stack->open, stack->open.open_nr - 1, FTR_EVENT_EXIT, made);
	made->flags = FTR_EVENT_LEFT;
	fits = ftr_stack_call(&stack->open, made);
	assert(fits);
}

static void make_entry(struct stack *stack, const struct ftr_func *func, struct ftr_event *made)
{
	bool fits;

	made->type = FTR_EVENT_ENTRY;
	made->depth = FTR_DEPTH_UNKNOWN;
	made->flags = FTR_EVENT_INFERRED | FTR_EVENT_NO_ENTRY;
	made->call.func = func;
	made->call.addr = func->addr;
	fits = ftr_stack_call(&stack->open, made);
	assert(fits);
}

/* How deep the stack has to be for @ev, an ENTRY or EXIT, to happen on it. */
static size_t depth_for(const struct stack *stack, const struct ftr_event *ev)
{
	size_t nr = stack->open.open_nr;

	if (ev->depth <= RECORDED_DEPTH_MAX)
		return ev->depth + (ev->type == FTR_EVENT_EXIT);
	if (ev->type == FTR_EVENT_ENTRY)
		return nr;
	for (size_t i = nr; i > 0; i--) {	/* EXIT: of the innermost call of its function */
		if (stack->open.frames.v[i].func == ev->call.func)
			return i;
	}
	return nr + 1;
}

/* Is the stack as the event needs it? */
static bool stack_fits(const struct stack *stack, const struct ftr_event *ev)
{
	return depth_for(stack, ev) == stack->open.open_nr &&
	       (ev->type == FTR_EVENT_ENTRY || ftr_stack_top(&stack->open)->func == ev->call.func);
}

/*
 * Does setjmp return again?  A longjmp is recorded without the EXITs of what it leaves; this EXIT
 * of setjmp, whose own came long before, has the time of all of them.
 */
static bool is_jump(const struct stack *stack, const struct ftr_event *ev)
{
	if (ev->type != FTR_EVENT_EXIT || ev->depth >= stack->open.open_nr ||
	    stack->open.frames.v[ev->depth + 1].func == ev->call.func)
		return false;
	return ftr_calls_is_setjmp(ev->call.func);
}

/* One inferred event that brings the stack nearer to what @ev needs. */
static void repair_step(const struct calls *self, struct stack *stack, const struct ftr_event *ev,
			struct ftr_event *made)
{
	size_t nr = stack->open.open_nr;
	size_t want = depth_for(stack, ev);
	bool is_exit = ev->type == FTR_EVENT_EXIT;

	*made = (struct ftr_event){ .task = stack->task, .time_ns = stack->last_ns };
	if (nr > want || (nr == want && is_exit))
		make_exit(stack, made);
	else
		make_entry(stack, nr + 1 == want && is_exit ? ev->call.func : self->lost, made);
}

/* Fill made[] with the ends of what a jump left; then the event at pos has done its work. */
static size_t calls_jump(struct calls *self, struct stack *stack)
{
	const struct ftr_event *ev = &self->in[self->pos];
	size_t nr;

	for (nr = 0; nr < FTR_SOURCE_BATCH && stack->open.open_nr > ev->depth; nr++)
		make_left_exit(stack, ev, &self->made[nr]);
	if (stack->open.open_nr == ev->depth) {
		self->made[nr - 1].flags |= FTR_EVENT_ARRIVED;
		self->pos++;
	}
	return nr;
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
	if (ftr_stack_reserve(&stack->open) < 0)
		return -ENOMEM;
	if (is_jump(stack, ev))
		return (ssize_t)calls_jump(self, stack);
	for (nr = 0; nr < FTR_SOURCE_BATCH && !stack_fits(stack, ev); nr++)
		repair_step(self, stack, ev, &self->made[nr]);
	return (ssize_t)nr;
}

/* The end: everything that is still open did not finish; it took until its task's last event. */
static ssize_t calls_drain(struct calls *self)
{
	size_t nr = 0;

	while (nr < FTR_SOURCE_BATCH) {
		struct stack *stack = self->draining;

		if (stack == NULL || stack->open.open_nr == 0) {
			self->draining = ftr_per_task_next(&self->stacks, &self->drain_pos);
			if (self->draining == NULL)
				break;
			continue;
		}
		nr += ftr_stack_finish(&stack->open, stack->task, stack->last_ns, &self->made[nr],
				       FTR_SOURCE_BATCH - nr);
	}
	return (ssize_t)nr;
}

static ssize_t calls_refill(struct calls *self, struct ftr_err *err)
{
	ssize_t nr = ftr_source_next(self->inner, &self->in, err);

	self->pos = 0;
	assert(nr <= FTR_SOURCE_BATCH);
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

/* Does the run begin where the task is, and end calls that are open? */
static bool run_fits(const struct stack *stack, const struct ftr_run *run)
{
	size_t nr = stack->open.open_nr;

	if (run->first_ns < stack->last_ns || run->base_depth != nr || run->end_nr > nr)
		return false;
	for (size_t i = 0; i < run->end_nr; i++) {
		if (stack->open.frames.v[nr - i].func != run->ends[i].func)
			return false;
	}
	return true;
}

/* Fill in what the run could not know. */
static void run_take(struct stack *stack, struct ftr_run *run, uint64_t threshold_ns)
{
	struct ftr_stack *open = &stack->open;

	for (size_t i = 0; i < run->end_nr; i++) {
		struct ftr_run_end *end = &run->ends[i];
		const struct ftr_stack_frame *frame = ftr_stack_top(open);

		end->start_ns = frame->start_ns;
		end->child_ns += frame->child_ns;
		end->flags = frame->flags;
		end->is_short = end->time_ns - end->start_ns < threshold_ns;
		open->open_nr--;
		if (!end->is_short)
			ftr_stack_top(open)->child_ns += end->time_ns - end->start_ns;
	}
	ftr_stack_top(open)->child_ns += run->outside_ns;
	for (size_t i = 0; i < run->open_nr; i++) {
		const struct ftr_run_sum *sum = &run->sums[run->opens[i].sum];

		open->frames.v[++open->open_nr] = (struct ftr_stack_frame){
			.func = sum->func,
			.addr = sum->addr,
			.start_ns = run->opens[i].start_ns,
			.child_ns = run->opens[i].child_ns,
		};
	}
	stack->last_ns = run->last_ns;
	run->is_taken = true;
}

static void calls_wish(struct ftr_source *source, const struct ftr_run_wish *wish)
{
	struct calls *self = (struct calls *)source;

	self->threshold_ns = wish->threshold_ns;
	ftr_source_wish(self->inner, wish);
}

static int calls_run(struct ftr_source *source, struct ftr_run **run, struct ftr_err *err)
{
	struct calls *self = (struct calls *)source;
	struct stack *stack;
	int ret;

	if (self->pos < self->nr || self->is_ended)
		return 0;
	ret = ftr_source_run(self->inner, run, err);
	if (ret <= 0)
		return ret;
	stack = stack_of(self, (*run)->task);
	if (stack == NULL ||
	    ftr_vec_reserve(&stack->open.frames, stack->open.open_nr + (*run)->open_nr + 2) < 0)
		return ftr_err_set(err, ENOMEM, "out of memory");
	if (!run_fits(stack, *run))
		return 0;
	run_take(stack, *run, self->threshold_ns);
	return 1;
}

static void calls_free(struct ftr_source *source)
{
	struct calls *self = (struct calls *)source;
	struct stack *stack;
	size_t pos = 0;

	ftr_source_free(self->inner);
	while ((stack = ftr_per_task_next(&self->stacks, &pos)) != NULL)
		ftr_stack_fini(&stack->open);
	ftr_per_task_fini(&self->stacks);
	free(self);
}

static const struct ftr_source_ops calls_ops = {
	.next = calls_next,
	.wish = calls_wish,
	.run = calls_run,
	.free = calls_free,
};

bool ftr_calls_is_setjmp(const struct ftr_func *func)
{
	static const char *const names[] = { "setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(func->name, names[i]) == 0)
			return true;
	}
	return false;
}

struct ftr_source *ftr_calls_new(struct ftr_source *inner, struct ftr_trace *trace)
{
	struct calls *self = calloc(1, sizeof(*self));

	assert(inner != NULL);
	if (self == NULL) {
		ftr_source_free(inner);
		return NULL;
	}
	self->base.ops = &calls_ops;
	self->inner = inner;
	self->trace = trace;
	self->stacks.bytes = sizeof(struct stack);
	self->lost = ftr_trace_func_by_name(trace, NULL, FTR_CALLS_LOST_NAME,
					    strlen(FTR_CALLS_LOST_NAME));
	if (self->lost == NULL) {
		calls_free(&self->base);
		return NULL;
	}
	return &self->base;
}

/* SPDX-License-Identifier: MIT */
/* FXT reader: the open calls of each task, and which of them ends next. */
#ifndef FTR_FORMAT_FXT_READ_STACK_H
#define FTR_FORMAT_FXT_READ_STACK_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/trace/task.h"

#define FXT_END_OPEN UINT64_MAX		/* no end is known */

struct ftr_func;

struct fxt_frame {
	const struct ftr_func *func;
	uint64_t addr;		/* of its call, in memory */
	uint64_t end_ns; /* its own, or of the call around it that has one: does not grow upwards */
	bool     is_open;	/* has no end of its own */
};

struct fxt_stack {
	struct ftr_task *task;
	FTR_VEC(struct fxt_frame) frames;
	uint32_t open_nr;	/* of the frames: without an end of their own */
	size_t   heap_pos;
};

/*
 * A stack's place in the heap, with what is compared: looking it up would cost more than comparing.
 */
struct fxt_heaped {
	uint64_t end_ns;	/* fxt_stack_end() */
	uint32_t task_id;
	struct fxt_stack *stack;
};

struct fxt_stacks {
	FTR_VEC(struct fxt_stack *) by_task;	/* (owned) by task id; NULL = none yet */
	FTR_VEC(struct fxt_heaped) heap;	/* by the end of the top frame, then by task id */
};

struct fxt_stack *fxt_stack_add(struct fxt_stacks *stacks,
				struct ftr_task *task); /* NULL: no memory */
static inline struct fxt_stack *fxt_stack_of(struct fxt_stacks *stacks, struct ftr_task *task)
{
	if (__builtin_expect(task->id < stacks->by_task.nr && stacks->by_task.v[task->id] != NULL,
			     1))
		return stacks->by_task.v[task->id];
	return fxt_stack_add(stacks, task);
}

void fxt_stacks_fini(struct fxt_stacks *stacks);

/* Only for push and pop: the stack's end came nearer, to the root perhaps; or went away. */
void fxt_heap_up(struct fxt_stacks *stacks, struct fxt_stack *stack);
void fxt_heap_down(struct fxt_stacks *stacks, struct fxt_stack *stack);

/* The top call ends at @end_ns. */
void fxt_stack_cut(struct fxt_stacks *stacks, struct fxt_stack *stack, uint64_t end_ns);

static inline uint64_t fxt_stack_end(const struct fxt_stack *stack)
{
	size_t nr = stack->frames.nr;

	return nr == 0 ? FXT_END_OPEN : stack->frames.v[nr - 1].end_ns;
}

/* The end that comes first, and whose it is; FXT_END_OPEN = none is known. */
static inline uint64_t fxt_stacks_next_end(const struct fxt_stacks *stacks, struct ftr_task **task)
{
	if (stacks->heap.nr == 0)
		return FXT_END_OPEN;
	*task = stacks->heap.v[0].stack->task;
	return stacks->heap.v[0].end_ns;
}

/* Push a call; an end beyond that of the call around it is cut and counted.  0 or -ENOMEM. */
static inline int fxt_stack_push(struct fxt_stacks *stacks, struct fxt_stack *stack,
				 struct fxt_frame frame, uint64_t *cut_nr)
{
	uint64_t around_ns = fxt_stack_end(stack);

	frame.is_open = frame.end_ns == FXT_END_OPEN;
	if (__builtin_expect(frame.end_ns > around_ns, 0)) {
		*cut_nr += !frame.is_open;
		frame.end_ns = around_ns;
	}
	if (__builtin_expect(ftr_vec_push(&stack->frames, frame) < 0, 0))
		return -ENOMEM;
	stack->open_nr += frame.is_open;
	if (frame.end_ns == around_ns)
		return 0;
	stacks->heap.v[stack->heap_pos].end_ns = frame.end_ns;
	if (stack->heap_pos > 0)
		fxt_heap_up(stacks, stack);
	return 0;
}

static inline void fxt_stack_pop(struct fxt_stacks *stacks, struct fxt_stack *stack)
{
	const struct fxt_frame *frame = &stack->frames.v[--stack->frames.nr];

	stack->open_nr -= frame->is_open;
	stacks->heap.v[stack->heap_pos].end_ns = fxt_stack_end(stack);
	if (stacks->heap.nr > 1)
		fxt_heap_down(stacks, stack);
}

static inline bool fxt_stack_has_open(const struct fxt_stack *stack)
{
	return stack->open_nr > 0;
}

static inline bool fxt_stack_top_is_open(const struct fxt_stack *stack)
{
	return stack->frames.nr > 0 && stack->frames.v[stack->frames.nr - 1].is_open;
}

#endif /* FTR_FORMAT_FXT_READ_STACK_H */

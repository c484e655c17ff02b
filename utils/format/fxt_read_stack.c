/* SPDX-License-Identifier: MIT */
/* FXT reader: stacks of open calls in a heap. */
#include "utils/format/fxt_read_stack.h"

#include <stdlib.h>

#include "utils/trace/task.h"

static inline bool stack_is_before(const struct fxt_stack *a, const struct fxt_stack *b)
{
	uint64_t a_end = fxt_stack_end(a), b_end = fxt_stack_end(b);

	return a_end < b_end || (a_end == b_end && a->task->id < b->task->id);
}

static inline void heap_put(struct fxt_stacks *stacks, size_t pos, struct fxt_stack *stack)
{
	stacks->heap.v[pos] = stack;
	stack->heap_pos = pos;
}

static void heap_up(struct fxt_stacks *stacks, struct fxt_stack *stack)
{
	size_t pos = stack->heap_pos;

	while (pos > 0 && stack_is_before(stack, stacks->heap.v[(pos - 1) / 2])) {
		heap_put(stacks, pos, stacks->heap.v[(pos - 1) / 2]);
		pos = (pos - 1) / 2;
	}
	heap_put(stacks, pos, stack);
}

static void heap_down(struct fxt_stacks *stacks, struct fxt_stack *stack)
{
	size_t pos = stack->heap_pos;

	for (;;) {
		size_t child = 2 * pos + 1;

		if (child >= stacks->heap.nr)
			break;
		if (child + 1 < stacks->heap.nr &&
		    stack_is_before(stacks->heap.v[child + 1], stacks->heap.v[child]))
			child++;
		if (!stack_is_before(stacks->heap.v[child], stack))
			break;
		heap_put(stacks, pos, stacks->heap.v[child]);
		pos = child;
	}
	heap_put(stacks, pos, stack);
}

struct fxt_stack *fxt_stack_add(struct fxt_stacks *stacks, struct ftr_task *task)
{
	struct fxt_stack *stack;

	while (stacks->by_task.nr <= task->id) {
		if (ftr_vec_push(&stacks->by_task, NULL) < 0)
			return NULL;
	}
	stack = calloc(1, sizeof(*stack));
	if (stack == NULL || ftr_vec_reserve(&stacks->heap, stacks->heap.nr + 1) < 0) {
		free(stack);
		return NULL;
	}
	stack->task = task;
	stack->heap_pos = stacks->heap.nr++;
	stacks->by_task.v[task->id] = stack;
	heap_up(stacks, stack);
	return stack;
}

void fxt_stacks_fini(struct fxt_stacks *stacks)
{
	for (size_t i = 0; i < stacks->by_task.nr; i++) {
		if (stacks->by_task.v[i] != NULL)
			ftr_vec_fini(&stacks->by_task.v[i]->frames);
		free(stacks->by_task.v[i]);
	}
	ftr_vec_fini(&stacks->by_task);
	ftr_vec_fini(&stacks->heap);
}

int fxt_stack_push(struct fxt_stacks *stacks, struct fxt_stack *stack, const struct ftr_func *func,
		   uint64_t end_ns, uint64_t *cut_nr)
{
	uint64_t around_ns = fxt_stack_end(stack);
	bool is_open = end_ns == FXT_END_OPEN;

	if (end_ns > around_ns) {
		*cut_nr += !is_open;
		end_ns = around_ns;
	}
	if (ftr_vec_push(&stack->frames, ((struct fxt_frame){ func, end_ns, is_open })) < 0)
		return -ENOMEM;
	stack->open_nr += is_open;
	if (end_ns != around_ns)
		heap_up(stacks, stack);
	return 0;
}

void fxt_stack_pop(struct fxt_stacks *stacks, struct fxt_stack *stack)
{
	const struct fxt_frame *frame = &stack->frames.v[--stack->frames.nr];

	stack->open_nr -= frame->is_open;
	if (fxt_stack_end(stack) != frame->end_ns)
		heap_down(stacks, stack);
}

void fxt_stack_cut(struct fxt_stacks *stacks, struct fxt_stack *stack, uint64_t end_ns)
{
	stack->frames.v[stack->frames.nr - 1].end_ns = end_ns;
	heap_up(stacks, stack);
}

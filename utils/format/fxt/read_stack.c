/* SPDX-License-Identifier: MIT */
/* FXT reader: stacks of open calls in a heap. */
#include "utils/format/fxt/read_stack.h"

#include <stdlib.h>

#include "utils/trace/task.h"

static inline bool is_before(const struct fxt_heaped *a, const struct fxt_heaped *b)
{
	return a->end_ns < b->end_ns || (a->end_ns == b->end_ns && a->task_id < b->task_id);
}

static inline void heap_put(struct fxt_stacks *stacks, size_t pos, struct fxt_heaped heaped)
{
	stacks->heap.v[pos] = heaped;
	heaped.stack->heap_pos = pos;
}

void fxt_heap_up(struct fxt_stacks *stacks, struct fxt_stack *stack)
{
	struct fxt_heaped *heap = stacks->heap.v;
	size_t pos = stack->heap_pos;
	struct fxt_heaped moved = heap[pos];

	while (pos > 0 && is_before(&moved, &heap[(pos - 1) / 2])) {
		heap_put(stacks, pos, heap[(pos - 1) / 2]);
		pos = (pos - 1) / 2;
	}
	heap_put(stacks, pos, moved);
}

void fxt_heap_down(struct fxt_stacks *stacks, struct fxt_stack *stack)
{
	struct fxt_heaped *heap = stacks->heap.v;
	size_t pos = stack->heap_pos, nr = stacks->heap.nr;
	struct fxt_heaped moved = heap[pos];

	for (;;) {
		size_t child = 2 * pos + 1;

		if (child >= nr)
			break;
		if (child + 1 < nr && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &moved))
			break;
		heap_put(stacks, pos, heap[child]);
		pos = child;
	}
	heap_put(stacks, pos, moved);
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
	stacks->heap.v[stack->heap_pos] = (struct fxt_heaped){ FXT_END_OPEN, task->id, stack };
	stacks->by_task.v[task->id] = stack;
	fxt_heap_up(stacks, stack);
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

void fxt_stack_cut(struct fxt_stacks *stacks, struct fxt_stack *stack, uint64_t end_ns)
{
	stack->frames.v[stack->frames.nr - 1].end_ns = end_ns;
	stacks->heap.v[stack->heap_pos].end_ns = end_ns;
	fxt_heap_up(stacks, stack);
}

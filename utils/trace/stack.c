/* SPDX-License-Identifier: MIT */
/* The open calls of a task: room for them, and the events inferred from them. */
#include "utils/trace/stack.h"

int ftr_stack_reserve_slow(struct ftr_stack *stack)
{
	bool is_new = stack->frames.v == NULL;

	if (ftr_vec_reserve(&stack->frames, stack->open_nr + FTR_SOURCE_BATCH + 2) < 0)
		return -ENOMEM;
	if (is_new)
		stack->frames.v[0] = (struct ftr_stack_frame){ 0 };
	return 0;
}

void ftr_stack_make(const struct ftr_stack *stack, size_t depth, enum ftr_event_type type,
		    struct ftr_event *made)
{
	const struct ftr_stack_frame *frame = &stack->frames.v[depth + 1];

	assert(depth < stack->open_nr);
	assert(type <= FTR_EVENT_EXIT);
	made->type = (uint8_t)type;
	made->depth = (uint32_t)depth;
	made->flags = FTR_EVENT_INFERRED;
	made->verdict = frame->verdict;
	made->call.func = frame->func;
	made->call.addr = frame->addr;
}

size_t ftr_stack_finish(struct ftr_stack *stack, struct ftr_task *task, uint64_t time_ns,
			struct ftr_event *made, size_t room)
{
	size_t nr;

	for (nr = 0; nr < room && stack->open_nr > 0; nr++) {
		made[nr] = (struct ftr_event){ .task = task, .time_ns = time_ns };
		ftr_stack_make(stack, stack->open_nr - 1, FTR_EVENT_EXIT, &made[nr]);
		made[nr].flags |= FTR_EVENT_UNFINISHED;
		ftr_stack_call(stack, &made[nr]);
	}
	return nr;
}

void ftr_stack_fini(struct ftr_stack *stack)
{
	ftr_vec_fini(&stack->frames);
	stack->open_nr = 0;
}

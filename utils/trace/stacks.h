/* SPDX-License-Identifier: MIT */
/*
 * The stacks that system calls were made on, by number (ftr_syscall.stack), and those of calls that
 * were recorded with theirs (events ftr:backtrace).
 */
#ifndef FTR_TRACE_STACKS_H
#define FTR_TRACE_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/vec.h"

struct ftr_event;
struct ftr_func;
struct ftr_source;

struct ftr_stack_place {
	size_t first, nr;		/* in ftr_stacks.funcs */
};

struct ftr_stacks {
	FTR_VEC(struct ftr_stack_place) all;	/* by number - 1 */
	FTR_VEC(const struct ftr_func *) funcs;	/* of each stack, the innermost first */
};

/* The functions of the stack @number, the innermost first.  How many; 0 = it is not known. */
static inline size_t ftr_stack_funcs(const struct ftr_stacks *stacks, uint32_t number,
				     const struct ftr_func *const **funcs)
{
	const struct ftr_stack_place *stack;

	if (stacks == NULL || number == 0 || number > stacks->all.nr)
		return 0;
	stack = &stacks->all.v[number - 1];
	*funcs = &stacks->funcs.v[stack->first];
	return stack->nr;
}

/* The number that @ev, an event ftr:backtrace, has of its task's next call; 0 = it is damaged. */
uint32_t ftr_stack_noted(const struct ftr_event *ev);

/*
 * trace/stack_calls.c: calls are made in calls of the functions that were on the stack, which begin
 * and end with them: system calls (@stacks, nullable), where no recorded call is open, and calls
 * that were recorded with theirs (@call_stacks, nullable), up to the recorded call that they are
 * in.  Takes @inner over.  NULL = out of memory.
 */
struct ftr_source *ftr_stack_calls_new(struct ftr_source *inner, const struct ftr_stacks *stacks,
				       const struct ftr_stacks *call_stacks);

#endif /* FTR_TRACE_STACKS_H */

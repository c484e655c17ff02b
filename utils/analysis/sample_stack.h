/* SPDX-License-Identifier: MIT */
/*
 * The whole stack of a CPU sample: the task's open calls, as they were recorded, and within the
 * innermost of them the functions that are not traced, as the kernel found them by frame pointers.
 * Where nothing is traced it is all the kernel's.
 */
#ifndef FTR_ANALYSIS_SAMPLE_STACK_H
#define FTR_ANALYSIS_SAMPLE_STACK_H

#include <stddef.h>

#include "utils/base/vec.h"
#include "utils/trace/per_task.h"

struct ftr_event;
struct ftr_func;
struct ftr_trace;

struct ftr_sample_stacks {
	struct ftr_trace *trace;		/* (borrowed) its functions are found as needed */
	struct ftr_per_task tasks;		/* open calls */
	/* of the last sample, the outermost first */
	FTR_VEC(const struct ftr_func *) frames;
};

void ftr_sample_stacks_init(struct ftr_sample_stacks *stacks, const struct ftr_trace *trace);
void ftr_sample_stacks_fini(struct ftr_sample_stacks *stacks);
/*
 * Take the next event, of a stream that calls has made well-formed.  1: it is a sample, whose stack
 * is in stacks->frames until the next; 0: it is none; -ENOMEM.
 */
int ftr_sample_stacks_take(struct ftr_sample_stacks *stacks, const struct ftr_event *ev);

#endif /* FTR_ANALYSIS_SAMPLE_STACK_H */

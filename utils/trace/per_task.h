/* SPDX-License-Identifier: MIT */
/* State that a source keeps per task, in a stream of one task or of several. */
#ifndef FTR_TRACE_PER_TASK_H
#define FTR_TRACE_PER_TASK_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/hashmap.h"
#include "utils/base/vec.h"
#include "utils/trace/task.h"

#define FTR_PER_TASK_CACHE 8u

struct ftr_per_task {
	size_t bytes;			/* of one state */
	struct ftr_hashmap by_id;
	FTR_VEC(void *) states;		/* (owned) */
	struct ftr_per_task_cached {
		const struct ftr_task *task;
		void *state;
	} cache[FTR_PER_TASK_CACHE];	/* by id: tasks that take turns are found at once */
};

void *ftr_per_task_get_slow(struct ftr_per_task *states, const struct ftr_task *task);

/* The state of @task, zeroed at first; NULL when out of memory. */
static inline void *ftr_per_task_get(struct ftr_per_task *states, const struct ftr_task *task)
{
	const struct ftr_per_task_cached *cached = &states->cache[task->id % FTR_PER_TASK_CACHE];

	if (__builtin_expect(cached->task == task, 1))
		return cached->state;
	return ftr_per_task_get_slow(states, task);
}

/* Iterate, in the order in which states were made: *pos starts at 0; NULL at the end. */
void *ftr_per_task_next(const struct ftr_per_task *states, size_t *pos);
/* Release the states themselves; what they own is the caller's. */
void ftr_per_task_fini(struct ftr_per_task *states);

#endif /* FTR_TRACE_PER_TASK_H */

/* SPDX-License-Identifier: MIT */
/* State per task, by the task's dense id. */
#include "utils/trace/per_task.h"

#include <errno.h>
#include <stdlib.h>

void *ftr_per_task_get_slow(struct ftr_per_task *states, const struct ftr_task *task)
{
	while (states->by_id.nr <= task->id) {
		if (ftr_vec_push(&states->by_id, NULL) < 0)
			return NULL;
	}
	if (states->by_id.v[task->id] == NULL)
		states->by_id.v[task->id] = calloc(1, states->bytes);
	if (states->by_id.v[task->id] == NULL)
		return NULL;
	states->last = task;
	states->last_state = states->by_id.v[task->id];
	return states->last_state;
}

void *ftr_per_task_next(const struct ftr_per_task *states, size_t *pos)
{
	while (*pos < states->by_id.nr) {
		void *state = states->by_id.v[(*pos)++];

		if (state != NULL)
			return state;
	}
	return NULL;
}

void ftr_per_task_fini(struct ftr_per_task *states)
{
	for (size_t i = 0; i < states->by_id.nr; i++)
		free(states->by_id.v[i]);
	ftr_vec_fini(&states->by_id);
	states->last = NULL;
}

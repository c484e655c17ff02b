/* SPDX-License-Identifier: MIT */
/* State per task: by the task's id, for a source of one task may be one of thousands. */
#include "utils/trace/per_task.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void *state_new(struct ftr_per_task *states, const struct ftr_task *task)
{
	void *state = calloc(1, states->bytes);

	assert(states->bytes > 0);
	if (state == NULL)
		return NULL;
	if (ftr_vec_push(&states->states, state) < 0) {
		free(state);
		return NULL;
	}
	return ftr_hashmap_set(&states->by_id, task->id, state) < 0 ? NULL : state;
}

void *ftr_per_task_get_slow(struct ftr_per_task *states, const struct ftr_task *task)
{
	void *state = ftr_hashmap_find(&states->by_id, task->id);

	if (state == NULL)
		state = state_new(states, task);
	if (state == NULL)
		return NULL;
	states->cache[task->id % FTR_PER_TASK_CACHE] = (struct ftr_per_task_cached){ task, state };
	return state;
}

void *ftr_per_task_next(const struct ftr_per_task *states, size_t *pos)
{
	return *pos < states->states.nr ? states->states.v[(*pos)++] : NULL;
}

void ftr_per_task_fini(struct ftr_per_task *states)
{
	for (size_t i = 0; i < states->states.nr; i++)
		free(states->states.v[i]);
	ftr_vec_fini(&states->states);
	ftr_hashmap_fini(&states->by_id);
	memset(states->cache, 0, sizeof(states->cache));
}

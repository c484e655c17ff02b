/* SPDX-License-Identifier: MIT */
/* Samples between the calls of their tasks: see sample_stack.h. */
#include "utils/analysis/sample_stack.h"

#include <errno.h>

#include "utils/trace/event_kind.h"
#include "utils/trace/sample.h"
#include "utils/trace/trace.h"

struct calls {
	const struct ftr_func **v;	/* (owned) the outermost first */
	size_t nr, cap;
};

void ftr_sample_stacks_init(struct ftr_sample_stacks *stacks, const struct ftr_trace *trace)
{
	*stacks = (struct ftr_sample_stacks){
		.trace = (struct ftr_trace *)trace,
		.tasks = { .bytes = sizeof(struct calls) },
	};
}

void ftr_sample_stacks_fini(struct ftr_sample_stacks *stacks)
{
	struct calls *calls;
	size_t pos = 0;

	while ((calls = ftr_per_task_next(&stacks->tasks, &pos)) != NULL)
		ftr_vec_fini(calls);
	ftr_per_task_fini(&stacks->tasks);
	ftr_vec_fini(&stacks->frames);
}

/*
 * How many of the sample's frames are within the innermost open call @top: those up to its own.
 * Where that is not among them frame pointers led astray, and only the first is certain, unless
 * they ended at a traced call's return.
 */
static unsigned frames_inside(const struct ftr_sample *sample, const struct ftr_func *top)
{
	for (unsigned i = 0; i < sample->nr; i++) {
		if (sample->frames[i]->name_id == top->name_id)
			return i;
	}
	return sample->is_to_call || sample->nr == 0 ? sample->nr : 1;
}

static int stack_make(struct ftr_sample_stacks *stacks, const struct ftr_event *ev,
		      const struct calls *calls)
{
	struct ftr_sample sample;
	unsigned inside;
	int ret = ftr_sample_read(&sample, ev, stacks->trace);

	stacks->frames.nr = 0;
	for (size_t i = 0; ret == 0 && i < calls->nr; i++)
		ret = ftr_vec_push(&stacks->frames, calls->v[i]);
	inside = calls->nr == 0 ? sample.nr : frames_inside(&sample, calls->v[calls->nr - 1]);
	while (ret == 0 && inside > 0)
		ret = ftr_vec_push(&stacks->frames, sample.frames[--inside]);
	return ret < 0 ? -ENOMEM : 1;
}

int ftr_sample_stacks_take(struct ftr_sample_stacks *stacks, const struct ftr_event *ev)
{
	bool is_sample = ev->type == FTR_EVENT_POINT &&
			 ftr_event_kind_id(ev) == FTR_EVENT_ID_SAMPLE_CPU;
	struct calls *calls;

	if (ev->type > FTR_EVENT_EXIT && !is_sample)
		return 0;
	calls = ftr_per_task_get(&stacks->tasks, ev->task);
	if (calls == NULL)
		return -ENOMEM;
	if (is_sample)
		return stack_make(stacks, ev, calls);
	if (ev->type == FTR_EVENT_ENTRY)
		return ftr_vec_push(calls, ev->call.func) < 0 ? -ENOMEM : 0;
	calls->nr -= calls->nr > 0;
	return 0;
}

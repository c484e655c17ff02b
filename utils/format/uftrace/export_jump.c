/* SPDX-License-Identifier: MIT */
/*
 * Any trace as a uftrace directory: jumps.  Of what a longjmp leaves, the directory has no EXITs
 * but one, of the setjmp that returns again; by that, readers find where the program goes on.
 */
#include <errno.h>

#include "utils/format/uftrace/export.h"
#include "utils/trace/calls.h"

int ufx_jump_entry(struct ufx *x, struct ufx_task *task, uint32_t func)
{
	size_t level = task->open.nr;		/* of its caller's calls */

	if (ftr_vec_reach(&task->setjmps, level + 1) < 0)
		return ufx_no_memory(x);
	if (ftr_calls_is_setjmp(x->funcs.v[func].func))
		task->setjmps.v[level] = func + 1;
	task->setjmps.v[level + 1] = 0;
	return 0;
}

int ufx_jump_flush(struct ufx *x, struct ufx_task *task)
{
	size_t nr = task->left.nr;
	int ret = 0;

	task->left.nr = 0;
	for (size_t i = 0; ret == 0 && i < nr; i++)
		ret = ufx_put(x, task, &task->left.v[i], NULL, 0);
	return ret;
}

int ufx_jump_exit(struct ufx *x, struct ufx_task *task, const struct ftr_event *ev,
		  const struct ftr_record *record)
{
	struct ftr_record again = *record;
	uint32_t setjmp = 0;

	if (ftr_vec_push(&task->left, *record) < 0)
		return ufx_no_memory(x);
	if (!(ev->flags & FTR_EVENT_ARRIVED))
		return 0;
	if (task->open.nr < task->setjmps.nr)
		setjmp = task->setjmps.v[task->open.nr];
	if (setjmp == 0)			/* it is left out: the EXITs say the same */
		return ufx_jump_flush(x, task);
	task->left.nr = 0;
	again.word = ftr_record_word(FTR_RECORD_EXIT, ftr_record_depth(record->word),
				     ufx_call_addr(x, ev, setjmp - 1));
	return ufx_put(x, task, &again, NULL, 0);
}

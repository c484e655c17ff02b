/* SPDX-License-Identifier: MIT */
/* The calls that have not returned when a trace ends, listed after its lines. */
#include "utils/view/unfinished.h"

#include "utils/trace/trace.h"

#include <errno.h>
#include <stdlib.h>

int unfinished_add(struct unfinished *list, const struct ftr_event *ev)
{
	struct unfinished_call call = { ev->task->id, ev->depth, ev->call.func->name };

	return ftr_vec_push(&list->calls, call);
}

/* In the words of uftrace: scripts look for them. */
static void print_task(const struct unfinished *list, const struct ftr_task *task,
		       struct ftr_ostream *out)
{
	bool is_first = true;

	for (size_t i = 0; i < list->calls.nr; i++) {
		const struct unfinished_call *call = &list->calls.v[i];

		if (call->task_id != task->id)
			continue;
		if (is_first)
			ftr_ostream_printf(out, "task: %d\n", task->tid);
		is_first = false;
		ftr_ostream_printf(out, "[%u] %s\n", call->depth, call->name);
	}
	if (!is_first)
		ftr_ostream_putc(out, '\n');
}

void unfinished_print(const struct unfinished *list, const struct ftr_trace *trace,
		      struct ftr_ostream *out)
{
	if (list->calls.nr == 0)
		return;
	ftr_ostream_puts(out, "\nuftrace stopped tracing with remaining functions"
			      "\n================================================\n");
	for (size_t id = 0; id < trace->tasks.nr; id++)
		print_task(list, trace->tasks.v[id], out);
}

void unfinished_fini(struct unfinished *list)
{
	ftr_vec_fini(&list->calls);
}

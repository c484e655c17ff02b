/* SPDX-License-Identifier: MIT */
/*
 * FXT reader: blob ftr.tasks, which programs ran when and who started whom: lines as in task.txt.
 */
#include <errno.h>

#include "utils/format/fxt/read.h"
#include "utils/format/uftrace/read.h"
#include "utils/format/uftrace/task_line.h"

static int session_line(struct ftr_trace *trace, const struct ftr_task_line *line)
{
	struct ftr_session *session = ftr_trace_session_new(trace, line->sid, line->pid,
							    line->time_ns);

	if (session == NULL)
		return -ENOMEM;
	if (line->name.s != NULL)
		session->exename = ftr_arena_strndup(&trace->arena, line->name.s, line->name.len);
	return session->exename == NULL ? -ENOMEM : 0;
}

/* Only of tasks that the file's own records name. */
static void task_line(struct ftr_trace *trace, const struct ftr_task_line *line)
{
	bool is_fork = line->kind == FTR_TASK_LINE_FORK;
	struct ftr_task *task = ftr_trace_task_find(trace, is_fork ? line->pid : line->tid);

	if (task == NULL || task->pid != line->pid)
		return;
	task->start_ns = line->time_ns;
	if (is_fork) {
		task->parent = ftr_trace_task_find(trace, line->ppid);
		task->is_forked = task->parent != NULL;
	}
}

int fxt_tasks_load(struct fxt_reader *r)
{
	struct ftr_slice text,
		rest = ftr_slice_make(ftr_strbuf_str(&r->task_lines), r->task_lines.len);
	int ret = 0;

	while (ret == 0 && ftr_slice_split(&rest, '\n', &text)) {
		struct ftr_task_line line;

		if (text.len == 0)
			continue;
		if (ftr_task_line_parse(text, &line) < 0)
			r->damaged_nr++;
		else if (line.kind == FTR_TASK_LINE_SESSION)
			ret = session_line(r->trace, &line);
		else if (line.kind != FTR_TASK_LINE_DLOPEN)
			task_line(r->trace, &line);
	}
	if (ret == 0 && r->trace->sessions.nr > 0)
		ret = uft_tasks_link(r->trace, false);
	return ret;
}

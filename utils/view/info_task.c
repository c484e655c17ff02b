/* SPDX-License-Identifier: MIT */
/* info --task: the tasks, where they come from, and how much data they have. */
#include "utils/base/bits.h"
#include "utils/view/info.h"

#include "utils/trace/trace.h"

/* F: a process that was forked (or the first), S: it has a session of its own. */
static void put_task(const struct ftr_task *task, struct ftr_ostream *out)
{
	bool is_process = ftr_task_is_main(task);
	bool has_session = is_process && task->session_nr > 0 &&
			   task->sessions[task->session_nr - 1]->pid == task->pid;
	uint64_t start_ns = task->start_ns;

	/* Its program was there before its first TASK line. */
	if (has_session && !task->is_forked && task->sessions[0]->start_ns != 0)
		start_ns = task->sessions[0]->start_ns;
	ftr_ostream_printf(out, "%14llu.%09llu  %c%c     [%7d]  %-16s  %5llu.%03llu MB\n",
			   (unsigned long long)(start_ns / 1000000000),
			   (unsigned long long)(start_ns % 1000000000), is_process ? 'F' : ' ',
			   has_session ? 'S' : ' ', task->tid, task->name,
			   (unsigned long long)(task->data_bytes / FTR_MIB(1)),
			   (unsigned long long)(task->data_bytes % FTR_MIB(1) * 1000 /
						FTR_MIB(1)));
}

void ftr_info_print_tasks(const struct ftr_trace *trace, struct ftr_ostream *out)
{
	ftr_ostream_puts(
		out, "#         TIMESTAMP       FLAGS     TID     TASK              DATA SIZE\n");
	for (size_t i = 0; i < trace->tasks.nr; i++)
		put_task(trace->tasks.v[i], out);
}

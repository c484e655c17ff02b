/* SPDX-License-Identifier: MIT */
/* The machine, program, recording and tasks of a trace, as uftrace info prints them. */
#include "utils/view/info.h"

#include "utils/base/bits.h"
#include "utils/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define STATUS_FINISHED 65536	/* a finish trigger ended the recording */

static void put_row(struct ftr_ostream *out, const char *name, const char *value,
		    const char *after)
{
	size_t len;

	if (value == NULL)
		return;
	len = strlen(value);
	while (len > 0 && value[len - 1] == ' ')
		len--;
	ftr_ostream_printf(out, "# %-20s: %.*s%s\n", name, (int)len, value, after);
}

static void put_heading(struct ftr_ostream *out, const char *text)
{
	ftr_ostream_printf(out, "# %s\n# ", text);
	ftr_ostream_pad(out, '=', strlen(text));
	ftr_ostream_putc(out, '\n');
}

/* "perf_event_paranoid=2 kptr_restrict=0": a row each. */
static void put_sysctl(struct ftr_ostream *out, const char *text)
{
	while (text != NULL && *text != '\0') {
		size_t len = strcspn(text, " ");
		size_t name_len = strcspn(text, "= ");
		char name[40], value[80];

		snprintf(name, sizeof(name), "%.*s", (int)name_len, text);
		snprintf(value, sizeof(value), "%.*s",
			 name_len < len ? (int)(len - name_len - 1) : 0, text + name_len + 1);
		put_row(out, name, value, "");
		text += len;
		text += strspn(text, " ");
	}
}

static void put_machine(const struct ftr_info *info, struct ftr_ostream *out)
{
	char cpus[64];

	put_row(out, "cpu info", info->cpu_desc, "");
	if (info->info_mask & FTR_INFO_CPUINFO) {
		snprintf(cpus, sizeof(cpus), "%u / %u (online / possible)", info->cpus_online,
			 info->cpus_possible);
		put_row(out, "number of cpus", cpus, "");
	}
	put_row(out, "memory info", info->meminfo, "");
	put_row(out, "system load", info->loadinfo, " (1 / 5 / 15 min)");
	put_row(out, "kernel version", info->os_kernel, "");
	put_row(out, "hostname", info->os_hostname, "");
	put_row(out, "distro", info->os_distro, "");
	put_sysctl(out, info->sysctl);
}

static void put_system(const struct ftr_info *info, struct ftr_ostream *out)
{
	put_heading(out, "system information");
	put_row(out, "program version", info->recorder_version, "");
	put_row(out, "recorded on", info->record_date, "");
	put_row(out, "cmdline", info->cmdline, "");
	put_machine(info, out);
}

void ftr_info_print_machine(const struct ftr_info *info, struct ftr_ostream *out)
{
	put_heading(out, "system information");
	put_machine(info, out);
}

static void put_task_list(const struct ftr_trace *trace, struct ftr_ostream *out)
{
	const struct ftr_info *info = &trace->info;

	ftr_ostream_printf(out, "# %-20s: %u\n# %-20s: ", "number of tasks", info->task_nr,
			   "task list");
	for (uint32_t i = 0; i < info->task_nr; i++) {
		const struct ftr_task *task = ftr_trace_task_find(trace, info->tids[i]);

		ftr_ostream_printf(out, "%s%d", i > 0 ? ", " : "", info->tids[i]);
		if (task != NULL && *task->name != '\0')
			ftr_ostream_printf(out, "(%s)", task->name);
	}
	ftr_ostream_putc(out, '\n');
}

static void put_exit_status(int32_t status, struct ftr_ostream *out)
{
	char text[80];

	if (status == STATUS_FINISHED)
		snprintf(text, sizeof(text), "terminated by finish trigger");
	else if (WIFEXITED(status))
		snprintf(text, sizeof(text), "exited with code: %d", WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "terminated by signal: %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(text, sizeof(text), "unknown exit status: %d", status);
	put_row(out, "exit status", text, "");
}

static void put_usage(const struct ftr_info *info, struct ftr_ostream *out)
{
	char cpu[80];

	if (info->systime != NULL && info->usrtime != NULL) {
		snprintf(cpu, sizeof(cpu), "%.3f / %.3f sec (sys / user)",
			 strtod(info->systime, NULL), strtod(info->usrtime, NULL));
		put_row(out, "cpu time", cpu, "");
	}
	put_row(out, "context switch", info->ctxsw, "");
	put_row(out, "max rss", info->maxrss, " KB");
	put_row(out, "page fault", info->pagefault, "");
	put_row(out, "disk iops", info->iops, "");
}

static void put_overhead(const struct ftr_info *info, struct ftr_ostream *out)
{
	char text[80];

	if (!(info->info_mask & FTR_INFO_OVERHEAD))
		return;
	snprintf(text, sizeof(text), "%u ns of each call, %u ns of its caller (at most)",
		 info->overhead_call_ns, info->overhead_caller_ns);
	put_row(out, "tracing takes", text, "");
}

static void put_process(const struct ftr_trace *trace, struct ftr_ostream *out)
{
	const struct ftr_info *info = &trace->info;

	put_heading(out, "process information");
	if (info->info_mask & FTR_INFO_TASKINFO)
		put_task_list(trace, out);
	put_row(out, "exe image", info->exename, "");
	put_row(out, "build id", info->build_id, "");
	put_row(out, "argspec", info->argspec, "");
	put_row(out, "retspec", info->retspec, "");
	if (info->auto_args)
		put_row(out, "auto-args", "true", "");
	put_row(out, "pattern", info->pattern_type, "");
	if (info->info_mask & FTR_INFO_EXIT_STATUS)
		put_exit_status(info->exit_status, out);
	put_row(out, "elapsed time", info->elapsed_time, "");
	put_row(out, "events", info->events, "");
	put_overhead(info, out);
	put_usage(info, out);
}

static void put_note(const char *note, struct ftr_ostream *out)
{
	size_t len = strlen(note);

	ftr_ostream_puts(out, "#\n");
	put_heading(out, "extra note information");
	ftr_ostream_write(out, note, len);
	if (len > 0 && note[len - 1] != '\n')
		ftr_ostream_putc(out, '\n');
}

void ftr_info_print(const struct ftr_trace *trace, struct ftr_ostream *out)
{
	put_system(&trace->info, out);
	ftr_ostream_puts(out, "#\n");
	put_process(trace, out);
	if (trace->info.note != NULL)
		put_note(trace->info.note, out);
	ftr_ostream_putc(out, '\n');
}

/* ---- info --task: where tasks come from, and how much data they have ---- */

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

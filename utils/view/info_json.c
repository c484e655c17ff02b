/* SPDX-License-Identifier: MIT */
/* info --json: one object for the trace, and one for each task. */
#include "utils/view/info.h"

#include <string.h>

#include "utils/base/bits.h"
#include "utils/trace/trace.h"
#include "utils/view/json.h"

/* What is not known is left out; lists of words end in a blank. */
static void put_text(struct ftr_json *line, const char *key, const char *text)
{
	size_t len;

	if (text == NULL)
		return;
	len = strlen(text);
	while (len > 0 && text[len - 1] == ' ')
		len--;
	ftr_json_string(line, key, text, len);
}

static void put_trace(const struct ftr_trace *trace, struct ftr_ostream *out)
{
	const struct ftr_info *info = &trace->info;
	const struct {
		const char *key, *text;
	} texts[] = {
		{ "path", trace->path },	       { "format", trace->format },
		{ "recorder", info->recorder_version }, { "recorded_on", info->record_date },
		{ "cmdline", info->cmdline },	       { "exe", info->exename },
		{ "build_id", info->build_id },	       { "elapsed", info->elapsed_time },
		{ "cpu", info->cpu_desc },	       { "memory", info->meminfo },
		{ "load", info->loadinfo },	       { "kernel", info->os_kernel },
		{ "host", info->os_hostname },	       { "distro", info->os_distro },
		{ "sys_time_s", info->systime },       { "user_time_s", info->usrtime },
		{ "argspec", info->argspec },	       { "retspec", info->retspec },
		{ "pattern", info->pattern_type },     { "note", info->note },
	};
	struct ftr_json line;

	ftr_json_begin(&line, out, "trace");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		put_text(&line, texts[i].key, texts[i].text);
	if (info->info_mask & FTR_INFO_CPUINFO)
		ftr_json_u64(&line, "cpus_online", info->cpus_online);
	if (info->info_mask & FTR_INFO_EXIT_STATUS)
		ftr_json_u64(&line, "wait_status", (uint64_t)(uint32_t)info->exit_status);
	if (info->info_mask & FTR_INFO_OVERHEAD)
		ftr_json_u64(&line, "overhead_call_ns", info->overhead_call_ns);
	ftr_json_u64(&line, "tasks", trace->tasks.nr);
	ftr_json_end(&line);
}

static void put_task(const struct ftr_task *task, struct ftr_ostream *out)
{
	struct ftr_json line;

	ftr_json_begin(&line, out, "task");
	ftr_json_u64(&line, "tid", (uint64_t)(uint32_t)task->tid);
	ftr_json_u64(&line, "pid", (uint64_t)(uint32_t)task->pid);
	put_text(&line, "name", task->name);
	ftr_json_u64(&line, "start_ns", task->start_ns);
	ftr_json_u64(&line, "bytes", task->data_bytes);
	ftr_json_end(&line);
}

void ftr_info_print_json(const struct ftr_trace *trace, struct ftr_ostream *out)
{
	put_trace(trace, out);
	for (size_t i = 0; i < trace->tasks.nr; i++)
		put_task(trace->tasks.v[i], out);
}

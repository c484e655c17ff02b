/* SPDX-License-Identifier: MIT */
/* Reading a uftrace data directory, as uftrace and ftr record them: doc/ftr-data.5. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/bytes.h"
#include "utils/base/text.h"
#include "utils/format/uftrace/stacks.h"
#include "utils/format/uftrace/write_syscall.h"
#include "utils/format/format.h"
#include "utils/format/uftrace/pack_file.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/format/uftrace/read.h"
#include "utils/proto/record.h"
#include "utils/trace/merge.h"

struct uft_task *uft_task_get(struct uft_reader *reader, int32_t pid, int32_t tid)
{
	struct uft_task *task = ftr_hashmap_find(&reader->task_by_tid, (uint32_t)tid);

	if (task != NULL)
		return task;
	task = calloc(1, sizeof(*task));
	if (task == NULL)
		return NULL;
	if (ftr_vec_push(&reader->tasks, task) < 0) {
		free(task);
		return NULL;
	}
	task->task = ftr_trace_task_get(reader->trace, pid, tid);
	if (task->task == NULL || ftr_hashmap_set(&reader->task_by_tid, (uint32_t)tid, task) < 0)
		return NULL;
	return task;
}

static void reader_free(void *arg)
{
	struct uft_reader *reader = arg;

	uft_ahead_free(reader->ahead);
	uft_live_free(reader->live);
	for (size_t i = 0; i < reader->tasks.nr; i++) {
		struct uft_task *task = reader->tasks.v[i];

		if (task->is_open)
			ftr_istream_close(&task->in);
		if (task->is_aside_open)
			ftr_istream_close(&task->aside);
		uft_packed_close(task->packed);
		uft_packed_close(task->aside_packed);
		ftr_vec_fini(&task->side);
		ftr_vec_fini(&task->side_more);
		ftr_vec_fini(&task->children);
		ftr_vec_fini(&task->inherited);
		ftr_ftrace_task_fini(&task->kernel);
		free(task);
	}
	uft_kernel_free(reader);
	uft_summary_free(reader);
	uft_specs_free(reader);
	ftr_etrace_events_free(reader->syscalls);
	ftr_strpool_fini(&reader->user_names);
	ftr_vec_fini(&reader->names);
	ftr_vec_fini(&reader->tasks);
	ftr_hashmap_fini(&reader->task_by_tid);
	ftr_hashmap_fini(&reader->event_names);
	ftr_hashmap_fini(&reader->sdt_specs);
	ftr_dir_free(reader->dir);
	free(reader);
}

static const struct ftr_trace_loader uft_loader = {
	.module_load = uft_module_load,
	.func_init   = uft_func_init,
};

/* The tasks of the info file come first, in its order. */
static int tasks_of_info(struct uft_reader *reader)
{
	const struct ftr_info *info = &reader->trace->info;

	for (uint32_t i = 0; i < info->task_nr; i++) {
		struct uft_task *task = uft_task_get(reader, info->tids[i], info->tids[i]);

		if (task == NULL)
			return -ENOMEM;
		task->is_named = true;
	}
	return 0;
}

static bool drop_end(struct ftr_slice *text, const char *end)
{
	size_t len = strlen(end);

	if (text->len <= len || memcmp(text->s + text->len - len, end, len) != 0)
		return false;
	text->len -= len;
	return true;
}

/* "1234.dat", or what it was packed into: 1234, else -1. */
static int32_t tid_of_name(const char *name)
{
	struct ftr_slice text = ftr_slice_make(name, strlen(name));
	uint64_t tid;

	if (!drop_end(&text, ".dat" FTR_PACK_SUFFIX) && !drop_end(&text, ".dat"))
		return -1;
	if (ftr_parse_u64(text, 10, &tid) < 0 || tid > INT32_MAX)
		return -1;
	return (int32_t)tid;
}

/* A recorder makes a task's file before the line that introduces the task, and may be killed. */
static bool has_data(struct uft_reader *reader, const char *name)
{
	struct ftr_istream in;
	bool has_any;

	if (ftr_dir_file(reader->dir, name, &in, NULL) < 0)
		return true;	/* whoever opens it says why it cannot */
	has_any = in.size >= sizeof(struct ftr_record);	/* packed, a block is longer, too */
	ftr_istream_close(&in);
	return has_any;
}

/* Data that nothing else speaks of is shown all the same. */
static int tasks_of_files(struct uft_reader *reader)
{
	for (size_t i = 0; i < reader->dir->names.nr; i++) {
		const char *name = reader->dir->names.v[i];
		int32_t tid = tid_of_name(name);

		if (tid < 0 || ftr_hashmap_find(&reader->task_by_tid, (uint32_t)tid) != NULL ||
		    !has_data(reader, name))
			continue;
		ftr_diag_warn(reader->trace->diag,
			      "%s: task is in neither info nor task.txt; shown as a separate "
			      "process",
			      name);
		if (uft_task_get(reader, tid, tid) == NULL)
			return -ENOMEM;
	}
	return 0;
}

/* One of a task's files of records, packed or not. */
struct input {
	struct ftr_istream *in;
	struct uft_packed **packed;
};

/* The time of the first record that has one. */
static uint64_t data_first_ns(const struct uft_reader *reader, const struct input *input)
{
	const struct ftr_istream *in = input->in;
	struct uft_pins pins = { .packed = *input->packed };
	uint64_t first_ns = 0;

	for (size_t pos = 0; pos + sizeof(struct ftr_record) <= in->size; pos += 8) {
		uint64_t word;

		uft_pins_need(&pins, pos, pos + sizeof(struct ftr_record));
		uft_pins_pass(&pins, pos);
		word = ftr_get_u64(in->data + pos + 8, reader->is_big);
		if ((word & FTR_RECORD_MAGIC_MASK) == FTR_RECORD_MAGIC &&
		    ftr_record_type(word) != FTR_RECORD_LOST) {
			first_ns = ftr_get_u64(in->data + pos, reader->is_big);
			break;
		}
	}
	uft_pins_release(&pins);
	return first_ns;
}

static void first_ns_note(struct uft_reader *reader, struct uft_task *task,
			  const struct input *input)
{
	struct ftr_trace *trace = reader->trace;
	uint64_t first_ns = data_first_ns(reader, input);

	task->task->data_bytes += input->in->size;
	trace->bytes_total += input->in->size;
	if (first_ns != 0 && (task->first_ns == 0 || first_ns < task->first_ns))
		task->first_ns = first_ns;
	if (first_ns != 0 && (trace->first_ns == 0 || first_ns < trace->first_ns))
		trace->first_ns = first_ns;
}

void uft_first_ns_note(struct uft_reader *reader, struct uft_task *task, struct ftr_istream *in)
{
	struct uft_packed *none = NULL;
	const struct input input = { in, &none };

	first_ns_note(reader, task, &input);
}

/* The file @name, or what it was packed into: an unfinished packing or unpacking leaves both. */
static int input_open(struct uft_reader *reader, const char *name, const struct input *input,
		      struct ftr_err *err)
{
	char packed[48];
	int ret;

	snprintf(packed, sizeof(packed), "%s" FTR_PACK_SUFFIX, name);
	if (ftr_dir_has(reader->dir, name) || !ftr_dir_has(reader->dir, packed))
		return ftr_dir_file(reader->dir, name, input->in, err);
	ret = ftr_dir_file(reader->dir, packed, input->in, err);
	return ret < 0 ? ret :
	       uft_packed_open(input->packed, input->in, name, reader->trace->diag,
			       &reader->cut_packed_nr, err);
}

/* The events that do not stand among the records. */
static void aside_open(struct uft_reader *reader, struct uft_task *task)
{
	struct input input = { &task->aside, &task->aside_packed };
	struct ftr_err err;
	char name[32];

	snprintf(name, sizeof(name), FTR_UFTRACE_EVENT_NAME, task->task->tid);
	if (input_open(reader, name, &input, &err) < 0) {
		if (err.code != ENOENT)
			ftr_diag_warn(reader->trace->diag, "%s: its events are not shown",
				      err.text);
		return;
	}
	task->is_aside_open = true;
	first_ns_note(reader, task, &input);
}

static void data_open(struct uft_reader *reader, struct uft_task *task)
{
	struct ftr_trace *trace = reader->trace;
	struct input input = { &task->in, &task->packed };
	struct ftr_err err;
	char name[32];

	aside_open(reader, task);
	snprintf(name, sizeof(name), FTR_UFTRACE_DAT_NAME, task->task->tid);
	if (input_open(reader, name, &input, &err) < 0) {
		if (err.code != ENOENT || (task->is_named && trace->summary == NULL))
			ftr_diag_warn(trace->diag, "%s: calls of this task are not shown",
				      err.text);
		return;
	}
	task->is_open = true;
	first_ns_note(reader, task, &input);
}

static void contexts_number(struct ftr_trace *trace)
{
	uint32_t next = 2;	/* 0 = free slot, 1 = no session */

	for (size_t i = 0; i < trace->sessions.nr; i++) {
		trace->sessions.v[i]->context_base = next;
		next += (uint32_t)trace->sessions.v[i]->changes_ns.nr + 1;
	}
}

/* The stacks that the system calls name, or the events of calls. */
static int stacks_load(struct uft_reader *reader, const char *name, struct ftr_stacks **stacks)
{
	struct ftr_istream in;
	struct ftr_err err;
	int ret;

	if (!ftr_dir_has(reader->dir, name))
		return 0;
	if (ftr_dir_file(reader->dir, name, &in, &err) < 0) {
		ftr_diag_warn(reader->trace->diag, "%s: stacks are not shown", err.text);
		return 0;
	}
	ret = ftr_uftrace_stacks_load(reader->trace, &in, stacks);
	ftr_istream_close(&in);
	return ret;
}

/* What the observer saw of the processes, beside the functions. */
static int syscalls_load(struct uft_reader *reader)
{
	struct ftr_trace *trace = reader->trace;
	struct ftr_istream in;
	struct ftr_err err;
	bool is_told;
	int ret;

	if (!ftr_dir_has(reader->dir, FTR_SYSCALL_FILE))
		return 0;
	if (ftr_dir_file(reader->dir, FTR_SYSCALL_FILE, &in, &err) < 0) {
		ftr_diag_warn(trace->diag, "%s: system calls are not shown", err.text);
		return 0;
	}
	ret = ftr_etrace_events_load(&reader->syscalls, trace, &in, &err);
	is_told = in.is_line_cut;
	ftr_istream_close(&in);
	if (ret == 0)
		ret = stacks_load(reader, FTR_STACKS_FILE, &trace->stacks);
	if (ret == -EBADMSG && !is_told)
		ftr_diag_warn(trace->diag, "%s", err.text);
	if (ret < 0)
		return ret == -ENOMEM ? ret : 0;
	ret = uft_tasks_link(trace, false);	/* those that nothing else speaks of */
	return ret < 0 ? ret : ftr_etrace_events_sessions(reader->syscalls);
}

/* The task's system calls are calls of its functions.  NULL = out of memory. */
static struct ftr_source *syscalls_join(struct uft_reader *reader, struct uft_task *task,
					struct ftr_source *source)
{
	struct ftr_source *both[2] = { source, NULL };

	if (source == NULL || reader->syscalls == NULL)
		return source;
	if (ftr_etrace_events_take(reader->syscalls, task->task, &both[1]) < 0) {
		ftr_source_free(source);
		return NULL;
	}
	return both[1] != NULL ? ftr_merge_new(both, 2, false) : source;
}

/* At one time a record comes before an event. */
static struct ftr_source *own_source(struct uft_reader *reader, struct uft_task *task)
{
	struct ftr_diag *diag = reader->trace->diag;
	struct ftr_source *both[2] = { uft_data_source(reader, task, diag), NULL };

	if (task->aside.size == 0 || both[0] == NULL)
		return both[0];
	both[1] = uft_aside_source(reader, task, diag);
	if (both[1] != NULL)
		return ftr_merge_new(both, 2, false);
	ftr_source_free(both[0]);
	return NULL;
}

static int sources_make(struct uft_reader *reader)
{
	for (size_t i = 0; i < reader->tasks.nr; i++) {
		struct uft_task *task = reader->tasks.v[i];
		struct ftr_source *source, *own;

		if (task->in.size == 0 && task->aside.size == 0 && task->side.nr == 0 &&
		    task->kernel.cpus.nr == 0)
			continue;
		own = own_source(reader, task);
		source = syscalls_join(reader, task, own);
		source = uft_kernel_join(reader, task, source);
		if (source == NULL || ftr_vec_push(&reader->trace->sources, source) < 0) {
			ftr_source_free(source);
			return -ENOMEM;
		}
		source->task = task->task;
		task->may_seek = source == own;
		task->has_runs = source == own && task->aside.size == 0;
	}
	return reader->syscalls != NULL ? ftr_etrace_events_take_rest(reader->syscalls) : 0;
}

static void data_open_all(struct uft_reader *reader)
{
	for (size_t i = 0; i < reader->tasks.nr; i++)
		data_open(reader, reader->tasks.v[i]);
	if (reader->cut_packed_nr > 1)
		ftr_diag_warn(reader->trace->diag, "%u more packed files have no index, either",
			      reader->cut_packed_nr - 1);
}

/* The info of a recording's start stands until its end. */
static void end_look(struct uft_reader *reader)
{
	struct ftr_info *info = &reader->trace->info;

	if (info->elapsed_time == NULL || strcmp(info->elapsed_time, FTR_UFTRACE_NO_END) != 0 ||
	    info->recorder_version == NULL || strncmp(info->recorder_version, "ftr ", 4) != 0)
		return;
	info->elapsed_time = NULL;
	if (!uft_live_is_recorded(reader))
		ftr_diag_warn(reader->trace->diag, "the recording has no end: its recorder was "
			      "killed, or still writes; what it wrote until now is shown");
}

static int reader_load(struct uft_reader *reader, struct ftr_err *err)
{
	int ret = uft_info_load(reader, err);

	if (ret < 0)
		return ret;
	end_look(reader);
	if (uft_specs_load(reader) < 0 || tasks_of_info(reader) < 0)
		return ftr_err_set(err, ENOMEM, "info: out of memory");
	ret = uft_tasks_load(reader, err);
	if (ret == 0)
		ret = uft_events_load(reader, err);
	if (ret < 0)
		return ret;
	ret = tasks_of_files(reader);
	if (ret == 0)
		ret = uft_tasks_link(reader->trace, true);
	if (ret == 0) {
		ret = uft_summary_load(reader, err);
		if (ret < 0)
			return ret;
	}
	if (ret == 0)
		data_open_all(reader);
	contexts_number(reader->trace);
	if (ret == 0)
		ret = uft_stacks_load(reader);
	if (ret == 0)
		ret = stacks_load(reader, FTR_CALL_STACKS_FILE, &reader->trace->call_stacks);
	if (ret == 0)
		ret = uft_sides_load(reader);
	if (ret == 0) {
		ret = uft_kernel_load(reader, err);
		if (ret < 0)
			return ret;
	}
	if (ret == 0)
		ret = syscalls_load(reader);
	if (ret == 0)
		ret = sources_make(reader);
	return ret < 0 ? ftr_err_set(err, ENOMEM, "out of memory") : 0;
}

int ftr_uftrace_read_dir(struct ftr_trace *trace, struct ftr_dir *dir, struct ftr_err *err)
{
	struct uft_reader *reader = calloc(1, sizeof(*reader));

	if (reader == NULL) {
		ftr_dir_free(dir);
		return ftr_err_set(err, ENOMEM, "out of memory");
	}
	reader->trace = trace;
	reader->dir = dir;
	ftr_hashmap_init(&reader->task_by_tid);
	ftr_hashmap_init(&reader->event_names);
	ftr_hashmap_init(&reader->sdt_specs);
	trace->reader = reader;
	trace->reader_free = reader_free;
	trace->loader = &uft_loader;
	return trace->wants_following && uft_live_is_recorded(reader) ?
		       uft_live_load(reader, err) : reader_load(reader, err);
}

static bool uftrace_detect(const char *path, const uint8_t *head, size_t len)
{
	struct ftr_dir *dir;
	bool has_info;

	if (ftr_dir_open(&dir, path, NULL) < 0)
		return false;
	has_info = ftr_dir_has(dir, "info");
	ftr_dir_free(dir);
	return has_info;
}

const struct ftr_format ftr_format_uftrace = {
	.name	 = "uftrace",
	.summary = "data directory of ftr record and uftrace record",
	.kind	 = FTR_FORMAT_DIRECTORY,
	.detect	 = uftrace_detect,
	.read_dir = ftr_uftrace_read_dir,
	.write_new = ftr_uftrace_export_new,
	.is_data_directory = true,
};

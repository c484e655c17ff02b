/* SPDX-License-Identifier: MIT */
/*
 * kernel-cpuN.dat of a uftrace directory: pages of the kernel's ring buffers, one CPU's in a file.
 * What is in them: ftrace/pages.h.  Here is whose they are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/text.h"
#include "utils/format/uftrace/read_kernel.h"
#include "utils/format/uftrace/uftrace.h"

#define FILE_PREFIX "kernel-cpu"
#define FILE_SUFFIX ".dat"

/* ---- whose event is it? ---- */

/* Events of a task come in rows. */
static struct uft_task *task_by_number(const struct uft_reader *reader, uint64_t pid)
{
	struct uft_kernel *kernel = reader->kernel;

	if (kernel->last == NULL || kernel->last->task->tid != (int32_t)pid)
		kernel->last = ftr_hashmap_find(&reader->task_by_tid, (uint32_t)pid);
	return kernel->last;
}

static struct uft_task *task_with_data(const struct uft_reader *reader, uint64_t pid)
{
	struct uft_task *task = task_by_number(reader, pid);

	return task != NULL && task->in.size > 0 ? task : NULL;
}

static struct ftr_ftrace_task *owner_task(void *arg, const struct ftr_ftrace_cpu *cpu,
					  const struct ftr_ftrace_page *page,
					  const struct ftr_ftrace_event *event)
{
	const struct uft_reader *reader = arg;
	uint64_t pid = ftr_ftrace_number(page, event->pid);
	struct uft_task *task = task_with_data(reader, pid);

	if (task == NULL && event->other.bytes != 0)
		task = task_with_data(reader, ftr_ftrace_number(page, event->other));
	if (task == NULL)
		task = task_by_number(reader, pid);
	return task == NULL ? NULL : &task->kernel;
}

static struct ftr_ftrace_task *owner_first(void *arg, const struct ftr_ftrace_cpu *cpu)
{
	const struct uft_reader *reader = arg;

	for (size_t i = 0; i < reader->tasks.nr; i++) {
		if (reader->tasks.v[i]->in.size > 0)
			return &reader->tasks.v[i]->kernel;
	}
	return NULL;
}

static uint64_t side_time(void *arg, const struct ftr_ftrace_cpu *cpu, uint64_t time)
{
	const struct uft_kernel *kernel = ((const struct uft_reader *)arg)->kernel;

	return ftr_clock_convert(&kernel->clock,
				 kernel->side.time_ns(kernel->side.arg, cpu, time));
}

static const char *side_instance(void *arg, const struct ftr_ftrace_cpu *cpu)
{
	const struct uft_kernel *kernel = ((const struct uft_reader *)arg)->kernel;

	return kernel->side.instance(kernel->side.arg, cpu);
}

static const struct ftr_ftrace_owner side_owner = {
	.task = owner_task,
	.first = owner_first,
	.time_ns = side_time,
	.instance = side_instance,
	.is_indexed = true,
};

static const struct ftr_ftrace_owner owner = {
	.task = owner_task,
	.first = owner_first,
	.is_indexed = true,
};

/* ---- files ---- */

/* "kernel-cpu3.dat": 3, plus 1 as events have it. */
static bool name_is_kernel(const char *name, uint16_t *cpu_nr)
{
	struct ftr_slice number = ftr_slice_make(name, strlen(name));
	uint64_t cpu;

	if (!ftr_slice_starts(number, FILE_PREFIX) ||
	    number.len <= strlen(FILE_PREFIX FILE_SUFFIX) ||
	    strcmp(name + number.len - strlen(FILE_SUFFIX), FILE_SUFFIX) != 0)
		return false;
	number = ftr_slice_make(name + strlen(FILE_PREFIX),
				number.len - strlen(FILE_PREFIX FILE_SUFFIX));
	*cpu_nr = ftr_parse_u64(number, 10, &cpu) < 0 || cpu >= UINT16_MAX ? 0 :
									     (uint16_t)(cpu + 1);
	return true;
}

static int file_open(struct uft_kernel *kernel, struct uft_reader *reader, const char *name,
		     uint16_t cpu_nr)
{
	struct ftr_err err = { 0 };
	struct ftr_istream in;
	int ret;

	if (ftr_dir_file(reader->dir, name, &in, &err) < 0) {
		ftr_diag_warn(reader->trace->diag,
			      "%s: kernel events of this CPU are not shown", err.text);
		return 0;
	}
	ret = ftr_vec_push(&kernel->pages.cpus, ((struct ftr_ftrace_cpu){
		.name = in.name, .data = in.data, .bytes = in.size, .cpu_nr = cpu_nr,
		.page_bytes = kernel->ftrace.layout.page_bytes, .is_mapped = in.owned_map != NULL,
	}));
	if (ret == 0 && ftr_vec_push(&kernel->files, in) == 0)
		return 0;
	ftr_istream_close(&in);
	return -ENOMEM;
}

static int files_open(struct uft_kernel *kernel, struct uft_reader *reader)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < reader->dir->names.nr; i++) {
		uint16_t cpu_nr;

		if (name_is_kernel(reader->dir->names.v[i], &cpu_nr))
			ret = file_open(kernel, reader, reader->dir->names.v[i], cpu_nr);
	}
	return ret;
}

static bool has_files(const struct uft_reader *reader)
{
	uint16_t cpu_nr;

	for (size_t i = 0; i < reader->dir->names.nr; i++) {
		if (name_is_kernel(reader->dir->names.v[i], &cpu_nr))
			return true;
	}
	return false;
}

static int own_open(struct uft_kernel *kernel, struct uft_reader *reader)
{
	int ret = uft_kernel_header_load(kernel, reader);

	kernel->pages.ftrace = &kernel->ftrace;
	kernel->pages.owner = &owner;
	return ret < 0 || kernel->ftrace.type.bytes == 0 ? ret : files_open(kernel, reader);
}

static int side_open(struct uft_kernel *kernel, struct uft_reader *reader, struct ftr_err *err)
{
	int ret = uft_merge_open(reader, err);

	if (ret < 0 || kernel->side.free == NULL)
		return ret;
	kernel->pages.ftrace = kernel->side.ftrace;
	kernel->pages.owner = &side_owner;
	for (size_t i = 0; ret == 0 && i < kernel->side.cpu_nr; i++)
		ret = ftr_vec_push(&kernel->pages.cpus, kernel->side.cpus[i]);
	return ret < 0 ? ftr_err_set(err, ENOMEM, "out of memory") : 0;
}

int uft_kernel_load(struct uft_reader *reader, struct ftr_err *err)
{
	const char *path = reader->trace->kernel_file.path;
	bool is_merged = uft_merge_is_wanted(reader);
	struct uft_kernel *kernel;
	int ret;

	if (!has_files(reader) && !is_merged)
		return 0;
	kernel = calloc(1, sizeof(*kernel));
	if (kernel == NULL)
		return ftr_err_set(err, ENOMEM, "out of memory");
	reader->kernel = kernel;
	kernel->trace = reader->trace;
	kernel->pages.arg = reader;
	for (size_t i = 0; i < reader->tasks.nr; i++)
		reader->tasks.v[i]->kernel.task = reader->tasks.v[i]->task;
	if (is_merged && has_files(reader))
		return ftr_err_set(err, EEXIST, "has events of the kernel already, recorded with "
				   "-k or -E, and %s would be more; show one of them alone",
				   path == NULL ? FTR_UFTRACE_MERGED_FILE : path);
	ret = is_merged ? side_open(kernel, reader, err) : own_open(kernel, reader);
	if (ret == 0 && kernel->pages.cpus.nr > 0)
		ret = ftr_ftrace_pages_walk(&kernel->pages);
	return ret == -ENOMEM ? ftr_err_set(err, ENOMEM, "out of memory") : ret;
}

struct ftr_source *uft_kernel_join(struct uft_reader *reader, struct uft_task *task,
				   struct ftr_source *source)
{
	struct ftr_source *kernel;

	if (source == NULL || task->kernel.cpus.nr == 0)
		return source;
	kernel = ftr_ftrace_source(&reader->kernel->pages, &task->kernel);
	if (kernel != NULL)
		return ftr_ftrace_join(source, kernel);
	ftr_source_free(source);
	return NULL;
}

void uft_kernel_free(struct uft_reader *reader)
{
	struct uft_kernel *kernel = reader->kernel;

	if (kernel == NULL)
		return;
	for (size_t i = 0; i < kernel->files.nr; i++)
		ftr_istream_close(&kernel->files.v[i]);
	ftr_vec_fini(&kernel->files);
	ftr_ftrace_pages_fini(&kernel->pages);
	ftr_ftrace_fini(&kernel->ftrace);
	if (kernel->side.free != NULL)
		kernel->side.free(kernel->side.arg);
	free(kernel);
}

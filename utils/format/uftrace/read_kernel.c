/* SPDX-License-Identifier: MIT */
/*
 * kernel-cpuN.dat of a uftrace directory: pages of the kernel's ring buffers, one CPU's in a file.
 * One walk over them finds out which pages hold events of which task, and what is damaged; the
 * events themselves are read when a task's source gets there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "utils/base/text.h"
#include "utils/format/uftrace/read_kernel.h"

#define FILE_PREFIX "kernel-cpu"
#define FILE_SUFFIX ".dat"
#define WINDOW_BYTES ((size_t)2 << 20)	/* of a mapped file that is kept in memory */

/* Events of an id that no format explains. */
struct unknown {
	const char *file;
	uint64_t offset;		/* of the first */
	uint64_t nr;
};

struct walk {
	struct uft_reader *reader;
	struct uft_kernel *kernel;
	uint32_t file;
	uint32_t page_nr;
	struct uft_task *last;		/* (nullable) whose event was the last on this CPU */
	struct ftr_hashmap unknown;	/* id + 1 -> struct unknown */
};

/* ---- whose event is it? ---- */

static struct uft_task *task_with_data(const struct uft_reader *reader, uint64_t pid)
{
	struct uft_task *task = ftr_hashmap_find(&reader->task_by_tid, (uint32_t)pid);

	return task != NULL && task->in.size > 0 ? task : NULL;
}

struct uft_task *uft_kernel_owner(const struct uft_reader *reader,
				  const struct ftr_ftrace_page *page,
				  const struct ftr_ftrace_event *event)
{
	uint64_t pid = ftr_ftrace_number(page, event->pid);
	struct uft_task *task = task_with_data(reader, pid);

	if (task == NULL && event->other != NULL)
		task = task_with_data(reader, ftr_ftrace_number(page, event->other));
	return task != NULL ? task : ftr_hashmap_find(&reader->task_by_tid, (uint32_t)pid);
}

/* ---- the walk ---- */

void uft_kernel_file_pass(const struct uft_kernel_file *file, size_t from, size_t to)
{
	size_t window = from / WINDOW_BYTES * WINDOW_BYTES;

	if (file->in.owned_map != NULL && to >= window + WINDOW_BYTES)
		madvise((uint8_t *)file->in.owned_map + window, WINDOW_BYTES, MADV_DONTNEED);
}

static const struct ftr_istream *walk_in(const struct walk *walk)
{
	return &walk->kernel->files.v[walk->file].in;
}

static size_t walk_offset(const struct walk *walk, const uint8_t *p)
{
	return (size_t)(p - walk_in(walk)->data);
}

/*
 * The page is one of the task's; with UFT_PAGE_LOST in @flags its stream reports what was lost
 * before.
 */
static int page_note(struct walk *walk, struct uft_task *task, uint32_t flags)
{
	struct uft_kernel_pages *of = task->kernel.nr > 0 ? &task->kernel.v[task->kernel.nr - 1] :
							    NULL;

	walk->last = task;
	if (of == NULL || of->file != walk->file) {
		if (ftr_vec_push(&task->kernel, ((struct uft_kernel_pages){ .file = walk->file })) <
		    0)
			return -ENOMEM;
		of = &task->kernel.v[task->kernel.nr - 1];
	}
	if (of->pages.nr > 0 && (of->pages.v[of->pages.nr - 1] & ~UFT_PAGE_LOST) == walk->page_nr) {
		of->pages.v[of->pages.nr - 1] |= flags;
		return 0;
	}
	return ftr_vec_push(&of->pages, walk->page_nr | flags);
}

/* Events of unknown tasks were lost on this CPU: one task's stream reports it. */
static int page_note_lost(struct walk *walk)
{
	struct uft_task *task = walk->last;

	for (size_t i = 0; task == NULL && i < walk->reader->tasks.nr; i++) {
		if (walk->reader->tasks.v[i]->in.size > 0)
			task = walk->reader->tasks.v[i];
	}
	return task == NULL ? 0 : page_note(walk, task, UFT_PAGE_LOST);
}

static int unknown_note(struct walk *walk, uint32_t id, const uint8_t *p)
{
	struct unknown *unknown = ftr_hashmap_find(&walk->unknown, (uint64_t)id + 1);

	if (unknown == NULL) {
		unknown = ftr_arena_alloc(&walk->reader->trace->arena, sizeof(*unknown));
		if (unknown == NULL ||
		    ftr_hashmap_set(&walk->unknown, (uint64_t)id + 1, unknown) < 0)
			return -ENOMEM;
		*unknown = (struct unknown){ walk_in(walk)->name, walk_offset(walk, p), 0 };
	}
	unknown->nr++;
	return 0;
}

static void trouble_warn(const struct walk *walk, const struct ftr_ftrace_page *page,
			 struct ftr_ftrace_event *event)
{
	ftr_diag_warn(walk->reader->trace->diag,
		      "%s+0x%zx: %s: %s: such events are shown field by field", walk_in(walk)->name,
		      walk_offset(walk, page->data), event->name, event->trouble);
	event->trouble = NULL;
}

static int event_walk(struct walk *walk, const struct ftr_ftrace_page *page)
{
	struct ftr_trace *trace = walk->reader->trace;
	struct ftr_ftrace_event *event;
	struct uft_task *task;
	uint32_t id = 0;

	event = ftr_ftrace_page_event(page, &id);
	if (event == NULL)
		return unknown_note(walk, id, page->data);
	if (!ftr_ftrace_fits(page, event)) {
		ftr_diag_warn(trace->diag, "%s+0x%zx: %s of %u bytes is damaged: skipped",
			      walk_in(walk)->name, walk_offset(walk, page->data), event->name,
			      page->bytes);
		return 0;
	}
	task = uft_kernel_owner(walk->reader, page, event);
	if (task == NULL)
		return 0;
	if (event->trouble != NULL && event->kind == FTR_FTRACE_POINT)
		trouble_warn(walk, page, event);
	if (trace->first_ns == 0 || page->time_ns < trace->first_ns)
		trace->first_ns = page->time_ns;
	return page_note(walk, task, 0);
}

static int page_walk(struct walk *walk, const uint8_t *start, size_t left)
{
	struct ftr_ftrace_page page;
	uint64_t first_ns = 0;
	int ret = 0;

	if (ftr_ftrace_page_open(&page, &walk->kernel->ftrace, start, left)) {
		bool has_lost = page.has_lost;

		first_ns = page.time_ns;
		while (ret == 0 && ftr_ftrace_page_next(&page))
			ret = event_walk(walk, &page);
		if (ret == 0 && has_lost)
			ret = page_note_lost(walk);
	}
	if (page.damage != NULL)
		ftr_diag_warn(walk->reader->trace->diag, "%s+0x%zx: %s: %s", walk_in(walk)->name,
			      walk_offset(walk, page.next), page.damage,
			      first_ns == 0 ? "the page is skipped" :
				      "the rest of the page is skipped");
	return ret;
}

static int file_walk(struct walk *walk)
{
	const struct ftr_istream *in = walk_in(walk);
	size_t page_bytes = walk->kernel->ftrace.layout.page_bytes;
	int ret = 0;

	walk->page_nr = 0;
	walk->last = NULL;
	for (size_t pos = 0; ret == 0 && pos < in->size; pos += page_bytes) {
		ret = page_walk(walk, in->data + pos, in->size - pos);
		uft_kernel_file_pass(&walk->kernel->files.v[walk->file], pos, pos + page_bytes);
		if (++walk->page_nr == UFT_PAGE_LOST) {
			ftr_diag_warn(walk->reader->trace->diag,
				      "%s: too many pages: the rest of the file is skipped", in->name);
			break;
		}
		if (in->size - pos < page_bytes)
			break;
	}
	return ret;
}

static void unknown_warn(const struct walk *walk)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;

	while ((slot = ftr_hashmap_next(&walk->unknown, &pos)) != NULL) {
		const struct unknown *unknown = slot->value;

		ftr_diag_warn(walk->reader->trace->diag,
			      "%s+0x%llx: skipped %llu events of unknown ID %llu, first one here",
			      unknown->file, (unsigned long long)unknown->offset,
			      (unsigned long long)unknown->nr, (unsigned long long)slot->key - 1);
	}
}

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
	struct uft_kernel_file file = { .cpu_nr = cpu_nr };
	struct ftr_err err = { 0 };

	if (ftr_dir_file(reader->dir, name, &file.in, &err) < 0) {
		ftr_diag_warn(reader->trace->diag,
			      "%s: kernel events of this CPU are not shown", err.text);
		return 0;
	}
	if (ftr_vec_push(&kernel->files, file) == 0)
		return 0;
	ftr_istream_close(&file.in);
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

static int files_walk(struct uft_kernel *kernel, struct uft_reader *reader)
{
	struct walk walk = { .reader = reader, .kernel = kernel };
	int ret = 0;

	ftr_hashmap_init(&walk.unknown);
	for (; ret == 0 && walk.file < kernel->files.nr; walk.file++)
		ret = file_walk(&walk);
	unknown_warn(&walk);
	ftr_hashmap_fini(&walk.unknown);
	return ret;
}

int uft_kernel_load(struct uft_reader *reader)
{
	struct uft_kernel *kernel;
	int ret;

	if (!has_files(reader))
		return 0;
	kernel = calloc(1, sizeof(*kernel));
	if (kernel == NULL)
		return -ENOMEM;
	reader->kernel = kernel;
	kernel->trace = reader->trace;
	ret = uft_kernel_header_load(kernel, reader);
	if (ret < 0 || kernel->ftrace.type == NULL)
		return ret;
	ret = files_open(kernel, reader);
	return ret < 0 ? ret : files_walk(kernel, reader);
}

struct ftr_source *uft_kernel_join(struct uft_reader *reader, struct uft_task *task,
				   struct ftr_source *source)
{
	struct ftr_source *kernel;

	if (source == NULL || task->kernel.nr == 0)
		return source;
	kernel = uft_kernel_source(reader, task);
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
		ftr_istream_close(&kernel->files.v[i].in);
	ftr_vec_fini(&kernel->files);
	ftr_ftrace_fini(&kernel->ftrace);
	free(kernel);
}

/* SPDX-License-Identifier: MIT */
/*
 * A trace.dat beside the calls of a data directory, as if the recorder had recorded the kernel: of
 * the tasks that the directory has.  Its clock need not be ours (trace-cmd record -C mono); then
 * the switches of tasks, which perf has recorded for us, say how the two go.  doc/adr/0074.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/strbuf.h"
#include "utils/format/format.h"
#include "utils/format/uftrace/read_kernel.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/trace/event_kind.h"

#define OUR_CLOCK "mono"
#define THEIR_CLOCK "local"		/* unless the file says another */
#define SAME_NS	  100000		/* switches are recorded so near each other */
#define SWITCH	  "sched:sched_switch"
#define NS_PER_US 1e3
#define NS_PER_SEC 1e9

bool uft_merge_is_wanted(const struct uft_reader *reader)
{
	return reader->trace->kernel_file.path != NULL ||
	       ftr_dir_has(reader->dir, FTR_UFTRACE_MERGED_FILE);
}

/* ---- clocks ---- */

static bool is_out(const struct uft_side *side)
{
	return side->kind < UFT_SIDE_LOST &&
	       ftr_event_id_is_sched_out((uint64_t)UFT_SIDE_POINT_BASE + side->kind);
}

static int our_marks(const struct uft_reader *reader, struct ftr_clock_marks *marks)
{
	for (size_t i = 0; i < reader->tasks.nr; i++) {
		const struct uft_task *task = reader->tasks.v[i];

		for (size_t k = 0; k < task->side.nr; k++) {
			const struct ftr_clock_mark mark = { task->task->tid,
							     task->side.v[k].time_ns };

			if (is_out(&task->side.v[k]) &&
			    ftr_vec_push(&marks->all, mark) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static int page_marks(const struct uft_reader *reader, const struct ftr_ftrace_cpu *cpu,
		      struct ftr_ftrace_page *page, struct ftr_clock_marks *marks)
{
	const struct ftr_ftrace_side *side = &reader->kernel->side;
	struct ftr_ftrace_event *event;
	uint32_t id;

	while (ftr_ftrace_page_next(page)) {
		struct ftr_clock_mark mark;

		event = ftr_ftrace_page_event(page, &id);
		if (event == NULL || strcmp(event->name, SWITCH) != 0 ||
		    !ftr_ftrace_fits(page, event))
			continue;
		mark.tid = (int32_t)ftr_ftrace_number(page, event->pid);
		mark.time_ns = side->time_ns(side->arg, cpu, page->time_ns);
		if (ftr_hashmap_find(&reader->task_by_tid, (uint32_t)mark.tid) != NULL &&
		    ftr_vec_push(&marks->all, mark) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int their_marks(const struct uft_reader *reader, struct ftr_clock_marks *marks)
{
	const struct ftr_ftrace_side *side = &reader->kernel->side;
	int ret = 0;

	for (size_t i = 0; i < side->cpu_nr; i++) {
		const struct ftr_ftrace_cpu *cpu = &side->cpus[i];

		for (size_t pos = 0; ret == 0 && pos < cpu->bytes; pos += cpu->page_bytes) {
			struct ftr_ftrace_page page;

			if (ftr_ftrace_page_open(&page, side->ftrace, cpu->page_bytes,
						 cpu->data + pos, cpu->bytes - pos))
				ret = page_marks(reader, cpu, &page, marks);
		}
	}
	return ret;
}

/* For people: how times were made to fit. */
static int relation_tell(const struct uft_reader *reader, const char *name)
{
	const struct ftr_clock_relation *clock = &reader->kernel->clock;
	struct ftr_strbuf text;
	int ret;

	ftr_strbuf_init(&text);
	ftr_strbuf_printf(&text, "%s: ", name);
	if (clock->of_nr == 0)
		ftr_strbuf_printf(&text, clock->offset_ns == 0 ? "its clock is that of the calls" :
								 "%.9f s are added to its times",
				  (double)clock->offset_ns / NS_PER_SEC);
	else
		ftr_strbuf_printf(&text, "%.9f s are added to its times: %u of %u switches of "
				  "tasks lie on the program's then",
				  (double)clock->offset_ns / NS_PER_SEC, clock->match_nr,
				  clock->of_nr);
	if (clock->over_ns > 0)
		ftr_strbuf_printf(&text, ", and %.1f us a second, by which the clocks drift",
				  (double)clock->drift_ns * NS_PER_SEC / NS_PER_US /
					  (double)clock->over_ns);
	reader->trace->kernel_note = text.failed ? NULL :
		ftr_arena_strndup(&reader->trace->arena, ftr_strbuf_str(&text), text.len);
	ret = reader->trace->kernel_note == NULL ? -ENOMEM : 0;
	ftr_strbuf_fini(&text);
	return ret;
}

/* 1; 0: it cannot be found; -ENOMEM. */
static int relation_find(struct uft_reader *reader)
{
	struct ftr_clock_marks ours = { .all = { .nr = 0 } }, theirs = { .all = { .nr = 0 } };
	int ret = our_marks(reader, &ours);

	if (ret == 0)
		ret = their_marks(reader, &theirs);
	if (ret == 0)
		ret = ftr_clock_relate(&ours, &theirs, &reader->kernel->clock);
	ftr_vec_fini(&ours.all);
	ftr_vec_fini(&theirs.all);
	return ret;
}

/* The recorder can be told another clock, so that switches are asked even where names agree. */
static int clock_set(struct uft_reader *reader, const char *name, struct ftr_err *err)
{
	const struct ftr_kernel_file *file = &reader->trace->kernel_file;
	struct uft_kernel *kernel = reader->kernel;
	const char *clock = kernel->side.clock == NULL ? THEIR_CLOCK : kernel->side.clock;
	bool is_ours = strcmp(clock, OUR_CLOCK) == 0;
	int ret = file->has_offset ? 1 : relation_find(reader);

	if (file->has_offset)
		kernel->clock.offset_ns = file->offset_ns;
	else if (is_ours && (ret == 0 || llabs(kernel->clock.offset_ns) < SAME_NS))
		kernel->clock = (struct ftr_clock_relation){ .offset_ns = 0 };
	else if (ret == 0)
		return ftr_err_set(err, ENODATA, "%s: its clock %s is not that of the calls, and "
				   "too few switches of tasks are in both to find how they go; "
				   "record it with \"trace-cmd record -C mono\", or give "
				   "--clock-offset", name, clock);
	if (ret < 0 || relation_tell(reader, name) < 0)
		return ftr_err_set(err, ENOMEM, "out of memory");
	return 0;
}

/* ---- the file ---- */

static int side_read(struct uft_reader *reader, struct ftr_err *err)
{
	const char *path = reader->trace->kernel_file.path;
	struct ftr_istream in;
	int ret;

	if (path != NULL)
		return ftr_kernel_side_open(reader->trace, path, &reader->kernel->side, err);
	ret = ftr_dir_file(reader->dir, FTR_UFTRACE_MERGED_FILE, &in, err);
	if (ret < 0)
		return ret;
	ret = ftr_kernel_side_read(reader->trace, &in, &reader->kernel->side, err);
	ftr_istream_close(&in);
	return ret;
}

/* What is in the directory by itself must not keep the calls from being shown. */
int uft_merge_open(struct uft_reader *reader, struct ftr_err *err)
{
	const char *path = reader->trace->kernel_file.path;
	struct ftr_ftrace_side *side = &reader->kernel->side;
	int ret = side_read(reader, err);

	if (ret == 0)
		ret = clock_set(reader, path == NULL ? FTR_UFTRACE_MERGED_FILE : path, err);
	if (ret == 0 || ret == -ENOMEM || path != NULL)
		return ret;
	ftr_diag_warn(reader->trace->diag, "%s: events of the kernel are not shown", err->text);
	if (side->free != NULL)
		side->free(side->arg);
	*side = (struct ftr_ftrace_side){ .free = NULL };
	return 0;
}

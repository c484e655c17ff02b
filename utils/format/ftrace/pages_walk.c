/* SPDX-License-Identifier: MIT */
/*
 * One walk over all pages finds out which of them hold events of which task, and what is damaged;
 * the events themselves are read when a source gets there.
 */
#include <errno.h>
#include <sys/mman.h>

#include "utils/base/bits.h"
#include "utils/format/ftrace/pages.h"

#define WINDOW_BYTES FTR_MIB(2)	/* of a mapped file that is kept in memory */

/* Events of an id that no format explains. */
struct unknown {
	const char *file;
	uint64_t offset;		/* of the first */
	uint64_t nr;
};

struct walk {
	struct ftr_ftrace_pages *pages;
	uint32_t cpu;
	uint32_t page_nr;
	struct ftr_ftrace_task *last;	/* (nullable) whose event was the last on this CPU */
	struct ftr_ftrace_task *sole;	/* (nullable) whose events those of this page were */
	bool is_shared;			/* this page: some event is another's, or nobody's */
	struct ftr_hashmap unknown;	/* id + 1 -> struct unknown */
};

void ftr_ftrace_cpu_pass(const struct ftr_ftrace_cpu *cpu, size_t from, size_t to)
{
	size_t window = from / WINDOW_BYTES * WINDOW_BYTES;

	if (cpu->is_mapped && to >= window + WINDOW_BYTES)
		madvise((void *)(uintptr_t)(cpu->data + window), WINDOW_BYTES, MADV_DONTNEED);
}

static const struct ftr_ftrace_cpu *walk_cpu(const struct walk *walk)
{
	return &walk->pages->cpus.v[walk->cpu];
}

static struct ftr_trace *walk_trace(const struct walk *walk)
{
	return walk->pages->ftrace->trace;
}

static unsigned long long walk_offset(const struct walk *walk, const uint8_t *p)
{
	return walk_cpu(walk)->offset + (uint64_t)(p - walk_cpu(walk)->data);
}

/* The page is one of the task's.  @flags: FTR_FTRACE_PAGE_LOST, _SOLE. */
static int page_note(struct walk *walk, struct ftr_ftrace_task *task, uint32_t flags)
{
	struct ftr_ftrace_task_cpu *of = task->cpus.nr > 0 ? &task->cpus.v[task->cpus.nr - 1] :
							     NULL;

	walk->last = task;
	if (!walk->pages->owner->is_indexed)
		return 0;
	if (of == NULL || of->cpu != walk->cpu) {
		if (ftr_vec_push(&task->cpus, ((struct ftr_ftrace_task_cpu){ .cpu = walk->cpu })) <
		    0)
			return -ENOMEM;
		of = &task->cpus.v[task->cpus.nr - 1];
	}
	if (of->pages.nr > 0 &&
	    (of->pages.v[of->pages.nr - 1] & FTR_FTRACE_PAGE_NR) == walk->page_nr) {
		of->pages.v[of->pages.nr - 1] |= flags;
		return 0;
	}
	return ftr_vec_push(&of->pages, walk->page_nr | flags);
}

/* Events of unknown tasks were lost on this CPU: one task's stream reports it. */
static int page_note_lost(struct walk *walk)
{
	const struct ftr_ftrace_owner *owner = walk->pages->owner;
	struct ftr_ftrace_task *task = walk->last;

	if (task == NULL && owner->first != NULL)
		task = owner->first(walk->pages->arg, walk_cpu(walk));
	return task == NULL ? 0 : page_note(walk, task, FTR_FTRACE_PAGE_LOST);
}

static int unknown_note(struct walk *walk, uint32_t id, const uint8_t *p)
{
	struct unknown *unknown = ftr_hashmap_find(&walk->unknown, (uint64_t)id + 1);

	if (unknown == NULL) {
		unknown = ftr_arena_alloc(&walk_trace(walk)->arena, sizeof(*unknown));
		if (unknown == NULL ||
		    ftr_hashmap_set(&walk->unknown, (uint64_t)id + 1, unknown) < 0)
			return -ENOMEM;
		*unknown = (struct unknown){ walk_cpu(walk)->name, walk_offset(walk, p), 0 };
	}
	unknown->nr++;
	return 0;
}

static void trouble_warn(const struct walk *walk, const struct ftr_ftrace_page *page,
			 struct ftr_ftrace_event *event)
{
	ftr_diag_warn(walk_trace(walk)->diag,
		      "%s+0x%llx: %s: %s: such events are shown field by field",
		      walk_cpu(walk)->name, walk_offset(walk, page->data), event->name,
		      event->trouble);
	event->trouble = NULL;
}

static void time_note(struct walk *walk, uint64_t time)
{
	const struct ftr_ftrace_owner *owner = walk->pages->owner;
	struct ftr_trace *trace = walk_trace(walk);

	if (owner->time_ns != NULL)
		time = owner->time_ns(walk->pages->arg, walk_cpu(walk), time);
	if (trace->first_ns == 0 || time < trace->first_ns)
		trace->first_ns = time;
}

/* The event is the task's. */
static int owner_note(struct walk *walk, struct ftr_ftrace_task *task)
{
	if (walk->sole == task)
		return 0;	/* the page is known as the task's */
	walk->is_shared |= walk->sole != NULL;
	walk->sole = task;
	return page_note(walk, task, 0);
}

static int event_walk(struct walk *walk, const struct ftr_ftrace_page *page)
{
	struct ftr_ftrace_event *event;
	struct ftr_ftrace_task *task;
	uint32_t id = 0;

	event = ftr_ftrace_page_event(page, &id);
	if (event == NULL)
		return unknown_note(walk, id, page->data);
	if (!ftr_ftrace_fits(page, event)) {
		ftr_diag_warn(walk_trace(walk)->diag,
			      "%s+0x%llx: %s of %u bytes is damaged: skipped",
			      walk_cpu(walk)->name, walk_offset(walk, page->data), event->name,
			      page->bytes);
		return 0;
	}
	task = walk->pages->owner->task(walk->pages->arg, walk_cpu(walk), page, event);
	if (task == NULL) {
		walk->is_shared = true;
		return 0;
	}
	if (event->trouble != NULL && event->kind == FTR_FTRACE_POINT)
		trouble_warn(walk, page, event);
	time_note(walk, page->time_ns);
	return owner_note(walk, task);
}

static int page_walk(struct walk *walk, const uint8_t *start, size_t left)
{
	struct ftr_ftrace_page page;
	uint64_t first_ns = 0;
	int ret = 0;

	walk->sole = NULL;
	walk->is_shared = false;
	if (ftr_ftrace_page_open(&page, walk->pages->ftrace, walk_cpu(walk)->page_bytes, start,
				 left)) {
		bool has_lost = page.has_lost;

		first_ns = page.time_ns;
		while (ret == 0 && ftr_ftrace_page_next(&page))
			ret = event_walk(walk, &page);
		if (ret == 0 && walk->sole != NULL && !walk->is_shared)
			ret = page_note(walk, walk->sole, FTR_FTRACE_PAGE_SOLE);
		if (ret == 0 && has_lost)
			ret = page_note_lost(walk);
	}
	if (page.damage != NULL)
		ftr_diag_warn(walk_trace(walk)->diag, "%s+0x%llx: %s: %s", walk_cpu(walk)->name,
			      walk_offset(walk, page.next), page.damage,
			      first_ns == 0 ? "the page is skipped" :
				      "the rest of the page is skipped");
	return ret;
}

static int cpu_walk(struct walk *walk)
{
	const struct ftr_ftrace_cpu *cpu = walk_cpu(walk);
	int ret = 0;

	walk->page_nr = 0;
	walk->last = NULL;
	for (size_t pos = 0; ret == 0 && pos < cpu->bytes; pos += cpu->page_bytes) {
		ret = page_walk(walk, cpu->data + pos, cpu->bytes - pos);
		ftr_ftrace_cpu_pass(cpu, pos, pos + cpu->page_bytes);
		if (++walk->page_nr == FTR_FTRACE_PAGE_NR) {
			ftr_diag_warn(walk_trace(walk)->diag,
				      "%s: too many pages: the rest of the file is skipped",
				      cpu->name);
			break;
		}
		if (cpu->bytes - pos < cpu->page_bytes)
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

		ftr_diag_warn(walk_trace(walk)->diag,
			      "%s+0x%llx: skipped %llu events of unknown ID %llu, first one here",
			      unknown->file, (unsigned long long)unknown->offset,
			      (unsigned long long)unknown->nr, (unsigned long long)slot->key - 1);
	}
}

int ftr_ftrace_pages_walk(struct ftr_ftrace_pages *pages)
{
	struct walk walk = { .pages = pages };
	int ret = 0;

	ftr_hashmap_init(&walk.unknown);
	for (; ret == 0 && walk.cpu < pages->cpus.nr; walk.cpu++)
		ret = cpu_walk(&walk);
	unknown_warn(&walk);
	ftr_hashmap_fini(&walk.unknown);
	return ret;
}

void ftr_ftrace_pages_fini(struct ftr_ftrace_pages *pages)
{
	ftr_vec_fini(&pages->cpus);
}

void ftr_ftrace_task_fini(struct ftr_ftrace_task *task)
{
	for (size_t i = 0; i < task->cpus.nr; i++)
		ftr_vec_fini(&task->cpus.v[i].pages);
	ftr_vec_fini(&task->cpus);
}

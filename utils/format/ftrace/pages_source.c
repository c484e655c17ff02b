/* SPDX-License-Identifier: MIT */
/* The kernel's events of one task or of all, on all CPUs, by time. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/ftrace/pages.h"

#define BATCH 64	/* events: there may be thousands of tasks, each with a batch */

/* One CPU's pages, and the next event there that is wanted. */
struct cursor {
	const struct ftr_ftrace_cpu *cpu;
	const struct ftr_ftrace_task_cpu *index;	/* (nullable: all pages) the task's */
	size_t page_pos;	/* of the page after this one */
	struct ftr_ftrace_task *task;	/* (nullable) the event's, or the last one's */
	struct ftr_ftrace_page page;
	struct ftr_ftrace_event *event;	/* NULL: the page's loss is to be reported */
	uint64_t time_ns;	/* never less than the one before */
	bool is_inside;		/* of a page */
	bool is_sole;		/* the page has none of other tasks */
	bool is_ended;
};

struct kernel_source {
	struct ftr_source base;
	struct ftr_ftrace_pages *pages;
	struct ftr_ftrace_task *task;	/* (nullable: all tasks) */
	struct cursor *current; /* (nullable) the one whose event is first, up to limit_ns */
	uint64_t limit_ns;
	bool is_back_reported;
	struct ftr_strbuf bytes;	/* of the batch's payloads */
	struct ftr_event batch[BATCH];
	struct ftr_payload payloads[BATCH];
	size_t cursor_nr;
	struct cursor cursors[];
};

/* ---- one CPU ---- */

static uint64_t page_nr(const struct cursor *cursor)
{
	return (cursor->cpu->bytes + cursor->cpu->page_bytes - 1) / cursor->cpu->page_bytes;
}

/* All pages, for a source of all tasks; their losses are reported by who was there. */
static bool cursor_has_page(const struct cursor *cursor)
{
	return cursor->page_pos <
	       (cursor->index != NULL ? cursor->index->pages.nr : page_nr(cursor));
}

/* The task of the page's first event; NULL = none. */
static struct ftr_ftrace_task *page_owner(const struct kernel_source *self,
					  const struct cursor *cursor)
{
	const struct ftr_ftrace_pages *pages = self->pages;
	struct ftr_ftrace_page page = cursor->page;
	struct ftr_ftrace_task *task = NULL;
	uint32_t id;

	while (task == NULL && ftr_ftrace_page_next(&page)) {
		const struct ftr_ftrace_event *event = ftr_ftrace_page_event(&page, &id);

		if (event != NULL && ftr_ftrace_fits(&page, event))
			task = pages->owner->task(pages->arg, cursor->cpu, &page, event);
	}
	return task;
}

/* The task that reports the loss before the page: the last seen, or else its own; NULL = none. */
static struct ftr_ftrace_task *loss_owner(const struct kernel_source *self,
					  const struct cursor *cursor)
{
	const struct ftr_ftrace_owner *owner = self->pages->owner;
	struct ftr_ftrace_task *task = cursor->task;

	if (task == NULL)
		task = page_owner(self, cursor);
	if (task == NULL && owner->first != NULL)
		task = owner->first(self->pages->arg, cursor->cpu);
	return task;
}

/* Into the next page.  True: it has a loss to report, which is the event then. */
static bool cursor_page(struct kernel_source *self, struct cursor *cursor)
{
	const struct ftr_ftrace_cpu *cpu = cursor->cpu;
	uint32_t number = cursor->index != NULL ? cursor->index->pages.v[cursor->page_pos] :
						  (uint32_t)cursor->page_pos;
	size_t offset = (size_t)(number & FTR_FTRACE_PAGE_NR) * cpu->page_bytes;

	cursor->page_pos++;
	cursor->is_sole = cursor->index != NULL && (number & FTR_FTRACE_PAGE_SOLE) != 0;
	if (cursor->page.start != NULL)
		ftr_ftrace_cpu_pass(cpu, (size_t)(cursor->page.start - cpu->data), offset);
	cursor->is_inside = ftr_ftrace_page_open(&cursor->page, self->pages->ftrace,
						 cpu->page_bytes, cpu->data + offset,
						 cpu->bytes - offset);
	if (!cursor->is_inside)
		return false;
	if (cursor->index != NULL)
		return (number & FTR_FTRACE_PAGE_LOST) != 0;
	if (cursor->page.has_lost)
		cursor->task = loss_owner(self, cursor);
	return cursor->page.has_lost && cursor->task != NULL;
}

static bool cursor_event(struct kernel_source *self, struct cursor *cursor)
{
	const struct ftr_ftrace_pages *pages = self->pages;
	struct ftr_ftrace_event *event;
	struct ftr_ftrace_task *task;
	uint32_t id;

	while (ftr_ftrace_page_next(&cursor->page)) {
		event = ftr_ftrace_page_event(&cursor->page, &id);
		if (event == NULL || !ftr_ftrace_fits(&cursor->page, event))
			continue;
		task = self->task;
		if (!cursor->is_sole)
			task = pages->owner->task(pages->arg, cursor->cpu, &cursor->page, event);
		if (task == NULL || (self->task != NULL && task != self->task))
			continue;
		cursor->event = event;
		cursor->task = task;
		return true;
	}
	cursor->is_inside = false;
	return false;
}

static void cursor_time(struct kernel_source *self, struct cursor *cursor)
{
	const struct ftr_ftrace_cpu *cpu = cursor->cpu;
	uint64_t time_ns = cursor->page.time_ns;

	if (self->pages->owner->time_ns != NULL)
		time_ns = self->pages->owner->time_ns(self->pages->arg, cpu, time_ns);
	if (time_ns >= cursor->time_ns) {
		cursor->time_ns = time_ns;
		return;
	}
	if (!self->is_back_reported)
		ftr_diag_warn(self->pages->ftrace->trace->diag,
			      "%s+0x%llx: time goes backwards by %llu ns; clamped (further "
			      "occurrences not reported)",
			      cpu->name,
			      (unsigned long long)cpu->offset +
				      (unsigned long long)(cursor->page.next - cpu->data),
			      (unsigned long long)(cursor->time_ns - time_ns));
	self->is_back_reported = true;
}

static void cursor_next(struct kernel_source *self, struct cursor *cursor)
{
	cursor->event = NULL;
	while (!cursor->is_inside || !cursor_event(self, cursor)) {
		cursor->is_ended = !cursor_has_page(cursor);
		if (cursor->is_ended)
			return;
		if (cursor_page(self, cursor))
			break;
	}
	cursor_time(self, cursor);
}

/* ---- all of them ---- */

/*
 * The cursor whose event is first; the last one's stays so as long as no other's is before.  NULL:
 * the end.
 */
static struct cursor *cursor_first(struct kernel_source *self)
{
	struct cursor *first = NULL;

	if (self->current != NULL && !self->current->is_ended &&
	    self->current->time_ns <= self->limit_ns)
		return self->current;
	self->limit_ns = UINT64_MAX;
	for (size_t i = 0; i < self->cursor_nr; i++) {
		struct cursor *cursor = &self->cursors[i];

		if (cursor->is_ended)
			continue;
		if (first == NULL || cursor->time_ns < first->time_ns) {
			if (first != NULL)
				self->limit_ns = first->time_ns;
			first = cursor;
		} else if (cursor->time_ns < self->limit_ns) {
			self->limit_ns = cursor->time_ns;
		}
	}
	self->current = first;
	return first;
}

/* The text begins at @start until the batch is whole: it may move. */
static void payload_set(struct kernel_source *self, struct ftr_event *ev, size_t start)
{
	struct ftr_payload *payload = &self->payloads[ev - self->batch];

	*payload = (struct ftr_payload){
		.data = (const uint8_t *)(uintptr_t)start,
		.len = (uint16_t)(self->bytes.len - start),
	};
	ev->payload = payload;
}

/* Asked once for a kind of event. */
static bool wants_text(const struct ftr_trace *trace, struct ftr_ftrace_event *event)
{
	if (trace->wants_text == NULL)
		return true;
	if (event->text_wanted == FTR_FTRACE_WANTED_UNKNOWN)
		event->text_wanted = trace->wants_text(event->name) ? FTR_FTRACE_WANTED :
								      FTR_FTRACE_UNWANTED;
	return event->text_wanted == FTR_FTRACE_WANTED;
}

static const char *instance_of(const struct ftr_ftrace_pages *pages, const struct cursor *cursor)
{
	return pages->owner->instance == NULL ? NULL :
						pages->owner->instance(pages->arg, cursor->cpu);
}

/* For who keeps records. */
static bool wants_record(const struct ftr_ftrace *ftrace, const struct cursor *cursor)
{
	const struct ftr_ftrace_event *event = cursor->event;

	return cursor->page.bytes <= ftrace->trace->record_max && event->is_portable &&
	       (event->printk.bytes == 0 || ftrace->kernel.printk_formats.len > 0);
}

/* As it lies in the page. */
static void record_fill(struct kernel_source *self, const struct cursor *cursor,
			struct ftr_event *ev)
{
	const struct ftr_ftrace *ftrace = self->pages->ftrace;
	const struct ftr_ftrace_event *event = cursor->event;

	self->payloads[ev - self->batch] = (struct ftr_payload){
		.data = cursor->page.data, .len = (uint16_t)cursor->page.bytes,
		.is_big_endian = ftrace->layout.is_big, .tracepoint = &event->tracepoint,
		.instance = instance_of(self->pages, cursor), .cpu_nr = cursor->cpu->cpu_nr,
	};
	ev->payload = &self->payloads[ev - self->batch];
}

static int point_fill(struct kernel_source *self, const struct cursor *cursor, struct ftr_event *ev)
{
	const struct ftr_ftrace_pages *pages = self->pages;
	size_t start = self->bytes.len;
	const char *instance;
	int ret;

	ev->type = FTR_EVENT_POINT;
	ev->point.id = cursor->event->id;
	ev->point.name = cursor->event->name;
	ev->point.cpu_nr = cursor->cpu->cpu_nr;
	if (wants_record(pages->ftrace, cursor)) {
		record_fill(self, cursor, ev);
		return 0;
	}
	if (!wants_text(pages->ftrace->trace, cursor->event))
		return 0;
	instance = instance_of(pages, cursor);
	if (instance != NULL)
		ftr_strbuf_printf(&self->bytes, "%s: ", instance);
	ret = ftr_ftrace_text(pages->ftrace, &cursor->page, cursor->event, &self->bytes);
	payload_set(self, ev, start);
	return ret;
}

static int call_fill(struct kernel_source *self, const struct cursor *cursor, struct ftr_event *ev)
{
	ev->type = cursor->event->kind == FTR_FTRACE_ENTRY ? FTR_EVENT_ENTRY : FTR_EVENT_EXIT;
	ev->depth = FTR_DEPTH_UNKNOWN;
	ev->call.addr = ftr_ftrace_number(&cursor->page, cursor->event->func);
	ev->call.func = ftr_ftrace_func(self->pages->ftrace, ev->call.addr);
	/* Beside calls of programs, which a writer makes alike, it could not keep them apart. */
	if (self->pages->ftrace->trace->record_long_bytes != 0 &&
	    wants_record(self->pages->ftrace, cursor))
		record_fill(self, cursor, ev);
	return ev->call.func == NULL ? -ENOMEM : 0;
}

/* The kernel does not always count them. */
static void lost_fill(const struct cursor *cursor, struct ftr_event *ev)
{
	ev->type = FTR_EVENT_LOST;
	ev->lost.nr = cursor->page.lost_nr;
	ev->lost.cpu_nr = cursor->cpu->cpu_nr;
	ev->lost.source = FTR_LOST_OF_KERNEL;
}

static int event_fill(struct kernel_source *self, const struct cursor *cursor, struct ftr_event *ev)
{
	*ev = (struct ftr_event){ .time_ns = cursor->time_ns, .task = cursor->task->task };
	if (cursor->event == NULL) {
		lost_fill(cursor, ev);
		return 0;
	}
	if (cursor->event->kind == FTR_FTRACE_POINT)
		return point_fill(self, cursor, ev);
	return call_fill(self, cursor, ev);
}

static ssize_t kernel_source_next(struct ftr_source *source, struct ftr_event **evs,
				  struct ftr_err *err)
{
	struct kernel_source *self = (struct kernel_source *)source;
	struct cursor *cursor;
	size_t nr = 0;

	ftr_strbuf_clear(&self->bytes);
	while (nr < BATCH && (cursor = cursor_first(self)) != NULL) {
		if (event_fill(self, cursor, &self->batch[nr++]) < 0)
			return ftr_err_set(err, ENOMEM, "%s: out of memory", cursor->cpu->name);
		cursor_next(self, cursor);
	}
	for (size_t i = 0; i < nr; i++) {
		if (self->batch[i].payload != NULL && self->payloads[i].tracepoint == NULL)
			self->payloads[i].data = (const uint8_t *)ftr_strbuf_str(&self->bytes) +
						 (uintptr_t)self->payloads[i].data;
	}
	*evs = self->batch;
	return (ssize_t)nr;
}

static void kernel_source_free(struct ftr_source *source)
{
	struct kernel_source *self = (struct kernel_source *)source;

	ftr_strbuf_fini(&self->bytes);
	free(self);
}

static const struct ftr_source_ops kernel_source_ops = {
	.next = kernel_source_next,
	.free = kernel_source_free,
};

static void cursors_begin(struct kernel_source *self)
{
	for (size_t i = 0; i < self->cursor_nr; i++) {
		struct cursor *cursor = &self->cursors[i];

		cursor->task = self->task;
		cursor->index = self->task == NULL ? NULL : &self->task->cpus.v[i];
		cursor->cpu = &self->pages->cpus.v[cursor->index == NULL ? i : cursor->index->cpu];
		cursor_next(self, cursor);
	}
}

struct ftr_source *ftr_ftrace_source(struct ftr_ftrace_pages *pages, struct ftr_ftrace_task *task)
{
	size_t cursor_nr = task == NULL ? pages->cpus.nr : task->cpus.nr;
	struct kernel_source *self = calloc(1, sizeof(*self) +
						       cursor_nr * sizeof(self->cursors[0]));

	assert(task == NULL || pages->owner->is_indexed);
	if (self == NULL)
		return NULL;
	self->base.ops = &kernel_source_ops;
	self->pages = pages;
	self->task = task;
	self->cursor_nr = cursor_nr;
	ftr_strbuf_init(&self->bytes);
	cursors_begin(self);
	return &self->base;
}

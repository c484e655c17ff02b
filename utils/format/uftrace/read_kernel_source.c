/* SPDX-License-Identifier: MIT */
/* The kernel's events of one task, on all CPUs, by time. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "utils/format/uftrace/uftrace.h"
#include "utils/format/uftrace/read_kernel.h"

#define BATCH 64	/* events: there may be thousands of tasks, each with a batch */

/* One CPU's pages, and the task's next event there. */
struct cursor {
	const struct uft_kernel_file *file;
	const struct uft_kernel_pages *pages;
	size_t page_pos;	/* of the page after this one */
	struct ftr_ftrace_page page;
	const struct ftr_ftrace_event *event;	/* NULL: the page's loss is to be reported */
	uint64_t time_ns;	/* never less than the one before */
	bool is_inside;		/* of a page */
	bool is_ended;
};

struct kernel_source {
	struct ftr_source base;
	struct uft_reader *reader;
	struct uft_task *task;
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

/* Into the next page.  True: it has a loss to report, which is the event then. */
static bool cursor_page(struct cursor *cursor, const struct uft_kernel *kernel)
{
	uint32_t number = cursor->pages->pages.v[cursor->page_pos++];
	size_t offset = (size_t)(number & ~UFT_PAGE_LOST) * kernel->ftrace.layout.page_bytes;

	if (cursor->page.start != NULL)
		uft_kernel_file_pass(cursor->file,
				     (size_t)(cursor->page.start - cursor->file->in.data), offset);
	cursor->is_inside = ftr_ftrace_page_open(&cursor->page, &kernel->ftrace,
						 cursor->file->in.data + offset,
						 cursor->file->in.size - offset);
	return cursor->is_inside && (number & UFT_PAGE_LOST);
}

static bool cursor_event(struct kernel_source *self, struct cursor *cursor)
{
	const struct ftr_ftrace_event *event;
	uint32_t id;

	while (ftr_ftrace_page_next(&cursor->page)) {
		event = ftr_ftrace_page_event(&cursor->page, &id);
		if (event == NULL || !ftr_ftrace_fits(&cursor->page, event) ||
		    uft_kernel_owner(self->reader, &cursor->page, event) != self->task)
			continue;
		cursor->event = event;
		return true;
	}
	cursor->is_inside = false;
	return false;
}

static void cursor_time(struct kernel_source *self, struct cursor *cursor)
{
	if (cursor->page.time_ns >= cursor->time_ns) {
		cursor->time_ns = cursor->page.time_ns;
		return;
	}
	if (!self->is_back_reported)
		ftr_diag_warn(self->reader->trace->diag,
			      "%s+0x%zx: time goes backwards by %llu ns; clamped (further "
			      "occurrences not reported)",
			      cursor->file->in.name,
			      (size_t)(cursor->page.next - cursor->file->in.data),
			      (unsigned long long)(cursor->time_ns - cursor->page.time_ns));
	self->is_back_reported = true;
}

static void cursor_next(struct kernel_source *self, struct cursor *cursor)
{
	cursor->event = NULL;
	while (!cursor->is_inside || !cursor_event(self, cursor)) {
		cursor->is_ended = cursor->page_pos == cursor->pages->pages.nr;
		if (cursor->is_ended)
			return;
		if (cursor_page(cursor, self->reader->kernel))
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

static int point_fill(struct kernel_source *self, const struct cursor *cursor, struct ftr_event *ev)
{
	size_t start = self->bytes.len;
	int ret = ftr_ftrace_text(&self->reader->kernel->ftrace, &cursor->page, cursor->event,
				  &self->bytes);

	ev->type = FTR_EVENT_POINT;
	ev->point.id = cursor->event->id;
	ev->point.name = cursor->event->name;
	ev->point.cpu_nr = cursor->file->cpu_nr;
	payload_set(self, ev, start);
	return ret;
}

static int call_fill(struct kernel_source *self, const struct cursor *cursor, struct ftr_event *ev)
{
	ev->type = cursor->event->kind == FTR_FTRACE_ENTRY ? FTR_EVENT_ENTRY : FTR_EVENT_EXIT;
	ev->depth = FTR_DEPTH_UNKNOWN;
	ev->call.addr = ftr_ftrace_number(&cursor->page, cursor->event->func);
	ev->call.func = ftr_ftrace_func(&self->reader->kernel->ftrace, ev->call.addr);
	return ev->call.func == NULL ? -ENOMEM : 0;
}

/* The kernel does not always count them. */
static void lost_fill(const struct cursor *cursor, struct ftr_event *ev)
{
	ev->type = FTR_EVENT_LOST;
	ev->lost.nr = cursor->page.lost_nr;
	ev->lost.cpu_nr = cursor->file->cpu_nr;
	ev->lost.source = FTR_LOST_OF_KERNEL;
}

static int event_fill(struct kernel_source *self, const struct cursor *cursor, struct ftr_event *ev)
{
	*ev = (struct ftr_event){ .time_ns = cursor->time_ns, .task = self->task->task };
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
			return ftr_err_set(err, ENOMEM, "%s: out of memory", cursor->file->in.name);
		cursor_next(self, cursor);
	}
	for (size_t i = 0; i < nr; i++) {
		if (self->batch[i].payload != NULL)
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

struct ftr_source *uft_kernel_source(struct uft_reader *reader, struct uft_task *task)
{
	struct kernel_source *self = calloc(1, sizeof(*self) +
						       task->kernel.nr * sizeof(self->cursors[0]));

	assert(task->kernel.nr > 0);
	if (self == NULL)
		return NULL;
	self->base.ops = &kernel_source_ops;
	self->reader = reader;
	self->task = task;
	ftr_strbuf_init(&self->bytes);
	self->cursor_nr = task->kernel.nr;
	for (size_t i = 0; i < self->cursor_nr; i++) {
		self->cursors[i].pages = &task->kernel.v[i];
		self->cursors[i].file = &reader->kernel->files.v[task->kernel.v[i].file];
		cursor_next(self, &self->cursors[i]);
	}
	return &self->base;
}

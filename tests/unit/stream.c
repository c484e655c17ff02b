/* SPDX-License-Identifier: MIT */
/* Streams as text, for the tests of what works on streams. */
#include "tests/unit/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/proto/record.h"
#include "utils/trace/event_kind.h"

struct stream {
	struct ftr_source base;
	FTR_VEC(struct ftr_event) evs;
	size_t pos;
	size_t batch;
};

static ssize_t stream_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct stream *self = (struct stream *)source;
	size_t left = self->evs.nr - self->pos;
	size_t nr = left < self->batch ? left : self->batch;

	*evs = nr == 0 ? NULL : &self->evs.v[self->pos];
	self->pos += nr;
	return (ssize_t)nr;
}

static void stream_free(struct ftr_source *source)
{
	ftr_vec_fini(&((struct stream *)source)->evs);
	free(source);
}

static const struct ftr_source_ops stream_ops = {
	.next = stream_next,
	.free = stream_free,
};

static void word_call(struct ftr_event *ev, struct ftr_trace *trace, const char *text)
{
	size_t len = strcspn(text, "()");

	ev->type = text[len] == '(' ? FTR_EVENT_ENTRY : FTR_EVENT_EXIT;
	ev->call.func = ftr_trace_func_by_name(trace, NULL, text, len);
	ev->depth = text[len + 1] == '@' ? (uint32_t)atoi(text + len + 2) : FTR_DEPTH_UNKNOWN;
}

static void word_stack(struct ftr_event *ev, const char *text)
{
	char *rest;
	uint32_t nr = (uint32_t)strtoul(text, &rest, 10);
	bool is_new = *rest == '+';

	ev->type = FTR_EVENT_POINT;
	ev->point.id = ftr_record_stack_id(nr, is_new,
					   is_new ? (uint32_t)strtoul(rest + 1, NULL, 10) : 0);
	ev->point.name = "stack";
}

static void word_event(struct ftr_event *ev, struct ftr_trace *trace, const char *text)
{
	if (text[0] == '!') {
		ev->type = FTR_EVENT_LOST;
		ev->lost.nr = strtoull(text + 1, NULL, 10);
	} else if (strcmp(text, "out") == 0 || strcmp(text, "in") == 0) {
		ev->type = FTR_EVENT_POINT;
		ev->point.id = text[0] == 'o' ? FTR_EVENT_ID_SCHED_OUT : FTR_EVENT_ID_SCHED_IN;
		ev->point.name = text[0] == 'o' ? "out" : "in";
	} else if (text[0] == '=') {
		word_stack(ev, text + 1);
	} else if (strncmp(text, "end@", 4) == 0) {
		ev->type = FTR_EVENT_POINT;
		ev->point.kind = FTR_POINT_ASYNC_END;
		ev->point.start_ns = strtoull(text + 4, NULL, 10);
		ev->point.name = "end";
	} else {
		word_call(ev, trace, text);
	}
}

struct ftr_source *stream_new(struct ftr_trace *trace, const char *words, size_t batch)
{
	struct stream *self = calloc(1, sizeof(*self));
	struct ftr_task *task = ftr_trace_task_get(trace, 1, 1);
	char *copy = strdup(words);
	char *save = NULL;

	self->base.ops = &stream_ops;
	self->batch = batch;
	for (char *word = strtok_r(copy, " ", &save); word != NULL;
	     word = strtok_r(NULL, " ", &save)) {
		struct ftr_event ev = { .task = task };
		char *text;

		if (word[0] == 'T') {
			task = ftr_trace_task_get(trace, 1, atoi(word + 1));
			continue;
		}
		ev.time_ns = strtoull(word, &text, 10);
		word_event(&ev, trace, text + 1);
		if (ftr_vec_push(&self->evs, ev) < 0)
			abort();
	}
	free(copy);
	return &self->base;
}

static void event_text(const struct ftr_event *ev, bool has_details, struct ftr_strbuf *text)
{
	ftr_strbuf_printf(text, "%llu:", (unsigned long long)ev->time_ns);
	if (ev->type == FTR_EVENT_LOST)
		ftr_strbuf_printf(text, "!%llu", (unsigned long long)ev->lost.nr);
	else if (ev->type == FTR_EVENT_POINT)
		ftr_strbuf_puts(text, ev->point.name);
	else if (ev->type == FTR_EVENT_FORK)
		ftr_strbuf_printf(text, "fork%d", ev->fork.peer->tid);
	else
		ftr_strbuf_printf(text, "%s%c", ev->call.func->name,
				  ev->type == FTR_EVENT_ENTRY ? '(' : ')');
	if (ev->flags & FTR_EVENT_INFERRED)
		ftr_strbuf_putc(text, '~');
	if (ev->flags & FTR_EVENT_UNFINISHED)
		ftr_strbuf_putc(text, '?');
	if (ev->flags & FTR_EVENT_NO_ENTRY)
		ftr_strbuf_putc(text, '<');
	if (!has_details)
		return;
	ftr_strbuf_printf(text, "d%u", ev->depth);
	if (ev->type == FTR_EVENT_EXIT)
		ftr_strbuf_printf(text, "=%llu-%llu",
				  (unsigned long long)(ev->time_ns - ev->call.start_ns),
				  (unsigned long long)ev->call.child_ns);
}

void stream_text(struct ftr_source *source, bool has_details, struct ftr_strbuf *text)
{
	const struct ftr_task *task = NULL;
	struct ftr_err err = { 0 };
	struct ftr_event *evs;
	ssize_t nr;

	while ((nr = ftr_source_next(source, &evs, &err)) > 0) {
		for (ssize_t i = 0; i < nr; i++) {
			if (text->len > 0)
				ftr_strbuf_putc(text, ' ');
			if (task != NULL && task != evs[i].task)
				ftr_strbuf_printf(text, "T%d ", evs[i].task->tid);
			task = evs[i].task;
			event_text(&evs[i], has_details, text);
		}
	}
	if (nr < 0)
		ftr_strbuf_printf(text, " error: %s", err.text);
	ftr_source_free(source);
}

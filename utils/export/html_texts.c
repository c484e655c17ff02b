/* SPDX-License-Identifier: MIT */
/* Arguments and return values of a page's calls. */
#include "utils/export/html_texts.h"

#include "utils/export/html_spans.h"
#include "utils/trace/args.h"
#include "utils/trace/event.h"
#include "utils/trace/session.h"
#include "utils/trace/task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 2000u		/* bytes of one, beyond it is cut */
#define NO_ROOM	 UINT32_MAX	/* as a span's text, until the end: it would have one */

/* What an open call was given, until it is known whether it will be shown. */
struct args {
	struct ftr_payload payload;	/* spec NULL: nothing */
	FTR_VEC(uint8_t) bytes;		/* its data */
};

struct ftr_html_texts_task {
	FTR_VEC(struct args) open;	/* by depth */
};

void ftr_html_texts_init(struct ftr_html_texts *texts, const struct ftr_trace *trace,
			 struct ftr_html_spans *spans, size_t bytes_max)
{
	*texts = (struct ftr_html_texts){ .trace = trace, .spans = spans, .bytes_max = bytes_max };
	ftr_strpool_init(&texts->pool);
	ftr_strbuf_init(&texts->text);
}

static void task_free(struct ftr_html_texts_task *task)
{
	if (task == NULL)
		return;
	for (size_t i = 0; i < task->open.nr; i++)
		ftr_vec_fini(&task->open.v[i].bytes);
	ftr_vec_fini(&task->open);
	free(task);
}

void ftr_html_texts_fini(struct ftr_html_texts *texts)
{
	for (size_t i = 0; i < texts->tasks.nr; i++)
		task_free(texts->tasks.v[i]);
	ftr_vec_fini(&texts->tasks);
	ftr_vec_fini(&texts->strs);
	ftr_strpool_fini(&texts->pool);
	ftr_strbuf_fini(&texts->text);
}

static bool has_values(const struct ftr_event *ev)
{
	return ev->payload != NULL && ev->payload->spec != NULL;
}

/* ---- open calls ---- */

/* NULL: nothing is known of it. */
static struct args *args_find(const struct ftr_html_texts *texts, const struct ftr_event *ev)
{
	const struct ftr_html_texts_task *task =
		ev->task->id < texts->tasks.nr ? texts->tasks.v[ev->task->id] : NULL;

	return task != NULL && ev->depth < task->open.nr ? &task->open.v[ev->depth] : NULL;
}

static struct args *args_make(struct ftr_html_texts *texts, const struct ftr_event *ev)
{
	struct ftr_html_texts_task **task;

	if (ftr_vec_reach(&texts->tasks, ev->task->id) < 0)
		return NULL;
	task = &texts->tasks.v[ev->task->id];
	if (*task == NULL)
		*task = calloc(1, sizeof(**task));
	if (*task == NULL)
		return NULL;
	if (ftr_vec_reach(&(*task)->open, ev->depth) < 0)
		return NULL;
	return &(*task)->open.v[ev->depth];
}

/* The payload lives until the next batch only. */
static int take_entry(struct ftr_html_texts *texts, const struct ftr_event *ev)
{
	struct args *args = args_find(texts, ev);

	if (!has_values(ev)) {
		if (args != NULL)
			args->payload.spec = NULL;
		return 0;
	}
	if (ev->depth >= texts->spans->depth_max)
		return 0;
	args = args_make(texts, ev);
	if (args == NULL || ftr_vec_reserve(&args->bytes, ev->payload->len) < 0)
		return -ENOMEM;
	args->payload = *ev->payload;
	if (ev->payload->len > 0)
		memcpy(args->bytes.v, ev->payload->data, ev->payload->len);
	args->payload.data = args->bytes.v;
	return 0;
}

/* ---- texts ---- */

/* *number: that of texts->text, plus 1. */
static int text_add(struct ftr_html_texts *texts, uint32_t *number)
{
	const struct ftr_str *str =
		ftr_strpool_get(&texts->pool, ftr_strbuf_str(&texts->text), texts->text.len);

	if (str == NULL)
		return -ENOMEM;
	*number = str->id + 1;
	if (str->id < texts->strs.nr)
		return 0;
	texts->bytes += str->len;
	return ftr_vec_push(&texts->strs, str);
}

/* Give a text's number in the old list that in the new one. */
static int text_move(struct ftr_html_texts *to, const struct ftr_html_texts *from, uint32_t *number)
{
	const struct ftr_str *str = from->strs.v[*number - 1];

	ftr_strbuf_clear(&to->text);
	ftr_strbuf_put(&to->text, str->s, str->len);
	return to->text.failed ? -ENOMEM : text_add(to, number);
}

static int row_sweep(struct ftr_html_texts *next, const struct ftr_html_texts *texts,
		     struct ftr_html_row *row)
{
	int ret = 0;

	for (size_t i = 0; i < row->spans.nr && ret == 0; i++) {
		uint32_t *number = &row->spans.v[i].text;

		if (*number != 0 && *number != NO_ROOM)
			ret = text_move(next, texts, number);
	}
	return ret;
}

/* Drop the texts of spans that are no more. */
static int sweep(struct ftr_html_texts *texts)
{
	struct ftr_html_texts next;
	int ret = 0;

	ftr_html_texts_init(&next, texts->trace, texts->spans, texts->bytes_max);
	for (size_t i = 0; i < texts->spans->tasks.nr; i++) {
		const struct ftr_html_task *task = &texts->spans->tasks.v[i];

		for (size_t depth = 0; depth < task->rows.nr && ret == 0; depth++)
			ret = row_sweep(&next, texts, &task->rows.v[depth]);
	}
	ftr_vec_fini(&texts->strs);
	ftr_strpool_fini(&texts->pool);
	texts->pool = next.pool;
	texts->strs.v = next.strs.v;
	texts->strs.nr = next.strs.nr;
	texts->strs.cap = next.strs.cap;
	texts->bytes = next.bytes;
	ftr_strbuf_fini(&next.text);
	return ret;
}

/* Is there room, now or after sweeping?  Not twice for nothing: that takes as long as all spans. */
static int make_room(struct ftr_html_texts *texts)
{
	int ret = 0;

	if (texts->bytes < texts->bytes_max)
		return 0;
	if (!texts->is_full || texts->full_bits != texts->spans->grain_bits) {
		ret = sweep(texts);
		texts->is_full = texts->bytes > texts->bytes_max / 2;
		texts->full_bits = texts->spans->grain_bits;
	}
	return ret;
}

static void format(struct ftr_html_texts *texts, const struct ftr_event *ev,
		   const struct ftr_payload *args)
{
	struct ftr_trace *trace = (struct ftr_trace *)texts->trace;
	struct ftr_strbuf *text = &texts->text;

	ftr_strbuf_clear(text);
	if (args != NULL) {
		ftr_strbuf_putc(text, '(');
		ftr_payload_format(args, trace,
				   ftr_task_session_at(ev->task, ev->call.start_ns), text);
		ftr_strbuf_putc(text, ')');
	}
	if (has_values(ev)) {
		ftr_strbuf_puts(text, " = ");
		ftr_payload_format(ev->payload, trace, ftr_task_session_at(ev->task, ev->time_ns),
				   text);
	}
	if (text->len > TEXT_MAX) {
		text->len = TEXT_MAX;
		ftr_strbuf_puts(text, "...");
	}
}

static int take_exit(struct ftr_html_texts *texts, const struct ftr_event *ev, uint32_t *number)
{
	struct args *args = args_find(texts, ev);
	bool has_args = args != NULL && args->payload.spec != NULL;
	struct ftr_payload payload;

	if (has_args) {
		payload = args->payload;
		args->payload.spec = NULL;
	}
	if (!has_args && !has_values(ev))
		return 0;
	*number = NO_ROOM;
	if (ftr_html_spans_is_short(texts->spans, ev->time_ns - ev->call.start_ns))
		return 0;
	if (make_room(texts) < 0)
		return -ENOMEM;
	if (texts->bytes >= texts->bytes_max)
		return 0;
	format(texts, ev, has_args ? &payload : NULL);
	return texts->text.failed ? -ENOMEM : text_add(texts, number);
}

int ftr_html_texts_event(struct ftr_html_texts *texts, const struct ftr_event *ev, uint32_t *number)
{
	*number = 0;
	if (ev->type == FTR_EVENT_ENTRY)
		return take_entry(texts, ev);
	return ev->type == FTR_EVENT_EXIT ? take_exit(texts, ev, number) : 0;
}

static uint64_t row_count_left_out(struct ftr_html_row *row)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < row->spans.nr; i++) {
		if (row->spans.v[i].text != NO_ROOM)
			continue;
		row->spans.v[i].text = 0;
		nr++;
	}
	return nr;
}

int ftr_html_texts_end(struct ftr_html_texts *texts)
{
	for (size_t i = 0; i < texts->spans->tasks.nr; i++) {
		const struct ftr_html_task *task = &texts->spans->tasks.v[i];

		for (size_t depth = 0; depth < task->rows.nr; depth++)
			texts->left_out += row_count_left_out(&task->rows.v[depth]);
	}
	return sweep(texts);
}

/* SPDX-License-Identifier: MIT */
/* What a page that is served asks for: the spans of a part of the trace, and more about a call. */
#include "utils/export/html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/ostream.h"
#include "utils/base/vec.h"
#include "utils/export/html_put.h"
#include "utils/export/html_spans.h"
#include "utils/trace/args.h"
#include "utils/trace/func.h"
#include "utils/trace/session.h"
#include "utils/trace/sink.h"
#include "utils/trace/task.h"

/* ---- a part ---- */

struct part_sink {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	const struct ftr_html_part *part;
	struct ftr_html_spans spans;
	FTR_VEC(const struct ftr_func *) funcs;	/* (borrowed, nullable) by name_id */
	struct ftr_ostream text;	/* a string to be escaped */
};

static int no_memory(const struct ftr_sink *sink)
{
	return ftr_err_set(sink->err, ENOMEM, "html: out of memory");
}

static int func_note(struct part_sink *self, const struct ftr_func *func)
{
	if (ftr_vec_reach(&self->funcs, func->name_id) < 0)
		return -ENOMEM;
	self->funcs.v[func->name_id] = func;
	return 0;
}

static int part_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	struct part_sink *self = (struct part_sink *)sink;

	(void)trace;
	self->part = sink->values;
	ftr_html_spans_init(&self->spans, self->part->span_nr);
	self->spans.first_ns = self->part->from_ns;
	return ftr_ostream_to_memory(&self->text) < 0 ? no_memory(sink) : 0;
}

static uint64_t start_of(const struct ftr_event *ev)
{
	return ev->type == FTR_EVENT_EXIT ? ev->call.start_ns : ev->point.start_ns;
}

static int part_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct part_sink *self = (struct part_sink *)sink;

	if (ev->time_ns > self->part->to_ns || start_of(ev) < self->part->from_ns)
		return 0;
	if (ftr_html_spans_event(&self->spans, ev, 0) < 0 ||
	    (ev->type == FTR_EVENT_EXIT && func_note(self, ev->call.func) < 0))
		return no_memory(sink);
	return 0;
}

static void put_names(struct part_sink *self)
{
	struct ftr_ostream *out = self->base.out;
	const char *separator = "";

	ftr_ostream_puts(out, "\"names\":{");
	for (size_t i = 0; i < self->funcs.nr; i++) {
		const struct ftr_func *func = self->funcs.v[i];

		if (func == NULL)
			continue;
		ftr_ostream_printf(out, "%s\"%zu\":", separator, i);
		ftr_html_put_string(out, &self->text, func->name, func->name_len);
		separator = ",";
	}
	ftr_ostream_puts(out, "},");
}

static int part_end(struct ftr_sink *sink)
{
	struct part_sink *self = (struct part_sink *)sink;
	const char *warning = self->part->warning;
	const char *separator = "";

	ftr_html_spans_end(&self->spans);
	ftr_ostream_puts(sink->out, "{\"warning\":");
	ftr_html_put_string(sink->out, &self->text, warning, strlen(warning));
	ftr_ostream_printf(sink->out, ",\"first\":\"%llu\",\"grain\":%llu,",
			   (unsigned long long)self->part->from_ns,
			   (unsigned long long)ftr_html_spans_grain_ns(&self->spans));
	put_names(self);
	ftr_ostream_puts(sink->out, "\"tasks\":[");
	for (size_t i = 0; i < self->spans.tasks.nr; i++) {
		const struct ftr_html_task *of = &self->spans.tasks.v[i];

		if (of->task == NULL)
			continue;
		ftr_ostream_printf(sink->out, "%s{\"pid\":%d,\"tid\":%d,\"rows\":\"", separator,
				   of->task->pid, of->task->tid);
		ftr_html_spans_put(&self->spans, of, sink->out);
		ftr_ostream_puts(sink->out, "\"}");
		separator = ",";
	}
	ftr_ostream_puts(sink->out, "]}");
	return self->text.code != 0 ? no_memory(sink) : 0;
}

static void part_fini(struct ftr_sink *sink)
{
	struct part_sink *self = (struct part_sink *)sink;

	ftr_html_spans_fini(&self->spans);
	ftr_vec_fini(&self->funcs);
	ftr_ostream_close(&self->text, NULL);
}

const struct ftr_sink_ops ftr_html_part_ops = {
	.size	 = sizeof(struct part_sink),
	.accepts = FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT),
	.begin	 = part_begin,
	.event	 = part_event,
	.end	 = part_end,
	.fini	 = part_fini,
};

/* ---- a call ---- */

struct call_sink {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_trace *trace;
};

static int call_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	((struct call_sink *)sink)->trace = (struct ftr_trace *)trace;
	return 0;
}

static void put_values(struct call_sink *self, const struct ftr_event *ev, struct ftr_strbuf *text)
{
	ftr_strbuf_clear(text);
	if (ev->type == FTR_EVENT_ENTRY)
		ftr_strbuf_putc(text, '(');
	ftr_payload_format(ev->payload, self->trace, ftr_task_session_at(ev->task, ev->time_ns),
			   text);
	if (ev->type == FTR_EVENT_ENTRY)
		ftr_strbuf_putc(text, ')');
}

static int call_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct call_sink *self = (struct call_sink *)sink;
	struct ftr_html_call *call = (struct ftr_html_call *)sink->values;
	bool is_entry = ev->type == FTR_EVENT_ENTRY;

	if (ev->task->tid != call->tid || ev->depth != call->depth ||
	    ev->time_ns != (is_entry ? call->start_ns : call->end_ns) ||
	    (!is_entry && ev->call.start_ns != call->start_ns))
		return 0;
	if (ev->payload != NULL && ev->payload->spec != NULL)
		put_values(self, ev, is_entry ? &call->args : &call->retval);
	if (ev->call.func->src_file != NULL) {
		ftr_strbuf_clear(&call->place);
		ftr_strbuf_printf(&call->place, "%s:%u", ev->call.func->src_file,
				  ev->call.func->src_line);
	}
	return 0;
}

const struct ftr_sink_ops ftr_html_call_ops = {
	.size	 = sizeof(struct call_sink),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT),
	.begin	 = call_begin,
	.event	 = call_event,
};

static void put_text(struct ftr_ostream *out, const char *name, const struct ftr_strbuf *text)
{
	ftr_ostream_puts(out, name);
	ftr_ostream_json_string(out, ftr_strbuf_str(text), text->len);
}

void ftr_html_call_put(const struct ftr_html_call *call, struct ftr_ostream *out)
{
	put_text(out, "{\"args\":", &call->args);
	put_text(out, ",\"retval\":", &call->retval);
	put_text(out, ",\"place\":", &call->place);
	ftr_ostream_putc(out, '}');
}

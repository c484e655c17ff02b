/* SPDX-License-Identifier: MIT */
/* Streams for tests of formats. */
#include "tests/unit/fxt_util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "utils/format/fxt/fxt.h"
#include "utils/base/istream.h"

void writing_begin(struct writing *w, struct ftr_trace *trace, const char *format)
{
	*w = (struct writing){ .trace = trace };
	assert_int_equal(ftr_ostream_to_memory(&w->out), 0);
	w->sink = ftr_sink_new(ftr_format_find(format)->write, &w->out, &w->err);
	assert_non_null(w->sink);
	assert_int_equal(w->sink->ops->begin(w->sink, trace), 0);
}

void writing_event(struct writing *w, const struct ftr_event *ev)
{
	assert_int_equal(w->sink->ops->event(w->sink, ev), 0);
}

static void put_call(struct writing *w, struct ftr_task *task, uint64_t time_ns,
		     const struct ftr_event *shape, const struct ftr_payload *payload)
{
	struct ftr_event ev = *shape;

	ev.time_ns = time_ns;
	ev.task = task;
	ev.payload = payload;
	writing_event(w, &ev);
}

void writing_entry(struct writing *w, struct ftr_task *task, uint64_t time_ns,
		   const struct ftr_func *func, uint32_t depth, const struct ftr_payload *payload)
{
	put_call(w, task, time_ns, &(struct ftr_event){ .type = FTR_EVENT_ENTRY, .call.func = func,
							.depth = depth }, payload);
}

void writing_exit(struct writing *w, struct ftr_task *task, uint64_t time_ns,
		  const struct ftr_func *func, uint32_t depth, const struct ftr_payload *payload)
{
	put_call(w, task, time_ns, &(struct ftr_event){ .type = FTR_EVENT_EXIT, .call.func = func,
							.depth = depth }, payload);
}

void writing_end(struct writing *w)
{
	assert_int_equal(w->sink->ops->end(w->sink), 0);
	assert_int_equal(w->out.code, 0);
}

void writing_free(struct writing *w)
{
	ftr_sink_free(w->sink);
	ftr_ostream_close(&w->out, NULL);
}

void writing_keep(const struct writing *w, const char *name)
{
	const char *dir = getenv("FXT_KEEP");
	char path[512];
	FILE *file;

	if (dir == NULL)
		return;
	snprintf(path, sizeof(path), "%s/%s.fxt", dir, name);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(w->out.buf, 1, w->out.len, file), w->out.len);
	assert_int_equal(fclose(file), 0);
}

struct ftr_task *make_task(struct ftr_trace *trace, int32_t pid, int32_t tid, const char *name)
{
	struct ftr_task *task = ftr_trace_task_get(trace, pid, tid);

	assert_non_null(task);
	task->name = name;
	return task;
}

const struct ftr_func *make_func(struct ftr_trace *trace, const char *module, const char *name)
{
	struct ftr_module *in = module == NULL ? NULL : ftr_trace_module_get(trace, module, NULL);

	return ftr_trace_func_by_name(trace, in, name, strlen(name));
}

const struct ftr_func *make_symbol(struct ftr_trace *trace, const char *module,
				   const struct ftr_symbol *symbol)
{
	return ftr_trace_func_by_symbol(trace, ftr_trace_module_get(trace, module, "ab12"), symbol);
}

static void describe_payload(struct ftr_strbuf *text, struct ftr_trace *trace,
			     const struct ftr_event *ev)
{
	if (ev->payload == NULL)
		return;
	ftr_strbuf_puts(text, " (");
	if (ev->payload->spec != NULL)
		ftr_payload_format(ev->payload, trace, ftr_task_session_at(ev->task, ev->time_ns),
				   text);
	for (unsigned i = 0; ev->payload->spec == NULL && i < ev->payload->len; i++)
		ftr_strbuf_printf(text, "%02x", ev->payload->data[i]);
	ftr_strbuf_putc(text, ')');
}

void describe_event(struct ftr_strbuf *text, struct ftr_trace *trace, const struct ftr_event *ev)
{
	const struct ftr_func *func = ev->call.func;

	if (ev->type == FTR_EVENT_EXIT && (ev->flags & FTR_EVENT_UNFINISHED))
		return;
	ftr_strbuf_printf(text, "%" PRIu64 " %d/%d ", ev->time_ns, ev->task->pid, ev->task->tid);
	switch ((enum ftr_event_type)ev->type) {
	case FTR_EVENT_ENTRY:
	case FTR_EVENT_EXIT:
		ftr_strbuf_printf(text, "%s %u %s ", ev->type == FTR_EVENT_ENTRY ? ">" : "<",
				  ev->depth, func->module == NULL ? "-" : func->module->name);
		ftr_strbuf_put(text, func->name, func->name_len);
		if (func->addr != 0)
			ftr_strbuf_printf(text, " %s %s %" PRIx64 "+%u %c", func->module->path,
					  func->mangled, func->addr, func->size, func->symbol_type);
		if (ev->call.addr != 0 && ev->call.addr != func->addr)
			ftr_strbuf_printf(text, " at %" PRIx64, ev->call.addr);
		break;
	case FTR_EVENT_POINT:
		ftr_strbuf_printf(text, "point %s kind %u id %" PRIu64, ev->point.name,
				  ev->point.kind, ev->point.id);
		if (ftr_event_is_tracepoint(ev))
			ftr_strbuf_printf(text, " cpu %d", ev->point.cpu_nr - 1);
		break;
	case FTR_EVENT_LOST:
		ftr_strbuf_printf(text, "lost %" PRIu64 " of %u cpu %d", ev->lost.nr,
				  ev->lost.source, ev->lost.cpu_nr - 1);
		break;
	case FTR_EVENT_FORK:
		ftr_strbuf_printf(text, "fork %d", ev->fork.peer->tid);
		break;
	case FTR_EVENT_MESSAGE:
		ftr_strbuf_printf(text, "message %s", ev->message.text);
		break;
	case FTR_EVENT_TYPES:
		break;
	}
	describe_payload(text, trace, ev);
	ftr_strbuf_putc(text, '\n');
}

static int pump_events(struct ftr_trace *trace, struct ftr_strbuf *text, size_t task_nr,
		       struct writing *again)
{
	struct ftr_err err = { 0 };
	struct ftr_event *evs;
	uint64_t last_ns = 0;
	ssize_t nr;

	while ((nr = ftr_source_next(trace->sources.v[0], &evs, &err)) > 0) {
		for (ssize_t i = 0; i < nr; i++) {
			assert_true(evs[i].time_ns >= last_ns);
			last_ns = evs[i].time_ns;
			if (text != NULL && evs[i].task->id < task_nr)
				describe_event(&text[evs[i].task->id], trace, &evs[i]);
			if (again != NULL)
				writing_event(again, &evs[i]);
		}
	}
	return (int)nr;
}

static void say(void *arg, const char *text)
{
	print_message("warning: %s\n", text);
}

int reading_sorted(const struct ftr_sort_sizes *sizes, const void *bytes, size_t size,
		   struct ftr_strbuf *text, size_t task_nr, struct writing *again)
{
	struct ftr_diag diag = { .warn = say };
	struct ftr_trace *trace = ftr_trace_new("memory", &diag);
	struct ftr_istream in;
	struct ftr_err err = { 0 };
	int ret;

	ftr_istream_from_memory(&in, "memory.fxt", bytes, size);
	ret = ftr_fxt_read_stream(trace, &in, sizes, &err);
	if (ret == 0 && again != NULL)
		writing_begin(again, trace, "fxt");
	if (ret == 0)
		ret = pump_events(trace, text, task_nr, again);
	if (ret == 0 && again != NULL) {
		writing_end(again);
		ftr_sink_free(again->sink);	/* borrows from the trace */
		again->sink = NULL;
	}
	ftr_trace_free(trace);
	return ret < 0 ? ret : (int)diag.nr;
}

int reading(const void *bytes, size_t size, struct ftr_strbuf *text, size_t task_nr,
	    struct writing *again)
{
	return reading_sorted(NULL, bytes, size, text, task_nr, again);
}

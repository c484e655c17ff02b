/* SPDX-License-Identifier: MIT */
/* replay --json: an object an event. */
#include "utils/view/replay_json.h"

#include <errno.h>
#include <string.h>

#include "utils/base/strbuf.h"
#include "utils/trace/args_text.h"
#include "utils/trace/event_text.h"
#include "utils/trace/trace.h"
#include "utils/view/json.h"

struct json_sink {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	const struct ftr_trace *trace;
	struct ftr_json line;
	struct ftr_strbuf text;
};

static void begin_line(struct json_sink *self, const char *type, const struct ftr_event *ev)
{
	ftr_json_begin(&self->line, self->base.out, type);
	ftr_json_u64(&self->line, "time_ns", ev->time_ns);
	ftr_json_u64(&self->line, "tid", (uint64_t)(uint32_t)ev->task->tid);
}

/* Of an ENTRY "(1, 2)", of an EXIT the value. */
static void put_values(struct json_sink *self, const struct ftr_event *ev)
{
	if (ev->payload == NULL)
		return;
	ftr_strbuf_clear(&self->text);
	ftr_event_args_text(ev, self->trace, false, &self->text);
	ftr_json_string(&self->line, ev->type == FTR_EVENT_ENTRY ? "args" : "retval",
			ftr_strbuf_str(&self->text), self->text.len);
}

static void put_call(struct json_sink *self, const struct ftr_event *ev)
{
	const struct ftr_func *func = ev->call.func;
	bool is_entry = ev->type == FTR_EVENT_ENTRY;

	begin_line(self, is_entry ? "entry" : "exit", ev);
	ftr_json_u64(&self->line, "depth", ev->depth);
	ftr_json_string(&self->line, "func", func->name, func->name_len);
	if (is_entry && func->module != NULL && *func->module->name != '\0')
		ftr_json_text(&self->line, "module", func->module->name);
	if (is_entry && func->src_file != NULL) {
		ftr_json_text(&self->line, "file", func->src_file);
		ftr_json_u64(&self->line, "line", func->src_line);
	}
	if (!is_entry) {
		ftr_json_u64(&self->line, "duration_ns", ev->time_ns - ev->call.start_ns);
		ftr_json_u64(&self->line, "callees_ns", ev->call.child_ns);
	}
	put_values(self, ev);
	if (ev->flags & FTR_EVENT_NO_ENTRY)
		ftr_json_bool(&self->line, "began_before", true);
	if (ev->flags & FTR_EVENT_UNFINISHED)
		ftr_json_bool(&self->line, "unfinished", true);
	if (ev->flags & FTR_EVENT_LEFT)
		ftr_json_bool(&self->line, "left_by_jump", true);
	ftr_json_end(&self->line);
}

static void put_point(struct json_sink *self, const struct ftr_event *ev)
{
	begin_line(self, "event", ev);
	ftr_event_title(ev, &self->text);
	ftr_json_string(&self->line, "name", ftr_strbuf_str(&self->text), self->text.len);
	ftr_strbuf_clear(&self->text);
	ftr_event_data_text(ev, self->trace, true, &self->text);
	if (self->text.len > 0)
		ftr_json_string(&self->line, "data", ftr_strbuf_str(&self->text), self->text.len);
	if (ev->point.start_ns != 0)
		ftr_json_u64(&self->line, "duration_ns", ev->time_ns - ev->point.start_ns);
	if (ev->point.cpu_nr != 0)
		ftr_json_u64(&self->line, "cpu", ev->point.cpu_nr - 1u);
	ftr_json_end(&self->line);
}

/* How many is not known where it is 0. */
static void put_lost(struct json_sink *self, const struct ftr_event *ev)
{
	static const char *const sources[FTR_LOST_SOURCES] = {
		[FTR_LOST_OF_TASK] = "task",
		[FTR_LOST_OF_PERF] = "perf",
		[FTR_LOST_OF_KERNEL] = "kernel",
	};

	begin_line(self, "lost", ev);
	ftr_json_text(&self->line, "of", sources[ev->lost.source]);
	if (ev->lost.nr != 0)
		ftr_json_u64(&self->line, "records", ev->lost.nr);
	if (ev->lost.cpu_nr != 0)
		ftr_json_u64(&self->line, "cpu", ev->lost.cpu_nr - 1u);
	ftr_json_end(&self->line);
}

static void put_fork(struct json_sink *self, const struct ftr_event *ev)
{
	begin_line(self, "fork", ev);
	ftr_json_u64(&self->line, "child", (uint64_t)(uint32_t)ev->fork.peer->tid);
	ftr_json_bool(&self->line, "is_thread", ev->fork.peer->pid == ev->task->pid);
	ftr_json_end(&self->line);
}

static void put_message(struct json_sink *self, const struct ftr_event *ev)
{
	begin_line(self, "message", ev);
	ftr_json_text(&self->line, "text", ev->message.text);
	ftr_json_end(&self->line);
}

static int json_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct json_sink *self = (struct json_sink *)sink;
	static void (*const put[FTR_EVENT_TYPES])(struct json_sink *self,
						  const struct ftr_event *ev) = {
		[FTR_EVENT_ENTRY] = put_call,	 [FTR_EVENT_EXIT] = put_call,
		[FTR_EVENT_POINT] = put_point,	 [FTR_EVENT_LOST] = put_lost,
		[FTR_EVENT_FORK] = put_fork,	 [FTR_EVENT_MESSAGE] = put_message,
	};

	if (sink->out->code != 0)
		return ftr_err_set(sink->err, sink->out->code, "%s: %s", sink->out->name,
				   strerror(sink->out->code));
	put[ev->type](self, ev);
	return self->text.failed ? ftr_err_set(sink->err, ENOMEM, "replay: out of memory") : 0;
}

static int json_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	struct json_sink *self = (struct json_sink *)sink;

	self->trace = trace;
	ftr_strbuf_init(&self->text);
	return 0;
}

static void json_fini(struct ftr_sink *sink)
{
	ftr_strbuf_fini(&((struct json_sink *)sink)->text);
}

static const struct ftr_sink_ops json_ops = {
	.size	 = sizeof(struct json_sink),
	.accepts = FTR_BIT(FTR_EVENT_TYPES) - 1,
	.begin	 = json_begin,
	.event	 = json_event,
	.fini	 = json_fini,
};

struct ftr_sink *replay_json_new(struct ftr_ostream *out, struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&json_ops, out, err);

	if (sink == NULL)
		ftr_err_set(err, ENOMEM, "replay: out of memory");
	return sink;
}

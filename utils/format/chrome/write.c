/* SPDX-License-Identifier: MIT */
/*
 * Chrome JSON ("Trace Event Format"), as uftrace writes it, but with the tid of every task.
 *
 * One line per event, put together from parts that are quoted once per task and per function.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/ostream.h"
#include "utils/base/strbuf.h"
#include "utils/format/chrome/parts.h"
#include "utils/format/format.h"
#include "utils/trace/args.h"
#include "utils/trace/counter.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/event_text.h"
#include "utils/trace/text_ahead.h"
#include "utils/trace/trace.h"

#define TIME_STEP_NS UINT64_C(10000000)	/* the digits above change so rarely that they are kept */
#define TIME_BYTES 24

struct chrome_sink {
	struct ftr_sink base;	/* first: ops receive a pointer to it */
	const struct ftr_trace *trace;
	const char *separator;	/* "" before the first object, ",\n" after */
	uint64_t origin_ns;	/* time of the first event, which is ts 0 */
	bool has_origin;
	struct chrome_parts parts;
	struct ftr_strbuf text;
	uint64_t time_upper;	/* whose digits are kept here */
	size_t time_len;
	char time_digits[TIME_BYTES];
	struct ftr_text_ahead *ahead;	/* (owned, nullable) */
	size_t named_nr;		/* tasks that were known, and named, at the beginning */
	uint32_t out_nr;		/* of them that are off their CPUs */
};

static struct chrome_sink *chrome_of(struct ftr_sink *sink)
{
	return (struct chrome_sink *)sink;
}

static int chrome_no_memory(struct chrome_sink *self)
{
	return ftr_err_set(self->base.err, ENOMEM, "chrome: out of memory");
}

static void put_separator(struct chrome_sink *self)
{
	ftr_ostream_puts(self->base.out, self->separator);
	self->separator = ",\n";
}

static void put_task_metadata(struct chrome_sink *self, const struct ftr_task *task)
{
	static const char *const names[] = { "process_name", "thread_name" };
	struct ftr_ostream *out = self->base.out;

	ftr_strbuf_clear(&self->text);
	ftr_strbuf_printf(&self->text, "[%d] %s", task->tid, task->name);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (i == 0 && !ftr_task_is_main(task))
			continue;	/* a process has one name */
		put_separator(self);
		ftr_ostream_printf(out,
				   "{\"ts\":0,\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\","
				   "\"args\":{\"name\":",
				   task->pid, task->tid, names[i]);
		ftr_ostream_json_string(out, ftr_strbuf_str(&self->text), self->text.len);
		ftr_ostream_puts(out, "}}");
	}
}

/* A task is named in the output before its first event. */
static int task_add_slow(struct chrome_sink *self, const struct ftr_task *task)
{
	put_task_metadata(self, task);
	return chrome_parts_add_task(&self->parts, task) < 0 ? chrome_no_memory(self) : 0;
}

static inline struct chrome_task *task_parts(struct chrome_sink *self,
						   const struct ftr_task *task)
{
	if (__builtin_expect(task->id >= self->parts.tasks.nr ||
			     self->parts.tasks.v[task->id].other.s == NULL, 0)) {
		if (task_add_slow(self, task) < 0)
			return NULL;
	}
	return &self->parts.tasks.v[task->id];
}

static inline const struct chrome_func *func_parts(struct chrome_sink *self,
						   const struct ftr_func *func)
{
	if (__builtin_expect(func->id >= self->parts.funcs.nr ||
			     self->parts.funcs.v[func->id].name.s == NULL, 0)) {
		if (chrome_parts_add_func(&self->parts, func) < 0) {
			chrome_no_memory(self);
			return NULL;
		}
	}
	return &self->parts.funcs.v[func->id];
}

static inline char *put_digits(char *p, uint32_t value, unsigned digits)
{
	for (unsigned i = digits; i > 0; i--) {
		p[i - 1] = (char)('0' + value % 10);
		value /= 10;
	}
	return p + digits;
}

/* Microseconds from the first event on, with three decimals; TIME_BYTES at most. */
static inline char *put_time(struct chrome_sink *self, char *p, uint64_t time_ns)
{
	uint64_t upper;
	uint32_t lower;

	if (__builtin_expect(!self->has_origin, 0)) {
		self->has_origin = true;
		self->origin_ns = time_ns;
	}
	time_ns -= time_ns < self->origin_ns ? time_ns : self->origin_ns;
	upper = time_ns / TIME_STEP_NS;
	lower = (uint32_t)(time_ns % TIME_STEP_NS);
	if (__builtin_expect(upper != self->time_upper, 0)) {
		self->time_upper = upper;
		self->time_len = (size_t)(ftr_fmt_u64(self->time_digits, upper) -
					  self->time_digits);
	}
	if (__builtin_expect(upper == 0, 0)) {
		p = ftr_fmt_u64(p, lower / 1000);
	} else {
		memcpy(p, self->time_digits, CHROME_PART_CHUNK);
		p = put_digits(p + self->time_len, lower / 1000, 4);
	}
	*p++ = '.';
	return put_digits(p, lower % 1000, 3);
}

#define LINE_BYTES 192		/* a line without the function's name, and a chunk for each part */

/* Up to the time; the first event may stand without a comma. */
static inline char *put_line_begin(struct chrome_sink *self, char *p, uint64_t time_ns)
{
	if (__builtin_expect(self->separator[0] != '\0', 1)) {
		memcpy(p, ",\n", 2);
		p += 2;
	}
	self->separator = ",\n";
	memcpy(p, "{\"ts\":", 6);
	return put_time(self, p + 6, time_ns);
}

/* "KEY":"values as replay prints them"; arguments stand in parentheses. */
static void put_values(struct chrome_sink *self, const struct ftr_event *ev, const char *key)
{
	bool has_parentheses = ev->type == FTR_EVENT_ENTRY;

	ftr_strbuf_clear(&self->text);
	if (has_parentheses)
		ftr_strbuf_putc(&self->text, '(');
	ftr_payload_format(ev->payload, (struct ftr_trace *)self->trace,
			   ftr_task_session_at(ev->task, ev->time_ns), &self->text);
	if (has_parentheses)
		ftr_strbuf_putc(&self->text, ')');
	ftr_ostream_puts(self->base.out, key);
	ftr_ostream_json_string(self->base.out, ftr_strbuf_str(&self->text), self->text.len);
}

static void put_call_args(struct chrome_sink *self, const struct ftr_event *ev,
			  const struct chrome_part *srcline)
{
	struct ftr_ostream *out = self->base.out;

	ftr_ostream_puts(out, ",\"args\":{");
	if (ev->payload != NULL)
		put_values(self, ev,
			   ev->type == FTR_EVENT_ENTRY ? "\"arguments\":" : "\"retval\":");
	if (ev->payload != NULL && srcline->len > 0)
		ftr_ostream_putc(out, ',');
	ftr_ostream_write(out, srcline->s, srcline->len);
	ftr_ostream_putc(out, '}');
}

/* The part of a line up to the value of "name", for what is rarer than calls. */
static int put_line(struct chrome_sink *self, const struct ftr_event *ev,
		    const struct ftr_task *task, char phase)
{
	const struct chrome_task *parts = task_parts(self, task);
	struct ftr_ostream *out = self->base.out;
	char *start, *p;

	if (parts == NULL)
		return -ENOMEM;
	start = ftr_ostream_reserve(out, LINE_BYTES);
	p = put_line_begin(self, start, ev->time_ns);
	ftr_ostream_commit(out, (size_t)(p - start));
	ftr_ostream_printf(out, ",\"ph\":\"%c\"", phase);
	ftr_ostream_write(out, parts->other.s, parts->other.len);
	return 0;
}

/*
 * At the task's sched-in, or where that is missing, at its next event: else it would hold what
 * comes.
 */
static int schedule_end(struct chrome_sink *self, const struct ftr_event *ev)
{
	struct chrome_task *task = task_parts(self, ev->task);
	int ret = put_line(self, ev, ev->task, 'E');

	if (task == NULL || ret < 0)
		return -ENOMEM;
	ftr_ostream_printf(self->base.out, "\"%s\"}", task->out);
	task->out = NULL;
	self->out_nr--;
	return 0;
}

static bool task_is_out(struct chrome_sink *self, const struct ftr_task *task)
{
	const struct chrome_task *parts = task_parts(self, task);

	return parts != NULL && parts->out != NULL;
}

/* From its sched-out to its sched-in it is as if the task were in a call. */
static int schedule_begin(struct chrome_sink *self, const struct ftr_event *ev)
{
	struct chrome_task *task = task_parts(self, ev->task);

	if (task == NULL || (task->out != NULL && schedule_end(self, ev) < 0) ||
	    put_line(self, ev, ev->task, 'B') < 0)
		return -ENOMEM;
	task->out = ftr_event_pair_name(ftr_event_sched_out_id(ev));
	self->out_nr++;
	ftr_ostream_printf(self->base.out, "\"%s\"}", task->out);
	return 0;
}

static int chrome_call(struct chrome_sink *self, const struct ftr_event *ev)
{
	static const struct chrome_part no_srcline = { "", 0 };
	struct ftr_ostream *out = self->base.out;
	const struct chrome_task *task = task_parts(self, ev->task);
	const struct chrome_func *func = func_parts(self, ev->call.func);
	const struct chrome_part *srcline;
	char *start, *p;

	if (task == NULL || func == NULL)
		return -ENOMEM;
	if (__builtin_expect(task->out != NULL, 0) && schedule_end(self, ev) < 0)
		return -ENOMEM;
	start = ftr_ostream_reserve(out, LINE_BYTES + func->name.len);
	if (start == NULL)
		return chrome_no_memory(self);
	p = put_line_begin(self, start, ev->time_ns);
	p = chrome_put_part(p, &task->call[ev->type]);
	p = chrome_put_part(p, &func->name);
	srcline = ev->type == FTR_EVENT_ENTRY ? &func->srcline : &no_srcline;
	if (__builtin_expect(ev->payload == NULL && srcline->len == 0, 1)) {
		ftr_ostream_commit(out, (size_t)(p - start));
		return 0;
	}
	ftr_ostream_commit(out, (size_t)(p - start) - 1);	/* without the brace */
	put_call_args(self, ev, srcline);
	ftr_ostream_putc(out, '}');
	return 0;
}

static bool point_has_text(const struct ftr_event *ev)
{
	const struct ftr_event_kind *kind = ftr_event_kind_by_id(ftr_event_kind_id(ev));

	return ev->payload != NULL && ev->payload->spec == NULL &&
	       (ftr_event_is_tracepoint(ev) ||
		(kind != NULL && kind->data == FTR_EVENT_DATA_TEXT));
}

/* Values of a series: numbers by their names. */
static int chrome_counter(struct chrome_sink *self, const struct ftr_event *ev)
{
	struct ftr_ostream *out = self->base.out;
	const char *separator = "";
	struct ftr_counter_pos at = { 0 };
	struct ftr_counter_value value;

	if (put_line(self, ev, ev->task, 'C') < 0)
		return -ENOMEM;
	ftr_ostream_json_string(out, ev->point.name, strlen(ev->point.name));
	ftr_ostream_printf(out, ",\"id\":%llu,\"args\":{", (unsigned long long)ev->point.id);
	while (ftr_counter_next(ev, &at, &value)) {
		ftr_ostream_puts(out, separator);
		ftr_ostream_json_string(out, value.name, strlen(value.name));
		ftr_ostream_printf(out, ":%.17g", value.value);
		separator = ",";
	}
	ftr_ostream_puts(out, "}}");
	return 0;
}

/* The begin or the end of an async span, or an instant of it. */
static int chrome_async(struct chrome_sink *self, const struct ftr_event *ev)
{
	static const char phases[] = {
		[FTR_POINT_ASYNC_BEGIN] = 'b', [FTR_POINT_ASYNC_INSTANT] = 'n',
		[FTR_POINT_ASYNC_END] = 'e',
	};

	if (put_line(self, ev, ev->task, phases[ev->point.kind]) < 0)
		return -ENOMEM;
	ftr_ostream_json_string(self->base.out, ev->point.name, strlen(ev->point.name));
	ftr_ostream_printf(self->base.out, ",\"cat\":\"async\",\"id\":\"%#llx\"}",
			   (unsigned long long)ev->point.id);
	return 0;
}

static int chrome_point(struct chrome_sink *self, const struct ftr_event *ev)
{
	struct ftr_ostream *out = self->base.out;
	int ret;

	if (ev->point.kind == FTR_POINT_COUNTER && ev->payload != NULL && ev->payload->spec != NULL)
		return chrome_counter(self, ev);
	if (ev->point.kind >= FTR_POINT_ASYNC_BEGIN && ev->point.kind <= FTR_POINT_ASYNC_END)
		return chrome_async(self, ev);

	if (ftr_event_is_sched_out(ev))
		return schedule_begin(self, ev);
	if (ftr_event_is_sched_in(ev) && task_is_out(self, ev->task))
		return schedule_end(self, ev);
	if (ftr_event_kind_id(ev) == FTR_EVENT_ID_TASK_EXIT && task_is_out(self, ev->task) &&
	    schedule_end(self, ev) < 0)
		return -ENOMEM;
	ret = put_line(self, ev, ev->task, 'i');
	if (ret < 0)
		return ret;
	ftr_ostream_json_string(out, ev->point.name, strlen(ev->point.name));
	ftr_ostream_puts(out, ",\"s\":\"t\"");
	if (point_has_text(ev)) {
		ftr_ostream_puts(out, ",\"args\":{\"data\":");
		ftr_ostream_json_string(out, (const char *)ev->payload->data, ev->payload->len);
		ftr_ostream_putc(out, '}');
	} else if (ev->payload != NULL) {
		ftr_strbuf_clear(&self->text);
		ftr_event_data_text(ev, self->trace, true, &self->text);
		ftr_ostream_puts(out, ",\"args\":{\"data\":");
		ftr_ostream_json_string(out, ftr_strbuf_str(&self->text), self->text.len);
		ftr_ostream_putc(out, '}');
	}
	ftr_ostream_putc(out, '}');
	return 0;
}

static int chrome_lost(struct chrome_sink *self, const struct ftr_event *ev)
{
	int ret = put_line(self, ev, ev->task, 'i');
	char text[FTR_EVENT_LOST_TEXT_MAX];

	if (ret < 0)
		return ret;
	if (ev->lost.source != FTR_LOST_OF_TASK) {
		ftr_event_lost_text(ev, text);
		ftr_ostream_printf(self->base.out, "\"%s\",\"s\":\"t\"}", text);
		return 0;
	}
	ftr_ostream_printf(self->base.out, "\"LOST\",\"s\":\"t\",\"args\":{\"records\":%llu}}",
			   (unsigned long long)ev->lost.nr);
	return 0;
}

static int chrome_message(struct chrome_sink *self, const struct ftr_event *ev)
{
	int ret = put_line(self, ev, ev->task, 'i');

	if (ret < 0)
		return ret;
	ftr_ostream_json_string(self->base.out, ev->message.text, strlen(ev->message.text));
	ftr_ostream_puts(self->base.out, ",\"s\":\"t\"}");
	return 0;
}

/* An arrow from the call that is open in the parent to the first one of the new task. */
static int chrome_fork(struct chrome_sink *self, const struct ftr_event *ev)
{
	static const char phases[] = { 's', 'f' };

	for (size_t i = 0; i < sizeof(phases); i++) {
		int ret = put_line(self, ev, i == 0 ? ev->task : ev->fork.peer, phases[i]);

		if (ret < 0)
			return ret;
		ftr_ostream_printf(self->base.out, "\"fork\",\"cat\":\"task\",\"id\":%u}",
				   ev->fork.peer->id);
	}
	return 0;
}

static int chrome_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct chrome_sink *self = chrome_of(sink);

	if (__builtin_expect(sink->out->code != 0, 0))
		return ftr_ostream_flush(sink->out, sink->err);
	switch ((enum ftr_event_type)ev->type) {
	case FTR_EVENT_ENTRY:
		return chrome_call(self, ev);
	case FTR_EVENT_EXIT:	/* without its end, viewers show a call as unfinished */
		return ev->flags & FTR_EVENT_UNFINISHED ? 0 : chrome_call(self, ev);
	case FTR_EVENT_POINT:
		return chrome_point(self, ev);
	case FTR_EVENT_LOST:
		return chrome_lost(self, ev);
	case FTR_EVENT_FORK:
		return chrome_fork(self, ev);
	case FTR_EVENT_MESSAGE:
		return chrome_message(self, ev);
	case FTR_EVENT_TYPES:
		break;
	}
	return 0;
}

/* ---- text of calls that is made ahead ---- */

/* All tasks are named, and there is an object before. */
static void *maker_new(const void *owner, struct ftr_ostream *out, struct ftr_err *err)
{
	const struct chrome_sink *of = owner;
	struct ftr_sink *sink = ftr_sink_new(of->base.ops, out, err);
	struct chrome_sink *self = chrome_of(sink);
	int ret;

	if (self == NULL)
		return NULL;
	self->trace = of->trace;
	self->separator = of->separator;
	self->has_origin = true;
	self->origin_ns = of->origin_ns;
	ftr_strbuf_init(&self->text);
	ret = chrome_parts_init(&self->parts);
	for (size_t i = 0; ret == 0 && i < self->trace->tasks.nr; i++)
		ret = chrome_parts_add_task(&self->parts, self->trace->tasks.v[i]);
	if (ret == 0)
		return self;
	ftr_sink_free(sink);
	return NULL;
}

static void maker_free(void *maker)
{
	ftr_sink_free(maker);
}

static int maker_make(void *maker, const struct ftr_event *before, const struct ftr_event *evs,
		      size_t nr)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < nr; i++)
		ret = chrome_event(maker, &evs[i]);
	return ret;
}

static const struct ftr_text_ops text_ops = {
	.maker_new = maker_new,
	.maker_free = maker_free,
	.make = maker_make,
};

/* Are there lines of tasks beside those of calls: is one named, or does one go on? */
static bool tells_of_tasks(struct chrome_sink *self, const struct ftr_event *evs, size_t nr)
{
	if (self->trace->tasks.nr != self->named_nr)
		return true;
	for (size_t i = 0; self->out_nr > 0 && i < nr; i++) {
		if (task_is_out(self, evs[i].task))
			return true;
	}
	return false;
}

/* 1 when threads make the lines of @evs, else 0, or -errno. */
static int take_ahead(struct chrome_sink *self, const struct ftr_event *evs, size_t nr)
{
	int ret;

	if (!self->has_origin)
		return 0;
	if (!tells_of_tasks(self, evs, nr))
		return ftr_text_ahead_take(self->ahead, NULL, evs, nr, self->base.err);
	ret = ftr_text_ahead_drain(self->ahead, self->base.err);
	return ret < 0 ? ret : 0;
}

static int chrome_batch(struct ftr_sink *sink, const struct ftr_event *evs, size_t nr)
{
	int ret = take_ahead(chrome_of(sink), evs, nr);

	if (ret > 0 && sink->out->code != 0)
		return ftr_ostream_flush(sink->out, sink->err);
	for (size_t i = 0; ret == 0 && i < nr; i++)
		ret = chrome_event(sink, &evs[i]);
	return ret < 0 ? ret : 0;
}

static int chrome_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	struct chrome_sink *self = chrome_of(sink);
	int ret;

	self->trace = trace;
	self->separator = "";
	ftr_strbuf_init(&self->text);
	ret = chrome_parts_init(&self->parts);
	if (ret < 0)
		return chrome_no_memory(self);
	ftr_ostream_puts(sink->out, "{\"traceEvents\":[\n");
	for (size_t i = 0; ret == 0 && i < trace->tasks.nr; i++)
		ret = task_add_slow(self, trace->tasks.v[i]);
	self->named_nr = trace->tasks.nr;
	self->ahead = ftr_text_ahead_new(trace, &text_ops, self, sink->out);
	return ret;
}

/*
 * Readers keep ts in a double, which holds no nanoseconds since 1970: what ts 0 stands for is text.
 */
static void put_origin(struct chrome_sink *self)
{
	const struct ftr_info *info = &self->trace->info;
	bool is_utc = info->info_mask & FTR_INFO_UTC_OFFSET;
	uint64_t ns = self->origin_ns;

	if (is_utc)
		ns += (uint64_t)info->utc_offset_s * UINT64_C(1000000000);
	ftr_ostream_printf(self->base.out,
			   ", \"otherData\": {\n\"origin_ns\":\"%llu\",\n\"origin_clock\":\"%s\"\n}",
			   (unsigned long long)ns, is_utc ? "unix" : "trace");
}

static int chrome_end(struct ftr_sink *sink)
{
	const struct ftr_info *info = &chrome_of(sink)->trace->info;
	const struct {
		const char *key, *value;
	} rows[] = {
		{ "version", info->recorder_version },
		{ "recorded_time", info->record_date },
		{ "command_line", info->cmdline },
	};
	const char *separator = "";
	int ret = ftr_text_ahead_drain(chrome_of(sink)->ahead, sink->err);

	if (ret < 0)
		return ret;
	ftr_ostream_puts(sink->out, "\n], \"displayTimeUnit\": \"ns\"");
	put_origin(chrome_of(sink));
	ftr_ostream_puts(sink->out, ", \"metadata\": {");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].value == NULL)
			continue;
		ftr_ostream_printf(sink->out, "%s\n\"%s\":", separator, rows[i].key);
		ftr_ostream_json_string(sink->out, rows[i].value, strlen(rows[i].value));
		separator = ",";
	}
	ftr_ostream_puts(sink->out, "\n} }\n");
	return 0;
}

static void chrome_fini(struct ftr_sink *sink)
{
	struct chrome_sink *self = chrome_of(sink);

	if (self->trace == NULL)
		return;
	ftr_text_ahead_drain(self->ahead, NULL);	/* when reading failed */
	ftr_text_ahead_free(self->ahead);
	chrome_parts_fini(&self->parts);
	ftr_strbuf_fini(&self->text);
}

static const struct ftr_sink_ops chrome_ops = {
	.size	 = sizeof(struct chrome_sink),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT) |
		   FTR_BIT(FTR_EVENT_LOST) | FTR_BIT(FTR_EVENT_FORK) | FTR_BIT(FTR_EVENT_MESSAGE),
	.begin	 = chrome_begin,
	.event	 = chrome_event,
	.batch	 = chrome_batch,
	.end	 = chrome_end,
	.fini	 = chrome_fini,
};

const struct ftr_format ftr_format_chrome = {
	.name	 = "chrome",
	.summary = "JSON for chrome://tracing and the Perfetto UI (trace event format)",
	.suffix	 = ".json",
	.dump_option = FTR_FORMAT_DUMP_OPTION("chrome"),
	.kind	 = FTR_FORMAT_FILE,
	.write	 = &chrome_ops,
};

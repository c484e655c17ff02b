/* SPDX-License-Identifier: MIT */
/*
 * One self-contained page: a timeline of all tasks, a flame graph and a table of functions
 * (page/, which reads what is written here; the comment of head.html says how).
 *
 * Memory and the page's size are bounded: when there are more calls than the page has room for, the
 * shortest are left out of the pictures, and the page says below which duration.  The table of
 * the whole trace counts all of them.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/analysis/stats.h"
#include "utils/base/bytes.h"
#include "utils/base/ostream.h"
#include "utils/base/vec.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/format.h"

#define BASE64_BITS 6u
#define BITS_MAX 64u

struct html_values {
	uint64_t call_nr;		/* in the pictures */
};

static const struct html_values html_defaults = { .call_nr = 400000 };

static const struct ftr_option html_options[] = {
	FTR_OPTION("html-calls", 0, "N",
		   "Calls in the pictures, the longest of them all (default: 400000)", ftr_opt_u64,
		   struct html_values, call_nr, .min = 1000, .max = 20000000),
	{ 0 }
};

/* A call, or a time that its task was not running (func NOT_RUNNING). */
struct span {
	uint64_t end_ns;
	uint64_t ns;
	uint32_t func;			/* its name_id */
	uint32_t depth;
};
#define NOT_RUNNING UINT32_MAX

struct task_spans {
	const struct ftr_task *task;	/* NULL: nothing of it */
	FTR_VEC(struct span) spans;	/* by end_ns */
};

struct html_sink {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	const struct ftr_trace *trace;
	struct ftr_sink *stats;		/* (owned) */
	FTR_VEC(struct task_spans) tasks;	/* by task id */
	size_t span_nr, span_max;
	uint64_t shortest_ns;		/* shorter spans are left out */
	uint64_t left_out;
	uint64_t first_ns, last_ns;
	struct ftr_ostream text;	/* a string to be escaped */
};

/* Bytes as base64, 6 bits after the other. */
struct base64 {
	struct ftr_ostream *out;
	uint32_t bits;
	unsigned bit_nr;
};

static struct html_sink *html_of(struct ftr_sink *sink)
{
	return (struct html_sink *)sink;
}

static int html_no_memory(struct html_sink *self)
{
	return ftr_err_set(self->base.err, ENOMEM, "html: out of memory");
}

/* ---- what the pictures show ---- */

static unsigned bits_of(uint64_t value)
{
	return value == 0 ? 0 : BITS_MAX - (unsigned)__builtin_clzll(value);
}

/* The least power of two below which at least half of the spans are. */
static uint64_t middle_ns(const struct html_sink *self)
{
	size_t counts[BITS_MAX + 1] = { 0 }, below = 0;
	unsigned bit_nr = 0;

	for (size_t i = 0; i < self->tasks.nr; i++) {
		for (size_t k = 0; k < self->tasks.v[i].spans.nr; k++)
			counts[bits_of(self->tasks.v[i].spans.v[k].ns)]++;
	}
	while (bit_nr < BITS_MAX - 1 && (below += counts[bit_nr]) < self->span_nr / 2)
		bit_nr++;
	return (uint64_t)FTR_BIT64(bit_nr);
}

static void spans_drop_short(struct html_sink *self, struct task_spans *of)
{
	size_t kept = 0;

	for (size_t i = 0; i < of->spans.nr; i++) {
		if (of->spans.v[i].ns >= self->shortest_ns)
			of->spans.v[kept++] = of->spans.v[i];
	}
	self->left_out += of->spans.nr - kept;
	self->span_nr -= of->spans.nr - kept;
	of->spans.nr = kept;
}

static void make_room(struct html_sink *self)
{
	self->shortest_ns = middle_ns(self);
	for (size_t i = 0; i < self->tasks.nr; i++)
		spans_drop_short(self, &self->tasks.v[i]);
}

static struct task_spans *spans_of(struct html_sink *self, const struct ftr_task *task)
{
	while (self->tasks.nr <= task->id) {
		if (ftr_vec_push(&self->tasks, ((struct task_spans){ .task = NULL })) < 0)
			return NULL;
	}
	self->tasks.v[task->id].task = task;
	return &self->tasks.v[task->id];
}

static int span_add(struct html_sink *self, const struct ftr_event *ev, uint64_t start_ns,
		    uint32_t func)
{
	struct task_spans *of = spans_of(self, ev->task);
	struct span span = { .end_ns = ev->time_ns, .ns = ev->time_ns - start_ns, .func = func,
			     .depth = ev->depth };

	if (of == NULL)
		return html_no_memory(self);
	if (self->first_ns > start_ns)
		self->first_ns = start_ns;
	if (self->last_ns < ev->time_ns)
		self->last_ns = ev->time_ns;
	if (span.ns < self->shortest_ns) {
		self->left_out++;
		return 0;
	}
	if (ftr_vec_push(&of->spans, span) < 0)
		return html_no_memory(self);
	if (++self->span_nr > self->span_max)
		make_room(self);
	return 0;
}

static int event_add(struct html_sink *self, const struct ftr_event *ev)
{
	if (ev->type == FTR_EVENT_EXIT)
		return span_add(self, ev, ev->call.start_ns, ev->call.func->name_id);
	if (ev->type == FTR_EVENT_POINT && ftr_event_is_sched_in(ev) && ev->point.start_ns != 0)
		return span_add(self, ev, ev->point.start_ns, NOT_RUNNING);
	return 0;
}

static int html_batch(struct ftr_sink *sink, const struct ftr_event *evs, size_t nr)
{
	struct html_sink *self = html_of(sink);
	int ret = self->stats->ops->batch(self->stats, evs, nr);

	for (size_t i = 0; i < nr && ret == 0; i++)
		ret = event_add(self, &evs[i]);
	return ret;
}

/* ---- the page ---- */

/* Inside of a script element: "</" would end it. */
static void put_string(struct html_sink *self, const char *s, size_t len)
{
	struct ftr_ostream *out = self->base.out;

	self->text.len = 0;
	ftr_ostream_json_string(&self->text, s, len);
	for (size_t i = 0; i < self->text.len; i++) {
		if (self->text.buf[i] == '<')
			ftr_ostream_puts(out, "\\u003c");
		else
			ftr_ostream_putc(out, self->text.buf[i]);
	}
}

static void put_member(struct html_sink *self, const char *name, const char *value)
{
	if (value == NULL)
		value = "";
	ftr_ostream_printf(self->base.out, "\"%s\":", name);
	put_string(self, value, strlen(value));
	ftr_ostream_puts(self->base.out, ",\n");
}

static void base64_put(struct base64 *to, uint8_t byte)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	to->bits = to->bits << CHAR_BIT | byte;
	for (to->bit_nr += CHAR_BIT; to->bit_nr >= BASE64_BITS;) {
		to->bit_nr -= BASE64_BITS;
		ftr_ostream_putc(to->out, digits[to->bits >> to->bit_nr]);
		to->bits &= FTR_BIT(to->bit_nr) - 1;
	}
}

static void base64_end(struct base64 *to)
{
	while (to->bit_nr != 0)
		base64_put(to, 0);
}

static void put_varint(struct base64 *to, uint64_t value)
{
	uint8_t bytes[FTR_LEB128_MAX];
	size_t nr = ftr_put_leb128(bytes, value);

	for (size_t i = 0; i < nr; i++)
		base64_put(to, bytes[i]);
}

static void put_spans(struct html_sink *self, const struct task_spans *of)
{
	struct base64 to = { .out = self->base.out };
	uint64_t last_ns = self->first_ns;

	for (size_t i = 0; i < of->spans.nr; i++) {
		const struct span *span = &of->spans.v[i];

		put_varint(&to, span->end_ns - last_ns);
		put_varint(&to, span->ns);
		put_varint(&to, span->func == NOT_RUNNING ? 0 : (uint64_t)span->func + 1);
		put_varint(&to, span->depth);
		last_ns = span->end_ns;
	}
	base64_end(&to);
}

static void put_tasks(struct html_sink *self)
{
	struct ftr_ostream *out = self->base.out;
	const char *separator = "";

	ftr_ostream_puts(out, "\"tasks\":[");
	for (size_t i = 0; i < self->tasks.nr; i++) {
		const struct task_spans *of = &self->tasks.v[i];

		if (of->task == NULL)
			continue;
		ftr_ostream_printf(out, "%s\n{\"pid\":%d,\"tid\":%d,\"nr\":%zu,\"name\":",
				   separator, of->task->pid, of->task->tid, of->spans.nr);
		put_string(self, of->task->name, strlen(of->task->name));
		ftr_ostream_puts(out, ",\"spans\":\"");
		put_spans(self, of);
		ftr_ostream_puts(out, "\"}");
		separator = ",";
	}
	ftr_ostream_puts(out, "]\n");
}

/* [name, calls, total, self, least, most], by name_id; null for a name without calls. */
static void put_funcs(struct html_sink *self, const struct ftr_stats *stats)
{
	struct ftr_ostream *out = self->base.out;

	ftr_ostream_puts(out, "\"funcs\":[");
	for (size_t i = 0; i < stats->funcs.nr; i++) {
		const struct ftr_func_stat *func = &stats->funcs.v[i];

		ftr_ostream_puts(out, i > 0 ? ",\n" : "\n");
		if (func->name == NULL) {
			ftr_ostream_puts(out, "null");
			continue;
		}
		ftr_ostream_putc(out, '[');
		put_string(self, func->name, func->name_len);
		ftr_ostream_printf(out, ",%llu,%llu,%llu,%llu,%llu]",
				   (unsigned long long)func->calls,
				   (unsigned long long)func->total.sum_ns,
				   (unsigned long long)func->self.sum_ns,
				   (unsigned long long)func->total.min_ns,
				   (unsigned long long)func->total.max_ns);
	}
	ftr_ostream_puts(out, "],\n");
}

/* Where functions are in the source, by name_id. */
static void put_places(struct html_sink *self)
{
	const char *separator = "";

	ftr_ostream_puts(self->base.out, "\"places\":{");
	for (size_t i = 0; i < self->trace->funcs.nr; i++) {
		const struct ftr_func *func = self->trace->funcs.v[i];
		char line[16];

		if (func->src_file == NULL)
			continue;
		ftr_ostream_printf(self->base.out, "%s\n\"%u\":[", separator, func->name_id);
		put_string(self, func->src_file, strlen(func->src_file));
		snprintf(line, sizeof(line), ",%u]", func->src_line);
		ftr_ostream_puts(self->base.out, line);
		separator = ",";
	}
	ftr_ostream_puts(self->base.out, "},\n");
}

static void put_data(struct html_sink *self)
{
	struct ftr_ostream *out = self->base.out;
	uint64_t first_ns = self->first_ns < self->last_ns ? self->first_ns : self->last_ns;

	ftr_ostream_puts(out, "{");
	put_member(self, "path", self->trace->path);
	put_member(self, "cmdline", self->trace->info.cmdline);
	ftr_ostream_printf(out,
			   "\"first\":\"%llu\",\"ns\":%llu,\"shortest\":%llu,"
			   "\"leftOut\":%llu,\n",
			   (unsigned long long)first_ns,
			   (unsigned long long)(self->last_ns - first_ns),
			   (unsigned long long)(self->left_out != 0 ? self->shortest_ns : 0),
			   (unsigned long long)self->left_out);
	put_funcs(self, ftr_stats_get(self->stats));
	put_places(self);
	put_tasks(self);
	ftr_ostream_puts(out, "}\n");
}

static const char *const page[] = {
#include "utils/export/html_page.inc"
};
#define DATA_GOES_HERE "@DATA@\n"

static int html_end(struct ftr_sink *sink)
{
	struct html_sink *self = html_of(sink);
	int ret = self->stats->ops->end(self->stats);

	for (size_t i = 0; ret == 0 && i < sizeof(page) / sizeof(page[0]); i++) {
		if (strcmp(page[i], DATA_GOES_HERE) == 0)
			put_data(self);
		else
			ftr_ostream_puts(sink->out, page[i]);
	}
	return ret == 0 && self->text.code != 0 ? html_no_memory(self) : ret;
}

static int html_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	const struct html_values *values = sink->values != NULL ? sink->values : &html_defaults;
	struct html_sink *self = html_of(sink);

	self->trace = trace;
	self->span_max = values->call_nr;
	self->first_ns = UINT64_MAX;
	self->stats = ftr_stats_new(FTR_STATS_DETAILS, sink->err);
	if (self->stats == NULL)
		return -ENOMEM;
	self->stats->err = sink->err;
	if (ftr_ostream_to_memory(&self->text) < 0)
		return html_no_memory(self);
	return self->stats->ops->begin != NULL ? self->stats->ops->begin(self->stats, trace) : 0;
}

static void html_fini(struct ftr_sink *sink)
{
	struct html_sink *self = html_of(sink);

	for (size_t i = 0; i < self->tasks.nr; i++)
		ftr_vec_fini(&self->tasks.v[i].spans);
	ftr_vec_fini(&self->tasks);
	ftr_ostream_close(&self->text, NULL);
	ftr_sink_free(self->stats);
}

static const struct ftr_sink_ops html_ops = {
	.size	 = sizeof(struct html_sink),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT),
	.begin	 = html_begin,
	.batch	 = html_batch,
	.end	 = html_end,
	.fini	 = html_fini,
};

const struct ftr_format ftr_format_html = {
	.name	      = "html",
	.summary      = "a page to look at: timeline, flame graph and table, without a network",
	.suffix	      = ".html",
	.kind	      = FTR_FORMAT_FILE,
	.write	      = &html_ops,
	.options      = html_options,
	.values_bytes = sizeof(struct html_values),
	.defaults     = &html_defaults,
};

/* SPDX-License-Identifier: MIT */
/*
 * One self-contained page: a timeline of all tasks, a flame graph and a table of functions
 * (page/, which reads what is written here; the comment of head.html says how).
 *
 * Memory and the page's size are bounded: when there are more calls than the page has room for,
 * short ones are merged (html_spans.h).  The table and the flame graph of the whole trace are of
 * all of them.
 */
#include "utils/export/html.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/analysis/graph.h"
#include "utils/analysis/stats.h"
#include "utils/base/ostream.h"
#include "utils/export/html_lanes.h"
#include "utils/export/html_put.h"
#include "utils/export/html_spans.h"
#include "utils/export/html_texts.h"
#include "utils/export/html_tree.h"
#include "utils/trace/format.h"
#include "utils/trace/func.h"
#include "utils/trace/task.h"

/* Of arguments and return values: as much as the spans, at most. */
#define TEXT_BYTES 4000000u

/* A million calls, and what their tasks waited. */
static const struct ftr_html_values html_defaults = { .call_nr = 1200000 };

static const struct ftr_option html_options[] = {
	FTR_OPTION("html-calls", 0, "N",
		   "Calls in the timeline one by one; of more, short neighbours are merged "
		   "(default: 1200000)", ftr_opt_u64,
		   struct ftr_html_values, call_nr, .min = 1000, .max = 20000000),
	{ 0 }
};

struct html_sink {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	const struct ftr_trace *trace;
	bool is_served;
	uint8_t of;			/* enum ftr_html_of */
	struct ftr_sink *stats;		/* (owned) */
	struct ftr_sink *graph;		/* (owned) */
	struct ftr_html_spans spans;
	struct ftr_html_texts texts;
	struct ftr_html_lanes *lanes;	/* (owned) */
	struct ftr_ostream text;	/* a string to be escaped */
};

static struct html_sink *html_of(struct ftr_sink *sink)
{
	return (struct html_sink *)sink;
}

static int html_no_memory(struct html_sink *self)
{
	return ftr_err_set(self->base.err, ENOMEM, "html: out of memory");
}

static int html_batch(struct ftr_sink *sink, const struct ftr_event *evs, size_t nr)
{
	struct html_sink *self = html_of(sink);
	int ret = self->stats->ops->batch(self->stats, evs, nr);

	if (ret == 0)
		ret = self->graph->ops->batch(self->graph, evs, nr);
	for (size_t i = 0; i < nr && ret == 0; i++) {
		uint32_t text;

		if (ftr_html_texts_event(&self->texts, &evs[i], &text) < 0 ||
		    ftr_html_spans_event(&self->spans, &evs[i], text) < 0 ||
		    ftr_html_lanes_take(self->lanes, &evs[i]) < 0)
			ret = html_no_memory(self);
	}
	return ret;
}

static void put_string(struct html_sink *self, const char *s, size_t len)
{
	ftr_html_put_string(self->base.out, &self->text, s, len);
}

static void put_member(struct html_sink *self, const char *name, const char *value)
{
	if (value == NULL)
		value = "";
	ftr_ostream_printf(self->base.out, "\"%s\":", name);
	put_string(self, value, strlen(value));
	ftr_ostream_puts(self->base.out, ",\n");
}

static void put_tasks(struct html_sink *self)
{
	struct ftr_ostream *out = self->base.out;
	const char *separator = "";

	ftr_ostream_puts(out, "\"tasks\":[");
	for (size_t i = 0; i < self->spans.tasks.nr; i++) {
		const struct ftr_html_task *of = &self->spans.tasks.v[i];

		if (of->task == NULL)
			continue;
		ftr_ostream_printf(out, "%s\n{\"pid\":%d,\"tid\":%d,\"name\":", separator,
				   of->task->pid, of->task->tid);
		put_string(self, of->task->name, strlen(of->task->name));
		ftr_ostream_puts(out, ",\"rows\":\"");
		ftr_html_spans_put(&self->spans, of, out);
		ftr_ostream_puts(out, "\"}");
		separator = ",";
	}
	ftr_ostream_puts(out, "],\n");
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

/* By the number that spans have. */
static void put_texts(struct html_sink *self)
{
	const char *separator = "";

	ftr_ostream_puts(self->base.out, "\"texts\":[");
	for (size_t i = 0; i < self->texts.strs.nr; i++) {
		const struct ftr_str *str = self->texts.strs.v[i];

		ftr_ostream_puts(self->base.out, separator);
		put_string(self, str->s, str->len);
		separator = ",\n";
	}
	ftr_ostream_printf(self->base.out, "],\"textsLeftOut\":%llu,\n",
			   (unsigned long long)self->texts.left_out);
}

static int put_data(struct html_sink *self)
{
	struct ftr_ostream *out = self->base.out;
	const struct ftr_html_spans *spans = &self->spans;
	uint64_t first_ns = spans->first_ns < spans->last_ns ? spans->first_ns : spans->last_ns;

	ftr_ostream_printf(out, "{\"served\":%s,", self->is_served ? "true" : "false");
	put_member(self, "path", self->trace->path);
	put_member(self, "cmdline", self->trace->info.cmdline);
	ftr_ostream_printf(out,
			   "\"first\":\"%llu\",\"ns\":%llu,\"grain\":%llu,\"leftOut\":%llu,\n",
			   (unsigned long long)first_ns,
			   (unsigned long long)(spans->last_ns - first_ns),
			   (unsigned long long)ftr_html_spans_grain_ns(spans),
			   (unsigned long long)spans->left_out);
	put_funcs(self, ftr_stats_get(self->stats));
	put_places(self);
	put_texts(self);
	ftr_ostream_puts(out, "\"nodes\":");
	if (ftr_html_tree_put(ftr_graph_get(self->graph), out) < 0)
		return html_no_memory(self);
	ftr_ostream_puts(out, ",\n");
	put_tasks(self);
	ftr_html_lanes_put(self->lanes, out, &self->text, first_ns);
	ftr_ostream_puts(out, "}\n");
	return 0;
}

static const char *const page[] = {
#include "utils/export/html_page.inc"
};
#define DATA_GOES_HERE "@DATA@\n"
#define NEXT_DATA      "</script>\n<script type=\"application/json\">\n"

/* Of two traces the first one's sink writes what is before the data, the other what follows. */
static int put_page(struct html_sink *self)
{
	bool is_behind = false;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < sizeof(page) / sizeof(page[0]); i++) {
		if (strcmp(page[i], DATA_GOES_HERE) != 0) {
			if (is_behind ? self->of != FTR_HTML_OF_FIRST :
					self->of != FTR_HTML_OF_SECOND)
				ftr_ostream_puts(self->base.out, page[i]);
			continue;
		}
		ret = put_data(self);
		is_behind = true;
		if (self->of == FTR_HTML_OF_FIRST)
			ftr_ostream_puts(self->base.out, NEXT_DATA);
	}
	return ret;
}

static int html_end(struct ftr_sink *sink)
{
	struct html_sink *self = html_of(sink);
	int ret = self->stats->ops->end(self->stats);

	if (ret == 0 && self->graph->ops->end != NULL)
		ret = self->graph->ops->end(self->graph);
	if (ret == 0 && ftr_html_lanes_end(self->lanes) < 0)
		ret = html_no_memory(self);
	ftr_html_spans_end(&self->spans);
	if (ret == 0 && ftr_html_texts_end(&self->texts) < 0)
		ret = html_no_memory(self);
	ftr_html_lanes_extend(self->lanes, &self->spans.first_ns, &self->spans.last_ns);
	if (ret == 0)
		ret = put_page(self);
	return ret == 0 && self->text.code != 0 ? html_no_memory(self) : ret;
}

static int html_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	const struct ftr_html_values *values = sink->values != NULL ? sink->values : &html_defaults;
	struct html_sink *self = html_of(sink);

	int ret = 0;

	self->trace = trace;
	self->is_served = values->is_served;
	self->of = values->of;
	ftr_html_spans_init(&self->spans, values->call_nr);
	ftr_html_texts_init(&self->texts, trace, &self->spans, TEXT_BYTES);
	self->stats = ftr_stats_new(FTR_STATS_DETAILS, sink->err);
	self->graph = ftr_graph_new(false, sink->err);
	if (self->stats == NULL || self->graph == NULL)
		return -ENOMEM;
	self->stats->err = sink->err;
	self->graph->err = sink->err;
	self->lanes = ftr_html_lanes_new(trace, values->call_nr);
	if (self->lanes == NULL || ftr_ostream_to_memory(&self->text) < 0)
		return html_no_memory(self);
	if (self->stats->ops->begin != NULL)
		ret = self->stats->ops->begin(self->stats, trace);
	if (ret == 0 && self->graph->ops->begin != NULL)
		ret = self->graph->ops->begin(self->graph, trace);
	return ret;
}

static void html_fini(struct ftr_sink *sink)
{
	struct html_sink *self = html_of(sink);

	ftr_html_texts_fini(&self->texts);
	ftr_html_spans_fini(&self->spans);
	ftr_html_lanes_free(self->lanes);
	ftr_ostream_close(&self->text, NULL);
	ftr_sink_free(self->stats);
	ftr_sink_free(self->graph);
}

static const struct ftr_sink_ops html_ops = {
	.size	 = sizeof(struct html_sink),
	.accepts = FTR_BIT(FTR_EVENT_TYPES) - 1,
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
	.values_bytes = sizeof(struct ftr_html_values),
	.defaults     = &html_defaults,
};

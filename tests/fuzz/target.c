/* SPDX-License-Identifier: MIT */
/*
 * One input for one format: it is read, and everything that runs on what was read is checked.  A
 * format that is also written is written and read again, which changes nothing any more; one that
 * is read from pipes is fed byte by byte, with the same result.
 */
#include <stdio.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"
#include "utils/analysis/build.h"
#include "utils/base/istream.h"
#include "utils/base/ostream.h"
#include "utils/base/strbuf.h"
#include "utils/format/dir.h"
#include "utils/format/format.h"
#include "utils/trace/args.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/pump.h"
#include "utils/trace/sink.h"
#include "utils/trace/summary.h"
#include "utils/trace/trace.h"

/* A sink that checks what calls promises, formats what it is given, and makes trees of it. */
struct check_sink {
	struct ftr_sink base;
	const struct ftr_trace *trace;
	struct graphs graphs;
	struct ftr_sink *build;
	struct ftr_strbuf text;
	uint64_t last_ns;	/* of all tasks, or in a growing trace of the last event's */
	const struct ftr_task *last_task;
	FTR_VEC(uint32_t) depths;	/* by task->id */
};

static int check_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	struct check_sink *self = (struct check_sink *)sink;
	struct ftr_err err;

	self->trace = trace;
	self->build = ftr_build_new(&err);
	check(self->build != NULL);
	graphs_begin(&self->graphs, trace);
	return 0;
}

/* What ftr build makes of the system calls. */
static void check_build(const struct ftr_build *build)
{
	uint8_t *seen = calloc(build->files.nr + 1, 1);

	check(seen != NULL);
	if (build->files.nr > 0)
		check(ftr_build_inputs(build, &build->files.v[0], seen) == 0 &&
		      ftr_build_outputs(build, &build->files.v[0], seen) == 0);
	free(seen);
}

static int check_end(struct ftr_sink *sink)
{
	struct check_sink *self = (struct check_sink *)sink;

	graphs_end(&self->graphs);
	check_build(ftr_build_get(self->build));
	ftr_sink_free(self->build);
	return 0;
}

static void check_fini(struct ftr_sink *sink)
{
	struct check_sink *self = (struct check_sink *)sink;

	ftr_strbuf_fini(&self->text);
	ftr_vec_fini(&self->depths);
}

static uint32_t *depth_of(struct check_sink *self, const struct ftr_task *task)
{
	check(ftr_vec_reach(&self->depths, task->id) == 0);
	return &self->depths.v[task->id];
}

static int check_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct check_sink *self = (struct check_sink *)sink;
	struct ftr_trace *trace = (struct ftr_trace *)(uintptr_t)self->trace;
	uint32_t *depth = depth_of(self, ev->task);

	graphs_batch(&self->graphs, ev, 1);
	/* A build keeps texts of system calls, and needs them in order. */
	if (!trace->is_growing && (self->build->ops->accepts & FTR_BIT(ev->type)) != 0)
		check(self->build->ops->event(self->build, ev) == 0);
	if (trace->is_growing && ev->task != self->last_task)
		self->last_ns = 0;	/* each task alone is in order of time */
	self->last_task = ev->task;
	/* At the end of a stream open calls end, each at the last time of its task. */
	check(ev->time_ns >= self->last_ns ||
	      (ev->flags & (FTR_EVENT_INFERRED | FTR_EVENT_UNFINISHED)) != 0);
	if (ev->time_ns > self->last_ns)
		self->last_ns = ev->time_ns;
	if (ev->type == FTR_EVENT_EXIT) {
		check(*depth > 0 && ev->call.start_ns <= ev->time_ns);
		--*depth;
	}
	if (ev->type <= FTR_EVENT_EXIT)
		check(ev->depth == *depth && ev->call.func->name != NULL);
	if (ev->type == FTR_EVENT_ENTRY)
		++*depth;
	if (ev->payload != NULL && ev->payload->spec != NULL) {
		ftr_strbuf_clear(&self->text);
		ftr_payload_format(ev->payload, trace,
				   ev->task->session_nr == 0 ? NULL : ev->task->sessions[0],
				   &self->text);
	}
	return 0;
}

static int check_sums(struct ftr_sink *sink, const struct ftr_summary_row *row)
{
	uint64_t calls = 0;

	for (unsigned i = 0; i < FTR_SUMMARY_OCTAVES; i++)
		calls += (row->used >> i & 1) != 0 ? row->octaves[i].calls : 0;
	check(row->func->name != NULL && row->calls == calls && calls != 0);
	check(row->total.min_ns <= row->total.max_ns && row->self.min_ns <= row->self.max_ns);
	return 0;
}

static const struct ftr_sink_ops check_ops = {
	.size	 = sizeof(struct check_sink),
	.accepts = FTR_BIT(FTR_EVENT_TYPES) - 1,
	.begin	 = check_begin,
	.event	 = check_event,
	.sums	 = check_sums,
	.end	 = check_end,
	.fini	 = check_fini,
};

static void pump(struct ftr_trace *trace, const struct ftr_pipeline_options *options)
{
	struct ftr_err err = { 0 };
	struct ftr_sink *sink = ftr_sink_new(&check_ops, NULL, &err);
	struct ftr_source *source = NULL;

	check(sink != NULL);
	if (ftr_trace_pipeline(trace, options, &source, &err) == 0) {
		check(ftr_pump(source, sink, trace, NULL, &err) == 0);
		for (size_t i = 0; i < ((struct check_sink *)sink)->depths.nr; i++)
			check(((struct check_sink *)sink)->depths.v[i] == 0);
	}
	ftr_source_free(source);
	ftr_sink_free(sink);
}

/* The filters all, chosen by the size so that each input goes one way. */
static const struct ftr_pipeline_options ways[] = {
	{ .event_full = true, .kernel_full = true },
	{ .kernel_only = true },
	{ .threshold_ns = 1000 },
	{ .depth_max = 2, .no_libcall = true },
	{ .from_ns = 1000, .to_ns = 100000, .from_is_elapsed = true, .to_is_elapsed = true,
	  .event_full = true },
};

/* LeakSanitizer asks: libtraceevent 1.7 does not free all of a format that it refuses. */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:tep_parse_event\n";
}

/* One byte at a time, of one trace at a time, which may go on reading. */
static struct drip {
	const uint8_t *p, *end;
} drip;

static ssize_t drip_read(void *arg, void *to, size_t bytes)
{
	if (drip.p == drip.end || bytes == 0)
		return 0;
	*(uint8_t *)to = *drip.p++;
	return 1;
}

static void warn(void *arg, const char *text)
{
	if (getenv("FUZZ_VERBOSE") != NULL)
		fprintf(stderr, "%s\n", text);
}

enum way { WHOLE, DRIPPING, GROWING };

static int read_file(const struct ftr_format *format, struct ftr_trace *trace, enum way way,
		     const void *data, size_t size)
{
	static const struct ftr_istream_feed feed = { .read = drip_read, .window_bytes = 1 };
	struct ftr_err err = { 0 };
	struct ftr_istream in;
	int ret;

	drip = (struct drip){ data, (const uint8_t *)data + size };
	trace->wants_growing = way == GROWING;
	if (way != WHOLE)
		check(ftr_istream_from_feed(&in, "fuzz", &feed, &err) == 0);
	else
		ftr_istream_from_memory(&in, "fuzz", data, size);
	ret = format->read_file(trace, &in, &err);
	check(ret == 0 || (err.code != 0 && err.text[0] != '\0'));
	ftr_istream_close(&in);
	return ret;
}

static int read_dir(const struct ftr_format *format, struct ftr_trace *trace, const void *data,
		    size_t size)
{
	struct ftr_dir *dir = NULL;
	struct ftr_err err = { 0 };
	int ret;

	check(ftr_dir_open_memory(&dir, data, size, &err) == 0);
	ret = format->read_dir(trace, dir, &err);
	check(ret == 0 || (err.code != 0 && err.text[0] != '\0'));
	return ret;
}

/* NULL: nothing that can be shown.  @diag (nullable) counts the warnings. */
static struct ftr_trace *trace_read(const struct ftr_format *format, struct ftr_diag *diag,
				    enum way way, const void *data, size_t size)
{
	struct ftr_trace *trace = ftr_trace_new("fuzz", diag);
	int ret;

	check(trace != NULL);
	trace->format = format->name;
	ret = format->kind == FTR_FORMAT_FILE ? read_file(format, trace, way, data, size) :
						read_dir(format, trace, data, size);
	if (ret == 0)
		return trace;
	ftr_trace_free(trace);
	return NULL;
}

static void trace_write(const struct ftr_format *format, struct ftr_trace *trace,
			struct ftr_ostream *out)
{
	static const struct ftr_pipeline_options options = { .event_full = true,
							     .kernel_full = true };
	void *values = calloc(1, format->values_bytes + 1);
	struct ftr_source *source = NULL;
	struct ftr_sink *sink;
	struct ftr_err err = { 0 };

	check(values != NULL && ftr_ostream_to_memory(out) == 0);
	if (format->defaults != NULL)
		memcpy(values, format->defaults, format->values_bytes);
	check(ftr_trace_pipeline(trace, &options, &source, &err) == 0);
	sink = ftr_sink_new(format->write, out, &err);
	check(sink != NULL);
	sink->values = values;
	check(ftr_pump(source, sink, trace, NULL, &err) == 0);
	ftr_sink_free(sink);
	ftr_source_free(source);
	free(values);
}

/* False: nothing that can be shown. */
static bool rewrite(const struct ftr_format *format, enum way way, const void *data, size_t size,
		    struct ftr_ostream *out, unsigned *warnings)
{
	struct ftr_diag diag = { .warn = warn };
	struct ftr_trace *trace = trace_read(format, &diag, way, data, size);

	if (trace == NULL)
		return false;
	trace_write(format, trace, out);
	ftr_trace_free(trace);
	*warnings = diag.nr;
	return true;
}

static bool is_equal(const struct ftr_ostream *a, const struct ftr_ostream *b)
{
	return a->len == b->len && memcmp(a->buf, b->buf, a->len) == 0;
}

/* A pipe gives what the file does. */
static void check_pipe(const struct ftr_format *format, const uint8_t *data, size_t size,
		       const struct ftr_ostream *once, unsigned warnings)
{
	struct ftr_ostream piped;
	unsigned warnings_piped;

	check(rewrite(format, DRIPPING, data, size, &piped, &warnings_piped));
	check(warnings_piped == warnings);
	check(is_equal(&piped, once));
	ftr_ostream_close(&piped, NULL);
}

/*
 * What was written comes back, and is written the same again; of damaged input at the latest when
 * it was written twice.
 */
static void check_round_trip(const struct ftr_format *format, const uint8_t *data, size_t size)
{
	struct ftr_ostream last, next;
	unsigned warnings, unused;
	bool is_stable = false;

	if (!rewrite(format, WHOLE, data, size, &last, &warnings))
		return;
	if (!format->needs_file)
		check_pipe(format, data, size, &last, warnings);
	for (int passes = warnings > 0 ? 2 : 1; passes > 0 && !is_stable; passes--) {
		is_stable = !rewrite(format, WHOLE, last.buf, last.len, &next, &unused);
		if (is_stable)
			break;		/* nothing of it could be kept */
		is_stable = is_equal(&last, &next);
		ftr_ostream_close(&last, NULL);
		last = next;
	}
	check(is_stable);
	ftr_ostream_close(&last, NULL);
}

/* Filters by time are for traces in order of time. */
static void check_growing(const struct ftr_format *format, const uint8_t *data, size_t size)
{
	struct ftr_diag diag = { 0 };
	struct ftr_trace *trace = trace_read(format, &diag, GROWING, data, size);

	check(trace != NULL);
	pump(trace, &ways[size % 2]);
	ftr_trace_free(trace);
}

static const struct {
	const char *format;
	void (*run)(const uint8_t *data, size_t size);
} extras[] = {
	{ "etrace", fuzz_extra_etrace },
	{ "fxt", fuzz_extra_fxt },
	{ "uftrace", fuzz_extra_uftrace },
};

void fuzz_one(const struct ftr_format *format, const uint8_t *data, size_t size)
{
	struct ftr_diag diag = { 0 };
	struct ftr_trace *trace;

	fuzz_keep(data, size);
	if (format->kind == FTR_FORMAT_FILE)
		format->detect("fuzz", data, size < 4096 ? size : 4096);
	trace = trace_read(format, &diag, WHOLE, data, size);
	if (trace == NULL)
		return;
	pump(trace, &ways[size % (sizeof(ways) / sizeof(ways[0]))]);
	ftr_trace_free(trace);
	if (format->kind == FTR_FORMAT_FILE && (!format->needs_file || format->may_grow))
		check_growing(format, data, size);
	if (format->kind == FTR_FORMAT_FILE && format->write != NULL)
		check_round_trip(format, data, size);
	for (size_t i = 0; i < sizeof(extras) / sizeof(extras[0]); i++)
		if (strcmp(extras[i].format, format->name) == 0)
			extras[i].run(data, size);
}

/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: the reader of uftrace directories, fed from memory (see format/dir.h for the
 * packing), with everything behind it that runs on what it read.  With clang:
 *
 *	./configure CC=clang CFLAGS="-g -O1 -fsanitize=fuzzer-no-link,address,undefined"
 *	make tests/fuzz/uftrace_libfuzzer && mkdir corpus &&
 *	tests/fuzz/replay --pack corpus tests/data/demo-* ... &&
 *	tests/fuzz/uftrace_libfuzzer corpus
 */
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"
#include "utils/base/strbuf.h"
#include "utils/format/dir.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/trace/args.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/sink.h"
#include "utils/trace/pump.h"
#include "utils/trace/trace.h"

/* A sink that checks what calls promises, formats what it is given, and makes trees of it. */
struct check_sink {
	struct ftr_sink base;
	const struct ftr_trace *trace;
	struct graphs graphs;
	struct ftr_strbuf text;
	uint64_t last_ns;
	FTR_VEC(uint32_t) depths;	/* by task->id */
};

static int check_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	((struct check_sink *)sink)->trace = trace;
	graphs_begin(&((struct check_sink *)sink)->graphs, trace);
	return 0;
}

static int check_end(struct ftr_sink *sink)
{
	graphs_end(&((struct check_sink *)sink)->graphs);
	return 0;
}

static void check_fini(struct ftr_sink *sink)
{
	struct check_sink *self = (struct check_sink *)sink;

	ftr_strbuf_fini(&self->text);
	ftr_vec_fini(&self->depths);
}

static void check(int is_true)
{
	if (!is_true)
		abort();
}

static uint32_t *depth_of(struct check_sink *self, const struct ftr_task *task)
{
	while (self->depths.nr <= task->id)
		check(ftr_vec_push(&self->depths, 0) == 0);
	return &self->depths.v[task->id];
}

static int check_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct check_sink *self = (struct check_sink *)sink;
	struct ftr_trace *trace = (struct ftr_trace *)(uintptr_t)self->trace;
	uint32_t *depth = depth_of(self, ev->task);

	graphs_batch(&self->graphs, ev, 1);
	check(ev->time_ns >= self->last_ns);
	self->last_ns = ev->time_ns;
	if (ev->type == FTR_EVENT_EXIT) {
		check(*depth > 0 && ev->call.start_ns <= ev->time_ns);
		--*depth;
	}
	if (ev->type <= FTR_EVENT_EXIT)
		check(ev->depth == *depth && ev->call.func->name[0] != '\0');
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

static const struct ftr_sink_ops check_ops = {
	.size	 = sizeof(struct check_sink),
	.accepts = FTR_BIT(FTR_EVENT_TYPES) - 1,
	.begin	 = check_begin,
	.event	 = check_event,
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ftr_diag diag = { 0 };
	struct ftr_err err = { 0 };
	struct ftr_trace *trace = ftr_trace_new("fuzz", &diag);
	struct ftr_dir *dir = NULL;

	check(trace != NULL && ftr_dir_open_memory(&dir, data, size, &err) == 0);
	if (ftr_uftrace_read_dir(trace, dir, &err) == 0)
		pump(trace, &ways[size % (sizeof(ways) / sizeof(ways[0]))]);
	else
		check(err.code != 0 && err.text[0] != '\0');
	ftr_trace_free(trace);
	return 0;
}

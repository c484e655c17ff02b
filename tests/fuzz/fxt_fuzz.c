/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: the FXT reader, and its writer over what was read.  Sorting in small steps gives the
 * same; what was read and written once is read without complaint and written the same again.  With
 * clang:
 *
 *	./configure CC=clang CFLAGS="-g -O1 -fsanitize=fuzzer-no-link,address,undefined"
 *	make tests/fuzz/fxt_libfuzzer
 *	tests/fuzz/fxt_libfuzzer -dict=tests/fuzz/fxt.dict tests/fuzz/corpus/fxt
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"
#include "utils/base/istream.h"
#include "utils/base/ostream.h"
#include "utils/base/sorter.h"
#include "utils/format/format.h"
#include "utils/format/fxt/fxt.h"
#include "utils/trace/args.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/pump.h"
#include "utils/trace/session.h"
#include "utils/trace/trace.h"

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

static void check_equal(const struct ftr_ostream *a, const struct ftr_ostream *b)
{
	check(a->len == b->len && memcmp(a->buf, b->buf, a->len) == 0);
}

static void say(void *arg, const char *text)
{
	if (getenv("FUZZ_VERBOSE") != NULL)
		fprintf(stderr, "%s\n", text);
}

static struct ftr_source *stream_of(struct ftr_trace *trace)
{
	static const struct ftr_pipeline_options options = { .event_full = true,
							     .kernel_full = true };
	struct ftr_source *source = NULL;
	struct ftr_err err;

	check(ftr_trace_pipeline(trace, &options, &source, &err) == 0);
	return source;
}

/* Sorting by the smallest steps: two runs of two events are merged at a time. */
static const struct ftr_sort_sizes small = { .chunk_nr = 2, .ways = 2 };

/*
 * Write what stands in @data as FXT; out of order it is sorted in @sizes.  False when it is no FXT
 * file at all.
 */
static bool rewrite(const void *data, size_t size, const struct ftr_sort_sizes *sizes,
		    struct ftr_ostream *out, unsigned *warnings)
{
	struct ftr_diag diag = { .warn = say };
	struct ftr_trace *trace = ftr_trace_new("fuzz", &diag);
	struct ftr_source *source;
	struct ftr_sink *sink;
	struct ftr_istream in;
	struct ftr_err err;
	bool is_fxt;

	check(trace != NULL);
	ftr_istream_from_memory(&in, "fuzz", data, size);
	is_fxt = ftr_fxt_read_stream(trace, &in, sizes, &err) == 0;
	if (is_fxt) {
		check(ftr_ostream_to_memory(out) == 0);
		source = stream_of(trace);
		sink = ftr_sink_new(ftr_format_find("fxt")->write, out, &err);
		check(sink != NULL && ftr_pump(source, sink, trace, NULL, &err) == 0);
		ftr_sink_free(sink);
		ftr_source_free(source);
	}
	ftr_trace_free(trace);
	*warnings = diag.nr;
	return is_fxt;
}

/* Payloads as people see them, and trees. */
static void show(const void *data, size_t size)
{
	struct ftr_trace *trace = ftr_trace_new("fuzz", NULL);
	struct ftr_source *source;
	struct ftr_strbuf text;
	struct ftr_event *evs;
	struct ftr_istream in;
	struct graphs graphs;
	struct ftr_err err;
	ssize_t nr;

	check(trace != NULL);
	ftr_istream_from_memory(&in, "fuzz", data, size);
	check(ftr_fxt_read_stream(trace, &in, NULL, &err) == 0);
	source = stream_of(trace);
	ftr_strbuf_init(&text);
	graphs_begin(&graphs, trace);
	while ((nr = ftr_source_next(source, &evs, &err)) > 0) {
		graphs_batch(&graphs, evs, (size_t)nr);
		for (ssize_t i = 0; i < nr; i++) {
			ftr_strbuf_clear(&text);
			if (evs[i].payload != NULL && evs[i].payload->spec != NULL)
				ftr_payload_format(evs[i].payload, trace,
						   ftr_task_session_at(evs[i].task, evs[i].time_ns),
						   &text);
		}
	}
	check(nr == 0);
	graphs_end(&graphs);
	ftr_strbuf_fini(&text);
	ftr_source_free(source);
	ftr_trace_free(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ftr_ostream once, sorted, twice;
	unsigned warnings, again;

	if (!rewrite(data, size, NULL, &once, &warnings))
		return 0;
	check(rewrite(data, size, &small, &sorted, &again) && again == warnings);
	check_equal(&once, &sorted);
	check(rewrite(once.buf, once.len, NULL, &twice, &warnings));
	check(warnings == 0);
	check_equal(&once, &twice);
	show(data, size);
	ftr_ostream_close(&sorted, NULL);
	ftr_ostream_close(&once, NULL);
	ftr_ostream_close(&twice, NULL);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: the reader of the etrace text, its events, and what ftr build makes of it.  What was
 * read and written once is written the same again.  With clang:
 *
 *	./configure CC=clang CFLAGS="-g -O1 -fsanitize=fuzzer-no-link,address,undefined"
 *	make tests/fuzz/etrace_libfuzzer && tests/fuzz/etrace_libfuzzer tests/fuzz/corpus/etrace
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"
#include "utils/analysis/build.h"
#include "utils/format/etrace/etrace.h"
#include "utils/format/etrace/events.h"
#include "utils/trace/args.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/source.h"
#include "utils/trace/trace.h"

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

static void log_load(struct ftr_etrace_log *log, const void *data, size_t size)
{
	struct ftr_istream in;

	ftr_istream_from_memory(&in, "fuzz", data, size);
	ftr_etrace_log_init(log);
	check(ftr_etrace_load(log, &in, NULL, NULL) == 0);
	ftr_istream_close(&in);
}

static void log_write(const struct ftr_etrace_log *log, struct ftr_ostream *out)
{
	static const struct ftr_etrace_options options = { .is_extended = true };
	struct ftr_etrace_writer writer;

	check(ftr_ostream_to_memory(out) == 0);
	ftr_etrace_writer_init(&writer, out, &options);
	for (size_t i = 0; i < log->calls.nr; i++)
		check(ftr_etrace_write(&writer, &log->calls.v[i]) == 0);
	ftr_etrace_writer_fini(&writer);
}

/* One byte at a time. */
struct drip { const uint8_t *p, *end; };

static ssize_t drip_read(void *arg, void *to, size_t bytes)
{
	struct drip *drip = arg;

	if (drip->p == drip->end || bytes == 0)
		return 0;
	*(uint8_t *)to = *drip->p++;
	return 1;
}

/* A pipe gives what the file does. */
static void check_pipe(const struct ftr_etrace_log *log, const uint8_t *data, size_t size)
{
	struct drip drip = { data, data + size };
	struct ftr_ostream whole, piped;
	struct ftr_etrace_log again;
	struct ftr_istream in;

	check(ftr_istream_from_feed(&in, "fuzz",
				    &(struct ftr_istream_feed){ .read = drip_read, .arg = &drip,
								.window_bytes = 1 }, NULL) == 0);
	ftr_etrace_log_init(&again);
	check(ftr_etrace_load(&again, &in, NULL, NULL) == 0);
	ftr_istream_close(&in);
	check(again.violations == log->violations);
	log_write(log, &whole);
	log_write(&again, &piped);
	check(whole.len == piped.len && memcmp(whole.buf, piped.buf, whole.len) == 0);
	ftr_ostream_close(&whole, NULL);
	ftr_ostream_close(&piped, NULL);
	ftr_etrace_log_fini(&again);
}

/* Damage is mended by the first pass, so the second one changes no record. */
static void check_round_trip(const struct ftr_etrace_log *log)
{
	struct ftr_ostream first;
	struct ftr_etrace_log again;

	log_write(log, &first);
	log_load(&again, first.buf, first.len);
	check(again.calls.nr == log->calls.nr);
	ftr_etrace_log_fini(&again);
	ftr_ostream_close(&first, NULL);
}

static void check_build(const struct ftr_build *build)
{
	uint8_t *seen = calloc(build->files.nr + 1, 1);

	check(seen != NULL);
	if (build->files.nr > 0)
		check(ftr_build_inputs(build, &build->files.v[0], seen) == 0 &&
		      ftr_build_outputs(build, &build->files.v[0], seen) == 0);
	free(seen);
}

static void pump_all(struct ftr_trace *trace)
{
	static const struct ftr_pipeline_options options = { 0 };
	struct ftr_source *source = NULL;
	struct ftr_event *evs;
	struct ftr_strbuf text;
	struct ftr_err err;
	struct ftr_sink *build = ftr_build_new(&err);
	struct graphs graphs;
	uint64_t last_ns = 0;
	ssize_t nr;

	check(build != NULL);
	check(ftr_trace_pipeline(trace, &options, &source, &err) == 0);
	ftr_strbuf_init(&text);
	graphs_begin(&graphs, trace);
	while ((nr = ftr_source_next(source, &evs, &err)) > 0) {
		graphs_batch(&graphs, evs, (size_t)nr);
		for (ssize_t i = 0; i < nr; i++) {
			check(evs[i].time_ns >= last_ns);
			last_ns = evs[i].time_ns;
			check(build->ops->event(build, &evs[i]) == 0);
			ftr_strbuf_clear(&text);
			if (evs[i].payload != NULL && evs[i].payload->spec != NULL)
				ftr_payload_format(evs[i].payload, trace, NULL, &text);
		}
	}
	check(nr == 0);
	graphs_end(&graphs);
	check_build(ftr_build_get(build));
	ftr_sink_free(build);
	ftr_strbuf_fini(&text);
	ftr_source_free(source);
}

static void check_events(const uint8_t *data, size_t size)
{
	struct ftr_diag diag = { 0 };
	struct ftr_trace *trace = ftr_trace_new("fuzz", &diag);
	struct ftr_etrace_events *events = NULL;
	struct ftr_istream in;
	struct ftr_err err;

	check(trace != NULL);
	ftr_istream_from_memory(&in, "fuzz", data, size);
	if (ftr_etrace_events_load(&events, trace, &in, &err) == 0) {
		check(ftr_etrace_events_take_rest(events) == 0);
		pump_all(trace);
	}
	ftr_istream_close(&in);
	ftr_trace_free(trace);
	ftr_etrace_events_free(events);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ftr_etrace_log log;

	ftr_etrace_detect("fuzz", data, size < 4096 ? size : 4096);
	log_load(&log, data, size);
	check_pipe(&log, data, size);
	check_round_trip(&log);
	ftr_etrace_log_fini(&log);
	check_events(data, size);
	return 0;
}

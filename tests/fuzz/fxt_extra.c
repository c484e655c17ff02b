/* SPDX-License-Identifier: MIT */
/*
 * Of FXT alone: events out of order come out the same when they are sorted in the smallest steps,
 * and what was written gives no reason for a warning.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/base/istream.h"
#include "utils/base/ostream.h"
#include "utils/base/sorter.h"
#include "utils/format/format.h"
#include "utils/format/fxt/fxt.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/pump.h"
#include "utils/trace/trace.h"

/* Two runs of two events are merged at a time. */
static const struct ftr_sort_sizes small = { .chunk_nr = 2, .ways = 2 };

static void rewrite(const void *data, size_t size, const struct ftr_sort_sizes *sizes,
		    struct ftr_ostream *out, unsigned *warnings)
{
	static const struct ftr_pipeline_options options = { .event_full = true,
							     .kernel_full = true };
	struct ftr_diag diag = { 0 };
	struct ftr_trace *trace = ftr_trace_new("fuzz", &diag);
	struct ftr_source *source = NULL;
	struct ftr_sink *sink;
	struct ftr_istream in;
	struct ftr_err err;

	check(trace != NULL);
	ftr_istream_from_memory(&in, "fuzz", data, size);
	check(ftr_fxt_read_stream(trace, &in, sizes, &err) == 0);
	check(ftr_ostream_to_memory(out) == 0);
	check(ftr_trace_pipeline(trace, &options, &source, &err) == 0);
	sink = ftr_sink_new(ftr_format_find("fxt")->write, out, &err);
	check(sink != NULL && ftr_pump(source, sink, trace, NULL, &err) == 0);
	ftr_sink_free(sink);
	ftr_source_free(source);
	ftr_trace_free(trace);
	*warnings = diag.nr;
}

void fuzz_extra_fxt(const uint8_t *data, size_t size)
{
	struct ftr_ostream plain, sorted;
	unsigned warnings, again;

	rewrite(data, size, NULL, &plain, &warnings);
	rewrite(data, size, &small, &sorted, &again);
	check(warnings == again);
	check(plain.len == sorted.len && memcmp(plain.buf, sorted.buf, plain.len) == 0);
	ftr_ostream_close(&sorted, NULL);
	rewrite(plain.buf, plain.len, NULL, &sorted, &warnings);
	check(warnings == 0);
	ftr_ostream_close(&plain, NULL);
	ftr_ostream_close(&sorted, NULL);
}

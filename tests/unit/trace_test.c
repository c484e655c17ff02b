/* SPDX-License-Identifier: MIT */
/* Sources that wrap sources: calls, merge, threshold, range, select; the pipeline of them all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/trace_util.h"
#include "utils/base/ostream.h"
#include "utils/format/format.h"
#include "utils/trace/merge.h"
#include "utils/trace/ties.h"
#include "utils/trace/pump.h"

static struct ftr_source *streams(const char *a, const char *b, const char *c, bool is_unordered)
{
	struct ftr_source *sources[] = { stream_new(trace, a, 3), stream_new(trace, b, 2),
					 c == NULL ? NULL : stream_new(trace, c, 4) };

	return ftr_merge_new(sources, c == NULL ? 2 : 3, is_unordered);
}

/* Points that carry their numbers, some at one time, in batches whose memory is used again. */
struct payload_stream {
	struct ftr_source base;
	uint32_t pos, nr;
	struct ftr_event evs[7];
	struct ftr_payload payloads[7];
	uint32_t values[7];
};

static ssize_t payload_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct payload_stream *self = (struct payload_stream *)source;
	size_t i;

	for (i = 0; i < 7 && self->pos < self->nr; i++, self->pos++) {
		self->values[i] = self->pos;
		self->payloads[i] = (struct ftr_payload){ .data = (uint8_t *)&self->values[i],
							  .len = sizeof(self->values[i]) };
		self->evs[i] = (struct ftr_event){
			.type = FTR_EVENT_POINT, .time_ns = self->pos / 10,
			.payload = &self->payloads[i],
			.task = ftr_trace_task_get(trace, 1, self->pos % 3 + 1),
			.point.id = self->pos, .point.name = "n",
		};
	}
	*evs = self->evs;
	return (ssize_t)i;
}

static void payload_free(struct ftr_source *source)
{
	free(source);
}

static const struct ftr_source_ops payload_ops = { .next = payload_next, .free = payload_free };

static struct ftr_source *stream_with_payloads(uint32_t nr)
{
	struct payload_stream *self = calloc(1, sizeof(*self));

	assert_non_null(self);
	self->base.ops = &payload_ops;
	self->nr = nr;
	return &self->base;
}

static void test_merge(void **state)
{
	expect(streams("1:a( 4:a)", "T2 2:b( 3:b) 9:c( 10:c)", NULL, false), false,
	       "1:a( T2 2:b( 3:b) T1 4:a) T2 9:c( 10:c)");
	expect(streams("1:a( 4:a)", "", "T3 2:b( 3:b)", false), false,
	       "1:a( T3 2:b( 3:b) T1 4:a)");
	/* At equal times the lower tid goes first, whichever source comes first. */
	expect(streams("T3 1:a( 1:a)", "1:b( 1:b)", "T2 0:c( 1:c)", false), false,
	       "0:c( T1 1:b( 1:b) T2 1:c) T3 1:a( 1:a)");
	expect(streams("1:a( 1:a)", "T2 1:b( 1:b)", "T3 0:c( 1:c)", false), false,
	       "0:c( T1 1:a( 1:a) T2 1:b( 1:b) T3 1:c)");
	expect(streams("5:a( 6:a)", "T2 1:b( 2:b)", NULL, true), false,
	       "5:a( 6:a) T2 1:b( 2:b)");
	expect(ftr_merge_new(NULL, 0, false), false, "");
}

/* Of one source of several tasks. */
static void test_ties(void **state)
{
	for (size_t batch = 1; batch < 12; batch++) {
		expect(ftr_ties_new(stream_new(trace, "T3 1:a( T2 1:b( T3 1:a) T1 1:c( T2 1:b) "
					       "T1 2:c) T2 3:d( T1 4:e( T2 4:d) T1 4:e)", batch)),
		       false, "1:c( T2 1:b( 1:b) T3 1:a( 1:a) T1 2:c) T2 3:d( T1 4:e( 4:e) "
			      "T2 4:d)");
		expect(ftr_ties_new(stream_new(trace, "", batch)), false, "");
	}
}

/* A batch is gone when the next one is asked for: what waits has its values with it. */
static void test_ties_keep_payloads(void **state)
{
	struct ftr_source *source = ftr_ties_new(stream_with_payloads(600));
	struct ftr_event *evs;
	uint32_t seen = 0;
	ssize_t nr;

	while ((nr = ftr_source_next(source, &evs, NULL)) > 0) {
		assert_true(nr <= FTR_SOURCE_BATCH);
		for (ssize_t i = 0; i < nr; i++, seen++) {
			uint32_t value;

			assert_int_equal(evs[i].payload->len, sizeof(value));
			memcpy(&value, evs[i].payload->data, sizeof(value));
			assert_int_equal(value, evs[i].point.id);
		}
	}
	assert_int_equal(seen, 600);
	ftr_source_free(source);
}

static void test_merge_runs(void **state)
{
	struct ftr_strbuf words[2], want;

	/* Long runs of each, which are not copied, and short ones between. */
	for (int i = 0; i < 2; i++)
		ftr_strbuf_init(&words[i]);
	ftr_strbuf_init(&want);
	ftr_strbuf_puts(&words[1], "T2");
	for (int i = 1; i <= 900; i++) {
		int who = i < 500 ? i / 100 % 2 : i % 2;

		ftr_strbuf_printf(&words[who], " %d:f(", i);
		if (i > 1 && who != (i - 1 < 500 ? (i - 1) / 100 % 2 : (i - 1) % 2))
			ftr_strbuf_printf(&want, " T%d", who + 1);
		ftr_strbuf_printf(&want, "%s%d:f(", i == 1 ? "" : " ", i);
	}
	struct ftr_source *sources[] = { stream_new(trace, ftr_strbuf_str(&words[0]), 256),
					 stream_new(trace, ftr_strbuf_str(&words[1]), 256) };

	expect(ftr_merge_new(sources, 2, false), false, ftr_strbuf_str(&want));
	for (int i = 0; i < 2; i++)
		ftr_strbuf_fini(&words[i]);
	ftr_strbuf_fini(&want);
}

static unsigned seen;

static int count_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	assert_int_not_equal(ev->type, FTR_EVENT_POINT);
	seen++;
	return 0;
}

static void test_pump(void **state)
{
	const struct ftr_sink_ops ops = {
		.size = sizeof(struct ftr_sink),
		.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT),
		.event = count_event,
	};
	struct ftr_source *source = stream_new(trace, "1:a( 2:out 3:in 4:!2 5:a)", 2);
	struct ftr_err err = { 0 };
	struct ftr_sink *sink = ftr_sink_new(&ops, NULL, &err);
	struct ftr_pump_stats stats;
	struct ftr_strbuf text;

	seen = 0;
	assert_int_equal(ftr_pump(source, sink, trace, &stats, &err), 0);
	assert_int_equal(seen, 2);
	assert_int_equal(stats.events, 5);
	ftr_strbuf_init(&text);
	assert_true(ftr_pump_describe_loss(&stats, sink, &text));
	assert_non_null(strstr(ftr_strbuf_str(&text), "2 events"));
	assert_non_null(strstr(ftr_strbuf_str(&text), "1 marks of lost records"));
	ftr_strbuf_fini(&text);
	ftr_sink_free(sink);
	ftr_source_free(source);
}

/* The format "null" takes events of every type, writes none of them, and loses nothing by it. */
static void test_null(void **state)
{
	const struct ftr_format *format = ftr_format_find("null");
	struct ftr_source *source = stream_new(trace, "1:a( 2:out 3:in 4:!2 5:a)", 2);
	struct ftr_err err = { 0 };
	struct ftr_pump_stats stats;
	struct ftr_ostream out;
	struct ftr_strbuf text;
	struct ftr_sink *sink;

	assert_non_null(format);
	for (unsigned type = 0; type < FTR_EVENT_TYPES; type++)
		assert_true(format->write->accepts & FTR_BIT(type));
	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	sink = ftr_sink_new(format->write, &out, &err);
	assert_int_equal(ftr_pump(source, sink, trace, &stats, &err), 0);
	assert_int_equal(stats.events, 5);
	assert_int_equal(out.len, 0);
	ftr_strbuf_init(&text);
	assert_false(ftr_pump_describe_loss(&stats, sink, &text));
	ftr_strbuf_fini(&text);
	ftr_sink_free(sink);
	assert_int_equal(ftr_ostream_close(&out, &err), 0);
	ftr_source_free(source);
}

static void test_session(void **state)
{
	struct ftr_session *session = ftr_trace_session_new(trace, "0123456789abcdef", 1, 0);
	struct ftr_module *exe = ftr_trace_module_get(trace, "/bin/exe", NULL);
	struct ftr_module *lib = ftr_trace_module_get(trace, "/lib/lib.so", "ab");
	struct ftr_module *loaded = ftr_trace_module_get(trace, "/lib/loaded.so", NULL);
	uint64_t next;

	assert_ptr_equal(lib, ftr_trace_module_get(trace, "/lib/lib.so", "ab"));
	assert_ptr_not_equal(lib, ftr_trace_module_get(trace, "/lib/lib.so", "cd"));
	assert_string_equal(lib->name, "lib.so");
	ftr_session_map(session,
			&(struct ftr_mapping){ .start = 0x1000, .end = 0x2000, .module = exe });
	ftr_session_map(session,
			&(struct ftr_mapping){
				.start = 0x5000, .end = 0x6000, .since_ns = 100, .module = lib });
	assert_ptr_equal(ftr_session_find(session, 50, 0x1fff)->module, exe);
	assert_null(ftr_session_find(session, 50, 0x2000));
	assert_ptr_equal(ftr_session_find(session, 100, 0x5000)->module, lib);
	/* A constructor runs before its dlopen is known. */
	assert_ptr_equal(ftr_session_find(session, 50, 0x5000)->module, lib);
	assert_int_equal(ftr_session_epoch(session, 99, &next), 0);
	assert_int_equal(next, 100);
	assert_int_equal(ftr_session_epoch(session, 100, &next), 1);
	/*
	 * Where a loaded library ends is not known, but it does not cover one that is there from
	 * the start.
	 */
	ftr_session_map(session, &(struct ftr_mapping){ .start = 0x4000,
							.end = 0x90000,
							.since_ns = 100,
							.module = loaded,
							.is_open = true });
	ftr_session_bound(session, ftr_session_find(session, 100, 0x4000));
	assert_ptr_equal(ftr_session_find(session, 100, 0x4fff)->module, loaded);
	assert_ptr_equal(ftr_session_find(session, 100, 0x5000)->module, lib);
}

static void test_resolve_unknown(void **state)
{
	const struct ftr_func *func = ftr_trace_resolve(trace, NULL, 0, 0xabc);

	assert_string_equal(func->name, "<abc>");
	assert_ptr_equal(func, ftr_trace_resolve(trace, NULL, 5, 0xabc));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, trace_setup, trace_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_merge), TEST(test_ties), TEST(test_ties_keep_payloads),
		TEST(test_merge_runs), TEST(test_pump), TEST(test_null), TEST(test_session),
		TEST(test_resolve_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

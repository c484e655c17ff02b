/* SPDX-License-Identifier: MIT */
/*
 * Text that threads make ahead beside text made as events come: the same bytes of replay, dump and
 * chrome, with their options, of recorded directories and of made-up ones, sound and damaged.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/made_dir.h"
#include "utils/base/bits.h"
#include "utils/base/ostream.h"
#include "utils/format/dir.h"
#include "utils/format/format.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/pump.h"
#include "utils/trace/text_ahead.h"
#include "utils/trace/trace.h"
#include "utils/view/dump.h"
#include "utils/view/replay.h"

/* Pieces of so many records, by so many threads. */
static const struct way {
	size_t records;
	unsigned thread_nr;
} alone = { 1, 1 }, ways[] = {
	{ 1, 2 }, { 2, 2 }, { 7, 3 }, { 255, 2 }, { 256, 3 }, { 1000, 2 },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static const struct ftr_replay_opts listings[] = {
	{ .fields = NULL },
	{ .use_color = true },
	{ .no_merge = true },
	{ .no_comment = true, .no_args = true },
	{ .has_srcline = true, .fields = "none" },
	{ .fields = "time,elapsed,addr,task,module", .use_color = true },
	{ .fields = "+delta" },
	{ .is_column_view = true, .column_offset = 8 },
	{ .has_task_newline = true },
	{ .times = FTR_REPLAY_ELAPSED },
};
#define LISTINGS (sizeof(listings) / sizeof(listings[0]))

enum kind { DUMP = LISTINGS, DUMP_HEX, DUMP_RANGE, CHROME, KINDS };

static void pump_into(struct ftr_trace *trace, struct ftr_sink *sink)
{
	const struct ftr_pipeline_options options = { .event_full = true, .kernel_full = true };
	struct ftr_source *source = NULL;
	struct ftr_err err = { 0 };

	assert_non_null(sink);
	sink->err = &err;
	assert_int_equal(ftr_trace_pipeline(trace, &options, &source, &err), 0);
	assert_int_equal(ftr_pump(source, sink, trace, NULL, &err), 0);
	ftr_sink_free(sink);
	ftr_source_free(source);
}

static void listing_of(struct ftr_trace *trace, unsigned kind, struct ftr_ostream *out)
{
	const struct ftr_pipeline_options all = { 0 };
	const struct ftr_pipeline_options range = { .from_ns = 1, .to_ns = trace->first_ns + 5000 };
	const struct ftr_dump_opts opts = {
		.has_hex = kind == DUMP_HEX, .selection = kind == DUMP_RANGE ? &range : &all,
	};
	struct ftr_err err = { 0 };

	if (kind < LISTINGS)
		pump_into(trace, ftr_replay_new(&listings[kind], out, &err));
	else if (kind == CHROME)
		pump_into(trace, ftr_sink_new(ftr_format_find("chrome")->write, out, &err));
	else
		assert_int_equal(ftr_dump_print(trace, &opts, out, &err), 0);
}

/* Reads @trace and frees it. */
static void text_of(struct ftr_trace *trace, const struct way *way, unsigned kind,
		    struct ftr_ostream *out)
{
	assert_int_equal(ftr_ostream_to_memory(out), 0);
	trace->chunk_bytes = way->records * 16;
	trace->thread_nr = way->thread_nr;
	listing_of(trace, kind, out);
	ftr_trace_free(trace);
	assert_int_equal(out->code, 0);
}

static void same_text(const struct ftr_ostream *got, const struct ftr_ostream *expected)
{
	assert_int_equal(got->len, expected->len);
	assert_memory_equal(got->buf, expected->buf, expected->len);
}

/* ---- made-up directories ---- */

static struct ftr_trace *made_open(const struct ftr_strbuf *packed, struct ftr_diag *diag)
{
	struct ftr_trace *trace = ftr_trace_new("test", diag);
	struct ftr_err err = { 0 };
	struct ftr_dir *dir;

	assert_int_equal(ftr_dir_open_memory(&dir, packed->s, packed->len, &err), 0);
	assert_int_equal(ftr_uftrace_read_dir(trace, dir, &err), 0);
	return trace;
}

static void compare_story(const struct made_story *story, uint64_t seed)
{
	struct ftr_strbuf packed;

	made_random = seed;
	ftr_strbuf_init(&packed);
	made_base(&packed, story);
	made_tasks(&packed, story);
	for (unsigned kind = 0; kind < KINDS; kind++) {
		struct ftr_ostream expected, got;
		struct ftr_diag diag = { 0 };

		text_of(made_open(&packed, &diag), &alone, kind, &expected);
		assert_true(expected.len > 0);
		for (size_t i = 0; i < WAYS; i++) {
			text_of(made_open(&packed, &diag), &ways[i], kind, &got);
			same_text(&got, &expected);
			ftr_ostream_close(&got, NULL);
		}
		ftr_ostream_close(&expected, NULL);
	}
	ftr_strbuf_fini(&packed);
}

static void made_directories(void **state)
{
	static const struct made_story stories[] = {
		{ .depth_max = 8 }, { .depth_max = 8, .is_big = true, .sleep = 50 },
		{ .depth_max = 2000, .stray = 99 }, { .depth_max = 8, .stray = 2, .sleep = 9 },
		{ .depth_max = 9, .event = 40, .leap = 30 },
		{ .depth_max = 30, .event = 200, .lost = 200, .wrong = 200, .back = 200,
		  .jump = 200, .torn = 200, .stray = 20, .sleep = 300 },
	};

	for (uint64_t seed = 0; seed < made_seeds(3); seed++)
		for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
			compare_story(&stories[i], 100 * seed + i + 1);
}

/* ---- recorded directories ---- */

static void path_text(const char *path, const struct way *way, unsigned kind,
		      struct ftr_ostream *out)
{
	struct ftr_diag diag = { 0 };
	struct ftr_err err = { 0 };
	struct ftr_trace *trace;

	assert_int_equal(ftr_trace_open(&trace, path, &diag, &err), 0);
	text_of(trace, way, kind, out);
}

static void recorded_directories(void **state)
{
	static const char *const names[] = {
		"demo-args", "demo-fork", "demo-lost", "demo-plain", "demo-spec", "demo-threads",
		"demo-trigger", "events", "events-lost", "jumps", "kernel", "lost", "quit",
		"reads", "structs", "threads", "ties", "values",
	};
	const char *srcdir = getenv("srcdir");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/tests/data/%s", srcdir == NULL ? "." : srcdir,
			 names[i]);
		for (unsigned kind = 0; kind < KINDS; kind++) {
			struct ftr_ostream expected, got;

			path_text(path, &alone, kind, &expected);
			assert_true(expected.len > 0);
			for (size_t k = 0; k < WAYS; k++) {
				path_text(path, &ways[k], kind, &got);
				same_text(&got, &expected);
				ftr_ostream_close(&got, NULL);
			}
			ftr_ostream_close(&expected, NULL);
		}
	}
}

/* ---- by itself ---- */

/* A line for each event: its time, and that of the event before it. */
struct maker {
	struct ftr_ostream *out;
	struct ftr_err *err;
	uint64_t fails_at;
};

static void *maker_new(const void *owner, struct ftr_ostream *out, struct ftr_err *err)
{
	struct maker *self = malloc(sizeof(*self));

	assert_non_null(self);
	*self = (struct maker){ out, err, *(const uint64_t *)owner };
	return self;
}

static int maker_make(void *maker, const struct ftr_event *before, const struct ftr_event *evs,
		      size_t nr)
{
	struct maker *self = maker;
	uint64_t last = before == NULL ? 0 : before->time_ns;

	for (size_t i = 0; i < nr; i++) {
		if (evs[i].time_ns == self->fails_at)
			return ftr_err_set(self->err, ENOMEM, "made to fail");
		ftr_ostream_printf(self->out, "%d after %d\n", (int)evs[i].time_ns, (int)last);
		last = evs[i].time_ns;
	}
	return 0;
}

static const struct ftr_text_ops ops = {
	.maker_new = maker_new, .maker_free = free, .make = maker_make,
};

static struct ftr_text_ahead *ahead_new(const uint64_t *fails_at, size_t records,
					struct ftr_ostream *out)
{
	const struct ftr_trace trace = { .thread_nr = 2, .chunk_bytes = records * 16 };
	struct ftr_text_ahead *ahead = ftr_text_ahead_new(&trace, &ops, fails_at, out);

	assert_non_null(ahead);
	return ahead;
}

static void number(struct ftr_event *evs, size_t nr, uint64_t from)
{
	for (size_t i = 0; i < nr; i++)
		evs[i] = (struct ftr_event){ .time_ns = from + i, .type = i % 2 };
}

static void texts_stand_in_order(void **state)
{
	static const struct ftr_payload payload;
	const uint64_t never = UINT64_MAX;

	for (size_t records = 1; records < 40; records += 3) {
		struct ftr_event evs[100], before = { .time_ns = 900 };
		struct ftr_ostream out, expected;
		struct ftr_text_ahead *ahead;
		struct ftr_err err = { 0 };

		assert_int_equal(ftr_ostream_to_memory(&out), 0);
		assert_int_equal(ftr_ostream_to_memory(&expected), 0);
		ahead = ahead_new(&never, records, &out);
		number(evs, 100, 1000);
		assert_int_equal(ftr_text_ahead_take(ahead, &before, evs, 60, &err), 1);
		assert_int_equal(ftr_text_ahead_take(ahead, &before, evs + 60, 40, &err), 1);
		evs[17].payload = &payload;
		assert_int_equal(ftr_text_ahead_take(ahead, NULL, evs, 18, &err), 0);
		for (int i = 0; i < 100; i++)
			ftr_ostream_printf(&expected, "%d after %d\n", 1000 + i,
					   i == 0 ? 900 : 999 + i);
		same_text(&out, &expected);
		assert_int_equal(ftr_text_ahead_take(ahead, NULL, evs, 1, &err), 1);
		assert_int_equal(ftr_text_ahead_drain(ahead, &err), 0);
		ftr_ostream_puts(&expected, "1000 after 0\n");
		same_text(&out, &expected);
		ftr_text_ahead_free(ahead);
		ftr_ostream_close(&out, NULL);
		ftr_ostream_close(&expected, NULL);
	}
}

static void failures_are_told(void **state)
{
	const uint64_t fails_at = 50;
	struct ftr_event evs[100];
	struct ftr_text_ahead *ahead;
	struct ftr_ostream out;
	struct ftr_err err = { 0 };
	int ret;

	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	ahead = ahead_new(&fails_at, 10, &out);
	number(evs, 100, 0);
	ret = ftr_text_ahead_take(ahead, NULL, evs, 100, &err);
	if (ret > 0)
		ret = ftr_text_ahead_drain(ahead, &err);
	assert_int_equal(ret, -ENOMEM);
	assert_string_equal(err.text, "made to fail");
	ftr_text_ahead_free(ahead);
	ftr_ostream_close(&out, NULL);
}

/* What comes after a failure to write is taken, and goes nowhere. */
static void a_full_disk_is_no_hang(void **state)
{
	const uint64_t never = UINT64_MAX;
	struct ftr_event evs[100];
	struct ftr_text_ahead *ahead;
	struct ftr_ostream out;
	struct ftr_err err = { 0 };
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_int_equal(ftr_ostream_from_fd(&out, full, "full"), 0);
	ahead = ahead_new(&never, 10, &out);
	number(evs, 100, 0);
	while (out.code == 0)
		assert_int_equal(ftr_text_ahead_take(ahead, NULL, evs, 100, &err), 1);
	assert_int_equal(out.code, ENOSPC);
	assert_int_equal(ftr_text_ahead_drain(ahead, &err), 0);
	ftr_text_ahead_free(ahead);
	ftr_ostream_close(&out, &err);
	close(full);
}

static void one_processor_does_without(void **state)
{
	const struct ftr_trace one = { .thread_nr = 1 };
	const struct ftr_trace growing = { .thread_nr = 2, .is_growing = true };
	const uint64_t never = UINT64_MAX;
	struct ftr_event ev = { .time_ns = 1 };
	struct ftr_ostream out;
	struct ftr_err err = { 0 };

	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	assert_null(ftr_text_ahead_new(&one, &ops, &never, &out));
	assert_null(ftr_text_ahead_new(&growing, &ops, &never, &out));
	assert_int_equal(ftr_text_ahead_take(NULL, NULL, &ev, 1, &err), 0);
	assert_int_equal(ftr_text_ahead_drain(NULL, &err), 0);
	ftr_text_ahead_free(NULL);
	ftr_ostream_close(&out, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_directories),
		cmocka_unit_test(recorded_directories),
		cmocka_unit_test(texts_stand_in_order),
		cmocka_unit_test(failures_are_told),
		cmocka_unit_test(a_full_disk_is_no_hang),
		cmocka_unit_test(one_processor_does_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

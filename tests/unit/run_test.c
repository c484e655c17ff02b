/* SPDX-License-Identifier: MIT */
/*
 * Runs beside events: the same sums and trees, of recorded directories and of made-up ones, sound
 * and damaged, in whatever chunks and threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/runs.h"
#include "tests/unit/made_dir.h"
#include "utils/base/ahead.h"
#include "utils/base/bits.h"
#include "utils/format/dir.h"
#include "utils/format/format.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/proto/record.h"
#include "utils/trace/trace.h"

static const struct runs_way by_events = { 0, 0 };
static const struct runs_way ways[] = {
	{ 16, 1 }, { 160, 1 }, { 4096, 1 }, { 1 << 20, 1 }, { 160, 2 }, { 4096, 3 },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static const struct runs_what whats[] = {
	{ .is_tree = false }, { .is_tree = true },
	/* Calls that are left out; names as made_dir.c has them, and the recorded directories. */
	{ .threshold_ns = 1 }, { .threshold_ns = 20 }, { .threshold_ns = 1000000 },
	{ .rules = "-F func_1|main" }, { .is_tree = true, .rules = "-F func_1|main" },
	{ .rules = "-N func_2|work" }, { .is_tree = true, .rules = "-N func_2|work" },
	{ .rules = "-F func_[02] -N func_3 -H func_[12]" },
	{ .is_tree = true, .rules = "-F func_[02] -N func_3 -H func_[12]" },
	{ .depth_max = 3, .rules = "-T func_3@depth=2" },
	{ .is_tree = true, .depth_max = 3, .rules = "-F func_[135] -T func_3@depth=2" },
	{ .threshold_ns = 10, .rules = "-F func_1 -N func_4" },
	{ .is_tree = true, .threshold_ns = 1 }, { .is_tree = true, .threshold_ns = 20 },
	{ .is_tree = true, .threshold_ns = 10, .rules = "-N func_2" },
	/* ... and those for which runs say too little. */
	{ .rules = "-T func_1@sample=3" }, { .rules = "-T func_1@size=20" },
	{ .threshold_ns = 10, .rules = "-T func_1@time=30" },
};
#define WHATS_IN_RUNS 17	/* of them */
#define WHATS (sizeof(whats) / sizeof(whats[0]))

_Noreturn void fuzz_fail(const char *what, const char *file, int line)
{
	fail_msg("%s:%d: not so: %s", file, line, what);
	abort();
}

/* ---- made-up directories ---- */

static void sums_of(const struct ftr_strbuf *packed, const struct runs_way *way,
		    const struct runs_what *what, struct ftr_strbuf *text, size_t *in_runs)
{
	struct ftr_diag diag = { 0 };
	struct ftr_trace *trace = ftr_trace_new("test", &diag);
	struct ftr_err err = { 0 };
	struct ftr_dir *dir;

	ftr_strbuf_init(text);
	assert_int_equal(ftr_dir_open_memory(&dir, packed->s, packed->len, &err), 0);
	assert_int_equal(ftr_uftrace_read_dir(trace, dir, &err), 0);
	*in_runs = runs_text(trace, way, what, text);
	ftr_strbuf_printf(text, "%u warnings\n", diag.nr);
}

/* Returns how many events came in runs, in all ways together. */
static size_t compare_ways(const struct ftr_strbuf *packed, const struct runs_what *what)
{
	struct ftr_strbuf expected, got;
	size_t all = 0, in_runs;

	sums_of(packed, &by_events, what, &expected, &in_runs);
	assert_int_equal(in_runs, 0);
	for (size_t i = 0; i < WAYS; i++) {
		sums_of(packed, &ways[i], what, &got, &in_runs);
		assert_string_equal(ftr_strbuf_str(&got), ftr_strbuf_str(&expected));
		ftr_strbuf_fini(&got);
		all += in_runs;
	}
	ftr_strbuf_fini(&expected);
	return all;
}

static size_t compare_story(const struct made_story *story, const struct runs_what *what,
			    uint64_t seed)
{
	struct ftr_strbuf packed;
	size_t all;

	made_random = seed;
	ftr_strbuf_init(&packed);
	made_base(&packed, story);
	if (story->sleep != 0) {
		made_tasks(&packed, story);
	} else {
		made_task(&packed, story, 5);
		made_task(&packed, story, 6);
	}
	all = compare_ways(&packed, what);
	ftr_strbuf_fini(&packed);
	return all;
}

static void sound_calls_come_in_runs(void **state)
{
	static const struct made_story stories[] = {
		{ .depth_max = 8 }, { .depth_max = 8, .is_big = true }, { .depth_max = 2000 },
		{ .depth_max = 8, .stray = 9 }, { .depth_max = 2000, .stray = 99 },
		{ .depth_max = 30, .is_big = true, .stray = 3 },
	};

	/*
	 * All but what stands beside a change of the map, of two tasks; with rules, but where runs
	 * are no gain.
	 */
	for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
		for (size_t n = 0; n < WHATS_IN_RUNS; n++)
			assert_true(compare_story(&stories[i], &whats[n], i + 1) >
				    WAYS * 2 * MADE_RECORDS *
				    (whats[n].rules == NULL ? 8 : 5) / 10);
}

static void damage_changes_nothing(void **state)
{
	static const struct made_story stories[] = {
		{ .depth_max = 9, .event = 40 }, { .depth_max = 9, .lost = 50 },
		{ .depth_max = 9, .wrong = 60 }, { .depth_max = 9, .back = 60 },
		{ .depth_max = 9, .jump = 90 }, { .depth_max = 9, .torn = 80 },
		{ .depth_max = 9, .stray = 40, .wrong = 300 }, { .depth_max = 9, .sleep = 20 },
		{ .depth_max = 12, .stray = 20, .lost = 200, .back = 200 },
		{ .depth_max = 30, .event = 200, .lost = 200, .wrong = 200, .back = 200,
		  .jump = 200, .torn = 200 },
	};

	for (uint64_t seed = 0; seed < made_seeds(12); seed++)
		for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
			for (size_t n = 0; n < WHATS; n++)
				compare_story(&stories[i], &whats[n], 100 * seed + i);
}

/* ---- recorded directories ---- */

static void sums_of_path(const char *path, const struct runs_way *way,
			 const struct runs_what *what, struct ftr_strbuf *text)
{
	struct ftr_diag diag = { 0 };
	struct ftr_trace *trace;
	struct ftr_err err = { 0 };

	ftr_strbuf_init(text);
	if (ftr_trace_open(&trace, path, &diag, &err) < 0)
		return;
	runs_text(trace, way, what, text);
	ftr_strbuf_printf(text, "%u warnings\n", diag.nr);
}

static void recorded_directories(void **state)
{
	static const char *const names[] = {
		"demo-args", "demo-fork", "demo-lost", "demo-plain", "demo-spec", "demo-threads",
		"demo-trigger", "events", "events-lost", "jumps", "kernel", "lost", "quit",
		"reads", "structs", "threads", "ties", "values",
	};
	const char *srcdir = getenv("srcdir");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) * WHATS * WAYS; i++) {
		const struct runs_what *what = &whats[i / WAYS % WHATS];
		const char *name = names[i / (WHATS * WAYS)];
		struct ftr_strbuf expected, got;
		char path[512];

		snprintf(path, sizeof(path), "%s/tests/data/%s", srcdir == NULL ? "." : srcdir,
			 name);
		sums_of_path(path, &by_events, what, &expected);
		sums_of_path(path, &ways[i % WAYS], what, &got);
		assert_true(expected.len > 0);
		assert_string_equal(ftr_strbuf_str(&got), ftr_strbuf_str(&expected));
		ftr_strbuf_fini(&expected);
		ftr_strbuf_fini(&got);
	}
}

/* ---- work ahead ---- */

static void square(void *arg, size_t place, size_t i)
{
	((uint64_t *)arg)[place] = i * i;
}

static void pieces_are_taken_in_order(void **state)
{
	for (unsigned threads = 2; threads < 5; threads++) {
		uint64_t results[16];
		struct ftr_ahead *ahead;

		assert_true(ftr_ahead_places(threads) <= 16);
		assert_int_equal(ftr_ahead_new(&ahead, threads, 1000, square, results), 0);
		for (size_t i = 0; i < 900; i += 1 + (i % 100 == 50) * 40)
			assert_int_equal(results[ftr_ahead_take(ahead, i)], i * i);
		ftr_ahead_free(ahead);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound_calls_come_in_runs),
		cmocka_unit_test(damage_changes_nothing),
		cmocka_unit_test(recorded_directories),
		cmocka_unit_test(pieces_are_taken_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

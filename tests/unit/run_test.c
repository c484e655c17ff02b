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
#include "tests/unit/packed.h"
#include "utils/base/ahead.h"
#include "utils/base/bits.h"
#include "utils/format/dir.h"
#include "utils/format/format.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/proto/record.h"
#include "utils/trace/trace.h"

#define RECORDS 3000
#define FUNCS	6u
#define LAYOUT "1000-9000 r-xp 00000000 00:00 0                          /bin/prog\n" \
	       "f000-ff00 rw-p 00000000 00:00 0                          [stack]\n"

static const struct runs_way by_events = { 0, 0 };
static const struct runs_way ways[] = {
	{ 16, 1 }, { 160, 1 }, { 4096, 1 }, { 1 << 20, 1 }, { 160, 2 }, { 4096, 3 },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

_Noreturn void fuzz_fail(const char *what, const char *file, int line)
{
	fail_msg("%s:%d: not so: %s", file, line, what);
	abort();
}

/* ---- made-up directories ---- */

static uint64_t random_state;

static uint32_t random_below(uint32_t end)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % end;
}

/* What a task does, one time in so many records; 0 = never. */
struct story {
	uint32_t depth_max;
	uint32_t lost, event, back, jump, wrong, torn;
	bool is_big;
};

struct task_data {
	struct ftr_record records[RECORDS];
	uint32_t stack[2048];
	size_t nr, depth;
	uint64_t now_ns;
};

static uint64_t swapped(uint64_t word, bool is_big)
{
	return is_big ? __builtin_bswap64(word) : word;
}

static bool happens(uint32_t one_in)
{
	return one_in != 0 && random_below(one_in) == 0;
}

static void add(struct task_data *data, const struct story *story, uint64_t word)
{
	data->records[data->nr++] = (struct ftr_record){ swapped(data->now_ns, story->is_big),
							 swapped(word, story->is_big) };
}

static uint64_t func_addr(uint32_t func)
{
	return 0x1100 + 0x100 * (uint64_t)func;
}

static void add_call(struct task_data *data, const struct story *story)
{
	bool is_exit = data->depth > 0 && (data->depth == story->depth_max || random_below(2));
	uint32_t func = random_below(FUNCS);
	size_t depth;

	if (!is_exit)
		data->stack[data->depth++] = func;
	else
		func = data->stack[--data->depth];
	depth = data->depth - !is_exit;
	if (happens(story->wrong))
		func = (func + 1) % FUNCS;
	if (happens(story->wrong))
		depth += random_below(3);
	if (depth > FTR_RECORD_DEPTH_MAX)
		depth = FTR_RECORD_DEPTH_MAX;
	/* Now and then another address of the same function. */
	add(data, story, ftr_record_word(is_exit ? FTR_RECORD_EXIT : FTR_RECORD_ENTRY,
					 (unsigned)depth,
					 func_addr(func) + (happens(story->wrong) ? 4 : 0)));
}

static void add_any(struct task_data *data, const struct story *story)
{
	data->now_ns += random_below(5);
	if (happens(story->back))
		data->now_ns -= random_below(50);
	if (happens(story->jump))
		data->now_ns += FTR_BIT64(33);
	if (happens(story->lost))
		add(data, story, ftr_record_word(FTR_RECORD_LOST, 0, 3));
	else if (happens(story->event))
		add(data, story, ftr_record_word(FTR_RECORD_EVENT, 0,
						 FTR_RECORD_EVENT_STALL_BEGIN + random_below(2)));
	else if (happens(story->torn))
		add(data, story, random_state);
	else
		add_call(data, story);
}

static void add_task(struct ftr_strbuf *packed, const struct story *story, int tid)
{
	struct task_data *data = calloc(1, sizeof(*data));
	char name[32];

	assert_non_null(data);
	data->now_ns = 1000 + (uint64_t)tid;
	while (data->nr < RECORDS)
		add_any(data, story);
	snprintf(name, sizeof(name), "%d.dat", tid);
	packed_add(packed, name, data->records,
		   sizeof(data->records) - (happens(story->torn) ? 8 : 0));
	free(data);
}

static void add_base(struct ftr_strbuf *packed, bool is_big)
{
	static const char tasks[] =
		"SESS timestamp=0.000000001 pid=5 sid=00000000000000aa exename=\"/bin/prog\"\n"
		"TASK timestamp=0.000000002 tid=5 pid=5\nTASK timestamp=0.000000003 tid=6 pid=5\n"
		"DLOP timestamp=0.000003000 tid=5 sid=00000000000000aa base=0 libname=\"/bin/lib\"\n";
	static const char lines[] = "taskinfo:lines=2\ntaskinfo:nr_tid=2\ntaskinfo:tids=5,6\n";
	unsigned char info[40 + sizeof(lines)] = { 'F', 't', 'r', 'a', 'c', 'e', '!', 0 };
	char symbols[FUNCS * 64] = "";

	info[is_big ? 11 : 8] = 4;
	info[is_big ? 13 : 12] = 40;
	info[14] = is_big ? 2 : 1;
	info[15] = 2;
	info[is_big ? 23 : 16] = FTR_FEATURE_SYM_REL_ADDR | FTR_FEATURE_TASK_SESSION;
	memcpy(info + 40, lines, sizeof(lines) - 1);
	for (uint32_t i = 0; i < FUNCS; i++)
		snprintf(symbols + strlen(symbols), sizeof(symbols) - strlen(symbols),
			 "%016x 00000010 T func_%u\n", (unsigned)func_addr(i) - 0x1000, i);
	packed_add(packed, "info", info, sizeof(info) - 1);
	packed_add(packed, "task.txt", tasks, sizeof(tasks) - 1);
	packed_add(packed, "sid-00000000000000aa.map", LAYOUT, sizeof(LAYOUT) - 1);
	packed_add(packed, "prog.sym", symbols, strlen(symbols));
}

static void sums_of(const struct ftr_strbuf *packed, const struct runs_way *way, bool is_tree,
		    struct ftr_strbuf *text, size_t *in_runs)
{
	struct ftr_diag diag = { 0 };
	struct ftr_trace *trace = ftr_trace_new("test", &diag);
	struct ftr_err err = { 0 };
	struct ftr_dir *dir;

	ftr_strbuf_init(text);
	assert_int_equal(ftr_dir_open_memory(&dir, packed->s, packed->len, &err), 0);
	assert_int_equal(ftr_uftrace_read_dir(trace, dir, &err), 0);
	*in_runs = runs_text(trace, way, is_tree, text);
	ftr_strbuf_printf(text, "%u warnings\n", diag.nr);
}

/* Returns how many events came in runs, in all ways together. */
static size_t compare_ways(const struct ftr_strbuf *packed, bool is_tree)
{
	struct ftr_strbuf expected, got;
	size_t all = 0, in_runs;

	sums_of(packed, &by_events, is_tree, &expected, &in_runs);
	assert_int_equal(in_runs, 0);
	for (size_t i = 0; i < WAYS; i++) {
		sums_of(packed, &ways[i], is_tree, &got, &in_runs);
		assert_string_equal(ftr_strbuf_str(&got), ftr_strbuf_str(&expected));
		ftr_strbuf_fini(&got);
		all += in_runs;
	}
	ftr_strbuf_fini(&expected);
	return all;
}

static size_t compare_story(const struct story *story, uint64_t seed)
{
	struct ftr_strbuf packed;
	size_t all;

	random_state = seed;
	ftr_strbuf_init(&packed);
	add_base(&packed, story->is_big);
	add_task(&packed, story, 5);
	add_task(&packed, story, 6);
	all = compare_ways(&packed, false) + compare_ways(&packed, true);
	ftr_strbuf_fini(&packed);
	return all;
}

static void sound_calls_come_in_runs(void **state)
{
	static const struct story stories[] = {
		{ .depth_max = 8 }, { .depth_max = 8, .is_big = true }, { .depth_max = 2000 },
	};

	/* All but what stands beside a change of the map: of two tasks, as sums and as a tree. */
	for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
		assert_true(compare_story(&stories[i], i + 1) > WAYS * 2 * 2 * RECORDS * 8 / 10);
}

static void damage_changes_nothing(void **state)
{
	static const struct story stories[] = {
		{ .depth_max = 9, .event = 40 }, { .depth_max = 9, .lost = 50 },
		{ .depth_max = 9, .wrong = 60 }, { .depth_max = 9, .back = 60 },
		{ .depth_max = 9, .jump = 90 }, { .depth_max = 9, .torn = 80 },
		{ .depth_max = 30, .event = 200, .lost = 200, .wrong = 200, .back = 200,
		  .jump = 200, .torn = 200 },
	};

	for (uint64_t seed = 0; seed < 12; seed++)
		for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
			compare_story(&stories[i], 100 * seed + i);
}

/* ---- recorded directories ---- */

static void sums_of_path(const char *path, const struct runs_way *way, bool is_tree,
			 struct ftr_strbuf *text)
{
	struct ftr_diag diag = { 0 };
	struct ftr_trace *trace;
	struct ftr_err err = { 0 };

	ftr_strbuf_init(text);
	if (ftr_trace_open(&trace, path, &diag, &err) < 0)
		return;
	runs_text(trace, way, is_tree, text);
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

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) * 2 * WAYS; i++) {
		const char *name = names[i / (2 * WAYS)];
		struct ftr_strbuf expected, got;
		char path[512];

		snprintf(path, sizeof(path), "%s/tests/data/%s", srcdir == NULL ? "." : srcdir,
			 name);
		sums_of_path(path, &by_events, i % 2 != 0, &expected);
		sums_of_path(path, &ways[i / 2 % WAYS], i % 2 != 0, &got);
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

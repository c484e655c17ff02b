/* SPDX-License-Identifier: MIT */
/*
 * Reading by an index beside reading from the start: the same events, of made-up directories,
 * sound and damaged, in whatever ranges; and indexes that must not be believed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/made_dir.h"
#include "utils/base/bytes.h"
#include "utils/format/format.h"
#include "utils/proto/record.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/range.h"
#include "utils/trace/rule.h"
#include "utils/trace/rule_plan.h"
#include "utils/trace/source.h"
#include "utils/trace/trace.h"
#include "utils/trace/watch.h"

static char top[64];	/* the directory of one test */

static int setup(void **state)
{
	snprintf(top, sizeof(top), "/tmp/ftr-index-XXXXXX");
	return mkdtemp(top) == NULL || chdir(top) < 0;
}

static int teardown(void **state)
{
	char command[256];

	snprintf(command, sizeof(command), "chmod 700 %s; rm -rf %s", top, top);
	return chdir("/") < 0 || system(command) != 0;
}

static void file_put(const char *name, const void *bytes, size_t nr)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, nr, file), nr);
	assert_int_equal(fclose(file), 0);
}

/* The files of @packed, in place of those that are here. */
static void directory_put(const struct ftr_strbuf *packed)
{
	const uint8_t *p = (const uint8_t *)packed->s, *end = p + packed->len;

	assert_int_equal(system("rm -f *"), 0);
	while (p < end) {
		size_t len = *p++, bytes;
		char name[256];

		memcpy(name, p, len);
		name[len] = '\0';
		p += len;
		bytes = ftr_get_u32(p, false);
		file_put(name, p + 4, bytes);
		p += 4 + bytes;
	}
}

static void story_put(const struct made_story *story, uint64_t seed)
{
	struct ftr_strbuf packed;

	made_random = seed;
	ftr_strbuf_init(&packed);
	made_base(&packed, story);
	made_tasks(&packed, story);
	directory_put(&packed);
	ftr_strbuf_fini(&packed);
}

static void event_text(const struct ftr_event *ev, struct ftr_strbuf *text)
{
	ftr_strbuf_printf(text, "%llu %d type %u depth %u flags %x",
			  (unsigned long long)ev->time_ns, ev->task->tid, ev->type, ev->depth,
			  ev->flags);
	if (ev->type <= FTR_EVENT_EXIT)
		ftr_strbuf_printf(text, " %s %llx %llu %llu", ev->call.func->name,
				  (unsigned long long)ev->call.addr,
				  ev->type == FTR_EVENT_ENTRY ? 0ull :
				  (unsigned long long)ev->call.start_ns,
				  ev->type == FTR_EVENT_ENTRY ? 0ull :
				  (unsigned long long)ev->call.child_ns);
	else if (ev->type == FTR_EVENT_POINT)
		ftr_strbuf_printf(text, " %s %llu", ev->point.name,
				  (unsigned long long)ev->point.start_ns);
	ftr_strbuf_putc(text, '\n');
}

/* Where nothing is cut, what is outside may come; and what callees took before is not known. */
static bool is_seen(const struct ftr_pipeline_options *options, struct ftr_event *ev)
{
	if (options->seen_to_ns == 0)
		return true;
	if (ev->type <= FTR_EVENT_EXIT)
		ev->call.child_ns = 0;
	return ev->time_ns >= options->seen_from_ns && ev->time_ns <= options->seen_to_ns;
}

/* All that comes of it; returns how many events were read for it. */
static uint64_t text_of(const struct ftr_pipeline_options *options, bool no_index,
			struct ftr_strbuf *text)
{
	struct ftr_pipeline_options all = *options;
	struct ftr_diag diag = { 0 };
	struct ftr_source *source;
	struct ftr_trace *trace;
	struct ftr_event *evs;
	struct ftr_err err = { 0 };
	struct ftr_watch watch = { .is_ending = 0 };
	ssize_t nr;

	all.no_index = no_index;
	all.watch = &watch;
	ftr_strbuf_init(text);
	assert_int_equal(ftr_trace_open(&trace, ".", &diag, &err), 0);
	trace->index_bytes = 512;
	assert_int_equal(ftr_trace_pipeline(trace, &all, &source, &err), 0);
	while ((nr = ftr_source_next(source, &evs, &err)) > 0) {
		for (ssize_t i = 0; i < nr; i++) {
			if (is_seen(options, &evs[i]))
				event_text(&evs[i], text);
		}
	}
	assert_int_equal(nr, 0);
	/* Others' damage need not be seen; how much is read behind the range is chance. */
	if (options->tid_nr == 0 && options->to_ns == 0 && options->seen_to_ns == 0)
		ftr_strbuf_printf(text, "%u warnings\n", diag.nr);
	ftr_source_free(source);
	ftr_trace_free(trace);
	return watch.events;
}

/* The options of chance: -r in all forms, -t, --tid, -D. */
static struct ftr_pipeline_options random_options(uint64_t last_ns)
{
	static const int32_t tid = 6;
	struct ftr_pipeline_options options = { .kernel_full = true };

	options.from_ns = 1 + made_random_below((uint32_t)last_ns);
	if (made_random_below(4) > 0)
		options.to_ns = options.from_ns +
				made_random_below(made_random_below(2) ? 50 : 5000);
	options.from_is_elapsed = made_random_below(2) == 0;
	options.to_is_elapsed = options.from_is_elapsed;
	if (made_random_below(3) == 0)
		options.threshold_ns = 1 + made_random_below(60);
	if (made_random_below(3) == 0)
		options.depth_max = 1 + made_random_below(8);
	options.event_full = made_random_below(2) == 0;
	options.no_sched = made_random_below(4) == 0;
	options.is_unordered = made_random_below(3) == 0;
	if (made_random_below(4) == 0) {
		options.tids = &tid;
		options.tid_nr = 1;
	}
	return options;
}

static void expect_same(const struct ftr_pipeline_options *options)
{
	struct ftr_strbuf expected, got;

	text_of(options, true, &expected);
	text_of(options, false, &got);
	assert_string_equal(ftr_strbuf_str(&got), ftr_strbuf_str(&expected));
	ftr_strbuf_fini(&expected);
	ftr_strbuf_fini(&got);
}

static const struct made_story stories[] = {
	{ .depth_max = 8 },
	{ .depth_max = 8, .sleep = 12 },
	{ .depth_max = 8, .is_big = true },
	{ .depth_max = 2000 },
	{ .depth_max = 9, .event = 40, .sleep = 50 },
	/* Not quite in order from here on. */
	{ .depth_max = 9, .lost = 50, .sleep = 60 },
	{ .depth_max = 9, .leap = 50, .sleep = 60 },
	{ .depth_max = 9, .wrong = 60 },
	{ .depth_max = 2000, .wrong = 200, .leap = 200 },
	{ .depth_max = 9, .back = 300 },
	{ .depth_max = 9, .jump = 300 },
	{ .depth_max = 9, .torn = 400 },
	{ .depth_max = 30, .event = 200, .lost = 200, .wrong = 200, .leap = 100, .sleep = 100 },
	{ .depth_max = 30, .event = 900, .lost = 900, .wrong = 900, .back = 900, .jump = 900,
	  .torn = 900, .leap = 900, .sleep = 100 },
};
#define STORIES (sizeof(stories) / sizeof(stories[0]))
#define STORIES_WITHOUT_DAMAGE 5

/* The index grows as later ranges are asked for. */
static void the_same_events(void **state)
{
	for (uint64_t seed = 0; seed < made_seeds(4); seed++) {
		for (size_t i = 0; i < STORIES; i++) {
			story_put(&stories[i], 100 * seed + i);
			for (int round = 0; round < 12; round++) {
				struct ftr_pipeline_options options = random_options(9000);

				expect_same(&options);
			}
		}
	}
}

/* How many events are read for a short range near the end, of a directory that has an index. */
static void what_ended_is_not_read(void **state)
{
	static const int32_t tid = 6;
	struct ftr_pipeline_options options = {
		.kernel_full = true, .from_ns = 5000, .to_ns = 5020, .from_is_elapsed = true,
		.to_is_elapsed = true, .is_unordered = true,
	};
	uint64_t all, few;
	struct ftr_strbuf text;
	struct stat st;

	for (size_t i = 0; i < STORIES_WITHOUT_DAMAGE; i++) {
		story_put(&stories[i], 1);
		all = text_of(&options, true, &text);
		ftr_strbuf_fini(&text);
		assert_int_equal(access("5.index", F_OK), -1);
		expect_same(&options);
		assert_int_equal(stat("5.index", &st), 0);
		assert_int_equal(st.st_mode & 0777, 0644);
		few = text_of(&options, false, &text);
		ftr_strbuf_fini(&text);
		assert_true(few < all / 2);
		/* Of one task, half of that. */
		options.tids = &tid;
		options.tid_nr = 1;
		assert_true(text_of(&options, false, &text) < few);
		ftr_strbuf_fini(&text);
		options.tid_nr = 0;
	}
}

/* What a listing of records shows of a range, by its sources alone; returns how many were read. */
static size_t records_text(const struct ftr_pipeline_options *options, bool no_index,
			   struct ftr_strbuf *text)
{
	struct ftr_diag diag = { 0 };
	struct ftr_trace *trace;
	struct ftr_event *evs;
	struct ftr_err err = { 0 };
	struct ftr_range_ends ends;
	struct ftr_seek seek;
	size_t read_nr = 0;
	ssize_t nr;

	ftr_strbuf_init(text);
	assert_int_equal(ftr_trace_open(&trace, ".", &diag, &err), 0);
	trace->index_bytes = 512;
	ends = ftr_range_ends(options, trace->first_ns);
	assert_true(ftr_pipeline_seek(trace, options, &seek));
	seek.to_ns = ends.to_ns;
	for (size_t i = 0; i < trace->sources.nr; i++) {
		if (!no_index)
			ftr_source_seek(trace->sources.v[i], &seek);
		while ((nr = ftr_source_next(trace->sources.v[i], &evs, &err)) > 0) {
			for (ssize_t k = 0; k < nr; k++) {
				if (evs[k].time_ns < ends.from_ns || evs[k].time_ns > ends.to_ns)
					continue;
				ftr_strbuf_printf(text, "%llu %d type %u depth %u %llx\n",
						  (unsigned long long)evs[k].time_ns,
						  evs[k].task->tid, evs[k].type, evs[k].depth,
						  evs[k].type > FTR_EVENT_POINT ? 0ull :
						  evs[k].type == FTR_EVENT_POINT ?
						  (unsigned long long)evs[k].point.id :
						  (unsigned long long)evs[k].call.addr);
			}
			read_nr += (size_t)nr;
		}
		assert_int_equal(nr, 0);
	}
	ftr_trace_free(trace);
	return read_nr;
}

static void what_is_not_listed_is_not_read(void **state)
{
	for (size_t i = 0; i < STORIES; i++) {
		story_put(&stories[i], i);
		for (uint64_t from_ns = 500; from_ns < 9000; from_ns += 700) {
			const struct ftr_pipeline_options options = {
				.from_ns = from_ns, .to_ns = from_ns + 40, .from_is_elapsed = true,
				.to_is_elapsed = true,
			};
			struct ftr_strbuf expected, got, again;
			size_t all, few;

			all = records_text(&options, true, &expected);
			records_text(&options, false, &got);	/* may make the index */
			few = records_text(&options, false, &again);
			assert_string_equal(ftr_strbuf_str(&got), ftr_strbuf_str(&expected));
			assert_string_equal(ftr_strbuf_str(&again), ftr_strbuf_str(&expected));
			if (i < STORIES_WITHOUT_DAMAGE)
				assert_true(few < all / 2);
			ftr_strbuf_fini(&expected);
			ftr_strbuf_fini(&got);
			ftr_strbuf_fini(&again);
		}
	}
}

/* Without a range: the same events in the time that is seen, and few others. */
static void what_is_not_seen_is_not_read(void **state)
{
	for (size_t i = 0; i < STORIES_WITHOUT_DAMAGE; i++) {
		story_put(&stories[i], i);
		for (uint64_t from_ns = 2000; from_ns < 7000; from_ns += 900) {
			const struct ftr_pipeline_options options = {
				.kernel_full = true, .event_full = true, .is_unordered = true,
				.seen_from_ns = from_ns, .seen_to_ns = from_ns + 200,
			};
			struct ftr_strbuf text;
			uint64_t all = text_of(&options, true, &text), few;

			ftr_strbuf_fini(&text);
			expect_same(&options);
			few = text_of(&options, false, &text);
			ftr_strbuf_fini(&text);
			assert_true(few < all / 2);
		}
	}
}

static size_t slurp(const char *name, uint8_t *bytes, size_t room)
{
	FILE *file = fopen(name, "r");
	size_t nr;

	assert_non_null(file);
	nr = fread(bytes, 1, room, file);
	assert_int_equal(fclose(file), 0);
	return nr;
}

/* A function that is called once, before all that the story has. */
static void called_first(void)
{
	static struct ftr_record records[MADE_RECORDS + 2];

	records[0] = (struct ftr_record){ 900, ftr_record_word(FTR_RECORD_ENTRY, 0, 0x7000) };
	records[1] = (struct ftr_record){ 901, ftr_record_word(FTR_RECORD_EXIT, 0, 0x7000) };
	assert_int_equal(slurp("5.dat", (uint8_t *)&records[2], MADE_RECORDS * sizeof(*records)),
			 MADE_RECORDS * sizeof(*records));
	file_put("5.dat", records, sizeof(records));
}

/* A rule finds calls within the range, and knows of functions that were called before. */
static void rules_of_what_was_called(void **state)
{
	struct ftr_pipeline_options options = {
		.kernel_full = true, .from_ns = 5000, .to_ns = 5020, .from_is_elapsed = true,
		.to_is_elapsed = true, .is_unordered = true,
	};
	uint64_t events[2];

	story_put(&stories[1], 1);
	called_first();
	expect_same(&options);
	for (int no_index = 0; no_index < 2; no_index++) {
		struct ftr_watch watch = { .is_ending = 0 };
		struct ftr_source *source;
		struct ftr_rule_plans plans;
		struct ftr_rules rules;
		struct ftr_trace *trace;
		struct ftr_event *evs;
		struct ftr_err err = { 0 };
		size_t pos = 0;

		ftr_rules_init(&rules);
		assert_int_equal(ftr_rules_parse(&rules, FTR_RULE_OF_FILTER, "func_[0-5]",
						 FTR_MATCH_REGEX, &err), 0);
		assert_int_equal(ftr_rules_parse(&rules, FTR_RULE_OF_FILTER, "no_such",
						 FTR_MATCH_REGEX, &err), 0);
		assert_int_equal(ftr_trace_open(&trace, ".", NULL, &err), 0);
		trace->index_bytes = 512;
		assert_int_equal(ftr_rule_plans_init(&plans, &rules, trace), 0);
		options.plans = &plans;
		options.watch = &watch;
		options.no_index = no_index == 1;
		assert_int_equal(ftr_trace_pipeline(trace, &options, &source, &err), 0);
		while (ftr_source_next(source, &evs, &err) > 0)
			;
		/* <lost>, which every trace has, the story's six, and the first. */
		assert_int_equal(trace->funcs.nr, 8);
		assert_ptr_equal(ftr_rule_plans_next_unmatched(&plans, &pos), &rules.rules.v[1]);
		events[no_index] = watch.events;
		ftr_source_free(source);
		ftr_rule_plans_fini(&plans);
		ftr_rules_fini(&rules);
		ftr_trace_free(trace);
	}
	assert_true(events[0] < events[1] / 2);
}

/* What perf says began before a mark, though the task has calls since: when, is told. */
static void a_sleep_over_marks(void **state)
{
	static const struct {
		uint32_t type;
		uint16_t misc, size;
		uint32_t pid, tid;
		uint64_t time_ns;
	} switches[] = {
		{ 14, 0x2000, 24, 5, 5, 1500 }, { 14, 0, 24, 5, 5, 1600 },
		{ 14, 0x2000, 24, 5, 5, 2000 }, { 14, 0, 24, 5, 5, 5510 },
	};
	const struct ftr_pipeline_options options = {
		.kernel_full = true, .from_ns = 5500, .to_ns = 5600, .event_full = true,
	};
	struct ftr_strbuf text;

	story_put(&stories[0], 11);
	file_put("perf-cpu0.dat", switches, sizeof(switches));
	expect_same(&options);
	text_of(&options, false, &text);
	/* The task's first event in the range. */
	assert_non_null(strstr(ftr_strbuf_str(&text), "sched-in 5501"));
	ftr_strbuf_fini(&text);
}

/* Cut off, bent, of other data, empty, a directory. */
static void a_damaged_index(void **state)
{
	static uint8_t whole[1 << 20], bent[1 << 20];
	const struct ftr_pipeline_options options = {
		.kernel_full = true, .from_ns = 5000, .to_ns = 5100, .from_is_elapsed = true,
		.to_is_elapsed = true,
	};
	size_t nr;

	story_put(&stories[1], 7);
	expect_same(&options);
	nr = slurp("5.index", whole, sizeof(whole));
	assert_true(nr > 500 && nr < sizeof(whole));
	for (int round = 0; round < 200; round++) {
		memcpy(bent, whole, nr);
		bent[made_random_below((uint32_t)nr)] ^= (uint8_t)(1u << made_random_below(8));
		file_put("5.index", bent, round % 3 == 0 ? made_random_below((uint32_t)nr) : nr);
		expect_same(&options);
	}
	slurp("6.index", whole, sizeof(whole));
	file_put("5.index", whole, nr);
	expect_same(&options);
	assert_int_equal(unlink("5.index"), 0);
	assert_int_equal(mkdir("5.index", 0700), 0);
	expect_same(&options);
	assert_int_equal(rmdir("5.index"), 0);
}

/* The data are others now, under the same name and of the same size, and even of the same age. */
static void other_data(void **state)
{
	const struct ftr_pipeline_options options = {
		.kernel_full = true, .from_ns = 3000, .from_is_elapsed = true,
	};
	struct stat st;

	for (uint64_t seed = 0; seed < made_seeds(8); seed++) {
		static uint8_t bytes[MADE_RECORDS * 16];
		struct timespec times[2];

		story_put(&stories[0], seed);
		expect_same(&options);
		assert_int_equal(stat("5.dat", &st), 0);
		times[0] = st.st_atim;
		times[1] = st.st_mtim;
		/* What would be passed over is damaged, which has to be told; then all is other. */
		assert_int_equal(slurp("5.dat", bytes, sizeof(bytes)), sizeof(bytes));
		memset(bytes + 32, 0, 16);
		file_put("5.dat", bytes, sizeof(bytes));
		assert_int_equal(utimensat(AT_FDCWD, "5.dat", times, 0), 0);
		expect_same(&options);
		assert_int_equal(slurp("6.dat", bytes, sizeof(bytes)), sizeof(bytes));
		file_put("5.dat", bytes, sizeof(bytes));
		assert_int_equal(utimensat(AT_FDCWD, "5.dat", times, 0), 0);
		expect_same(&options);
	}
}

/* What has no file (nobody may write there) is read from the start. */
static void nobody_may_write(void **state)
{
	const struct ftr_pipeline_options options = {
		.kernel_full = true, .from_ns = 4000, .to_ns = 4100, .from_is_elapsed = true,
		.to_is_elapsed = true,
	};

	story_put(&stories[1], 3);
	assert_int_equal(chmod(".", 0555), 0);
	if (geteuid() == 0)
		assert_int_equal(seteuid(65534), 0);
	expect_same(&options);
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(access("5.index", F_OK), -1);
	assert_int_equal(chmod(".", 0700), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_same_events, setup, teardown),
		cmocka_unit_test_setup_teardown(what_ended_is_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_listed_is_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_seen_is_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(rules_of_what_was_called, setup, teardown),
		cmocka_unit_test_setup_teardown(a_sleep_over_marks, setup, teardown),
		cmocka_unit_test_setup_teardown(a_damaged_index, setup, teardown),
		cmocka_unit_test_setup_teardown(other_data, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_may_write, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* What a pipeline leaves out: by time, by task, by kind. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/trace_util.h"
#include "utils/trace/per_task.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/select.h"

static struct ftr_source *pipeline_new(const char *words, size_t batch, bool is_of_one_task,
				       const struct ftr_pipeline_options *options)
{
	struct ftr_source *source = stream_new(trace, words, batch);
	struct ftr_err err = { 0 };

	source->task = is_of_one_task ? trace->tasks.v[0] : NULL;
	assert_int_equal(ftr_vec_push(&trace->sources, source), 0);
	assert_int_equal(ftr_trace_pipeline(trace, options, &source, &err), 0);
	return source;
}

/* That a stream is of one task may be known, or not: it makes no difference. */
static void expect_pipeline(const char *words, const struct ftr_pipeline_options *options,
			    bool has_details, const char *text)
{
	for (size_t batch = 1; batch < 8; batch++) {
		expect(pipeline_new(words, batch, false, options), has_details, text);
		if (strchr(words, 'T') == NULL)
			expect(pipeline_new(words, batch, true, options), has_details, text);
	}
}

static void test_threshold(void **state)
{
	struct ftr_pipeline_options options = { .threshold_ns = 5 };

	expect_pipeline("10:a( 12:b( 15:b) 16:c( 18:d( 24:d) 25:c) 30:a)", &options, true,
			"10:a(d0 16:c(d1 18:d(d2 24:d)d2=6-0 25:c)d1=9-6 30:a)d0=20-9");
	/* What happens in a short call goes with it. */
	expect_pipeline("1:a( 2:b( 3:out 4:in 5:b) 20:a)", &options, true,
			"1:a(d0 20:a)d0=19-0");
	/* Of two tasks, in order. */
	expect_pipeline("1:a( T2 2:b( T1 3:c( 4:c) T2 9:b) T1 10:a)", &options, false,
			"1:a( T2 2:b( 9:b) T1 10:a)");
	/* How long a call takes that did not return is not known. */
	expect_pipeline("1:a( 2:b( 3:b) 4:c( 5:out", &options, true,
			"1:a(d0 4:c(d1 5:outd2 5:c)~?d1=1-0 5:a)~?d0=4-1");
	/* What is short at every depth is not the time of who is left. */
	expect_pipeline("1:a( 2:b( 3:c( 4:d( 5:d) 6:c) 6:c( 12:c) 13:b) 14:d( 15:d) 20:a)",
			&options, true,
			"1:a(d0 2:b(d1 6:c(d2 12:c)d2=6-0 13:b)d1=11-6 20:a)d0=19-11");
	/* A task that does not run is as in a call. */
	options.event_full = true;
	expect_pipeline("1:a( 2:out 4:in 5:out 15:in 20:a)", &options, true,
			"1:a(d0 5:outd1 15:ind1 20:a)d0=19-10");
	expect_pipeline("1:out 3:in 4:a( 14:a) 15:out 25:in", &options, false,
			"4:a( 14:a) 15:out 25:in");
	/* One half of the two stays, but not in a short call. */
	expect_pipeline("1:a( 2:out 4:b( 14:b) 20:a) 30:out", &options, false,
			"1:a( 2:out 4:b( 14:b) 20:a) 30:out");
	expect_pipeline("1:a( 2:out 3:out 4:in 5:in 7:b( 8:out 9:b) 20:a)", &options, false,
			"1:a( 2:out 5:in 20:a)");
}

static void put_event(struct ftr_strbuf *words, unsigned *open_nr, unsigned now)
{
	static const char *const pauses[] = { "out", "in", "!3", "end@1" };
	long choice = random() % 10;

	if (choice < 2)
		ftr_strbuf_printf(words, "%u:%s ", now, pauses[random() % 4]);
	else if (choice < 6 || *open_nr == 0)
		ftr_strbuf_printf(words, "%u:%c( ", now, 'a' + (char)(++*open_nr % 26));
	else
		ftr_strbuf_printf(words, "%u:%c) ", now, 'a' + (char)((*open_nr)-- % 26));
}

/* Streams of one task that leave some calls open, by both ways. */
static void test_threshold_random(void **state)
{
	srandom(1);
	for (unsigned round = 0; round < 400; round++) {
		struct ftr_pipeline_options options = { .threshold_ns = 1 + (uint64_t)random() % 40,
							.event_full = true };
		unsigned open_nr = 0, now = 1, nr = 2 + (unsigned)random() % 700;
		struct ftr_strbuf words, want;

		ftr_strbuf_init(&words);
		ftr_strbuf_init(&want);
		while (nr-- > 0)
			put_event(&words, &open_nr, now += (unsigned)random() % 6);
		stream_text(pipeline_new(ftr_strbuf_str(&words), 256, false, &options), true,
			    &want);
		for (size_t batch = 1; batch <= 256; batch *= 4)
			expect(pipeline_new(ftr_strbuf_str(&words), batch, true, &options), true,
			       ftr_strbuf_str(&want));
		ftr_strbuf_fini(&words);
		ftr_strbuf_fini(&want);
	}
}

static void test_threshold_async(void **state)
{
	struct ftr_pipeline_options options = { .threshold_ns = 5, .from_ns = 1 };

	/* ... and does not end with a call that is short, nor do other tasks, or losses. */
	expect_pipeline("1:a( 2:b( 3:end@3 4:b) 20:a)", &options, true,
			"1:a(d0 3:endd1 20:a)d0=19-0");
	expect_pipeline("1:a( 2:b( 3:c( 3:end@3 4:!2 4:c) 4:d( 4:end@2 5:d) 5:end@1 6:b) 20:a)",
			&options, true,
			"1:a(d0 3:endd1 4:!2d1 4:endd1 5:endd1 20:a)d0=19-0");
	/* What goes on beside calls is nobody's callee. */
	expect_pipeline("1:a( 2:b( 9:end@3 10:b) 20:a)", &options, true,
			"1:a(d0 2:b(d1 9:endd2 10:b)d1=8-0 20:a)d0=19-8");
}

static void test_range(void **state)
{
	struct ftr_pipeline_options options = { .from_ns = 5, .to_ns = 10 };

	expect_pipeline("1:a( 2:b( 6:b) 7:c( 12:c) 20:a)", &options, true,
			"6:a(~<d0 6:b(~<d1 6:b)<d1=0-0 7:c(d1 7:c)~?d1=0-0 7:a)~?<d0=1-0");
	expect_pipeline("1:a( 2:a) 5:b( 10:b) 11:c( 12:c)", &options, false, "5:b( 10:b)");
	expect_pipeline("1:a( 2:a) 20:c( 22:c)", &options, false, "");
	/*
	 * Each task's open calls begin at its own first event; one that has none there is left out.
	 */
	expect_pipeline("1:a( T2 2:b( T3 3:c( T1 6:d( T2 7:e( 8:e) T1 9:d) T3 11:c)", &options,
			true,
			"6:a(~<d0 6:d(d1 T2 7:b(~<d0 7:e(d1 8:e)d1=1-0 T1 9:d)d1=3-0 9:a)~?<d0=3-3 "
			"T2 9:b)~?<d0=2-1");
	options.event_full = true;
	expect_pipeline("1:a( 2:out 6:in 7:b( 9:b) 10:a)", &options, true,
			"6:a(~<d0 6:ind1 7:b(d1 9:b)d1=2-0 10:a)<d0=4-2");
	options.threshold_ns = 2;
	expect_pipeline("1:a( 6:b( 7:b) 8:b( 10:b) 12:a)", &options, true,
			"8:a(~<d0 8:b(d1 10:b)d1=2-0 10:a)~?<d0=2-2");
	options.threshold_ns = 0;
	options.from_is_elapsed = true;
	options.to_is_elapsed = true;
	expect_pipeline("1:a( 5:b( 6:b) 11:c( 12:c) 13:a)", &options, false,
			"6:a(~< 6:b(~< 6:b)< 11:c( 11:c)~? 11:a)~?<");
}

static void test_range_deep(void **state)
{
	struct ftr_pipeline_options options = { .from_ns = 3000 };
	struct ftr_strbuf words, want;

	/* More open calls at either end than a batch holds. */
	ftr_strbuf_init(&words);
	ftr_strbuf_init(&want);
	for (int i = 0; i < 600; i++) {
		ftr_strbuf_printf(&words, "%d:f( ", i + 1);
		ftr_strbuf_puts(&want, "3000:f(~< ");
	}
	ftr_strbuf_puts(&words, "3000:g( 3001:g)");
	ftr_strbuf_puts(&want, "3000:g( 3001:g)");
	for (int i = 0; i < 600; i++)
		ftr_strbuf_puts(&want, " 3001:f)~?<");
	expect_pipeline(ftr_strbuf_str(&words), &options, false, ftr_strbuf_str(&want));
	ftr_strbuf_fini(&words);
	ftr_strbuf_fini(&want);
}

static void test_per_task(void **state)
{
	struct ftr_task far = { .id = UINT32_MAX }, near = { .id = 0 };
	struct ftr_per_task states = { .bytes = sizeof(int) };
	int *first = ftr_per_task_get(&states, &far);
	int *second = ftr_per_task_get(&states, &near);
	size_t pos = 0;

	assert_int_equal(*first + *second, 0);
	assert_ptr_equal(ftr_per_task_get(&states, &far), first);
	assert_ptr_equal(ftr_per_task_get(&states, &near), second);
	assert_ptr_equal(ftr_per_task_next(&states, &pos), first);
	assert_ptr_equal(ftr_per_task_next(&states, &pos), second);
	assert_null(ftr_per_task_next(&states, &pos));
	ftr_per_task_fini(&states);
}

static void test_select(void **state)
{
	struct ftr_pipeline_options options = { .depth_max = 2 };
	int32_t tid = 2;

	expect_pipeline("1:a( 2:out 3:in 4:b( 5:c( 6:c) 7:out 8:in 9:b) 10:a)", &options,
			false, "1:a( 2:out 3:in 4:b( 9:b) 10:a)");
	options = (struct ftr_pipeline_options){ .tids = &tid, .tid_nr = 1 };
	expect_pipeline("1:a( T2 2:b( 3:b) T1 4:a)", &options, false, "2:b( 3:b)");
	options = (struct ftr_pipeline_options){ .no_sched = true };
	expect_pipeline("1:a( 2:out 3:in 4:a)", &options, false, "1:a( 4:a)");
	/* Outside of calls, scheduling is noise. */
	options = (struct ftr_pipeline_options){ 0 };
	expect_pipeline("1:out 2:in 3:a( 4:out 5:in 6:a)", &options, false,
			"3:a( 4:out 5:in 6:a)");
	options.event_full = true;
	expect_pipeline("1:out 2:in 3:a( 6:a)", &options, false, "1:out 2:in 3:a( 6:a)");
}

/* Names and marks of the records that are wanted. */
static void expect_records(const char *words, const struct ftr_pipeline_options *options,
			   const char *text)
{
	struct ftr_select_records select = { .options = options,
					     .open.bytes = sizeof(struct ftr_select_open) };
	struct ftr_source *source = stream_new(trace, words, 256);
	struct ftr_strbuf got;
	struct ftr_event *evs;
	ssize_t nr;

	ftr_strbuf_init(&got);
	while ((nr = ftr_source_next(source, &evs, NULL)) > 0) {
		for (ssize_t i = 0; i < nr; i++) {
			if (ftr_select_record(&select, &evs[i]) != 1)
				continue;
			ftr_strbuf_printf(&got, "%s%llu", got.len > 0 ? " " : "",
					  (unsigned long long)evs[i].time_ns);
		}
	}
	assert_string_equal(ftr_strbuf_str(&got), text);
	ftr_strbuf_fini(&got);
	ftr_source_free(source);
	ftr_select_records_fini(&select);
}

static void test_select_records(void **state)
{
	struct ftr_pipeline_options options = { .event_full = true, .depth_max = 1 };
	int32_t tid = 2;

	/* What records say, else counted, of each task; what has no match is as it is. */
	expect_records("1:a(@0 2:b(@1 3:b)@1 4:c)@0 5:a)@0 6:!3", &options, "1 4 5 6");
	expect_records("1:x) 2:a( T2 3:b( T1 4:c( 5:c) 6:out T2 7:b) T1 8:a) 9:d(", &options,
		       "1 2 3 6 7 8 9");
	options = (struct ftr_pipeline_options){ .tids = &tid, .tid_nr = 1 };
	expect_records("1:a( T2 2:b( 3:!1 T1 4:a)", &options, "2 3");
	options = (struct ftr_pipeline_options){ .from_ns = 2,
						 .from_is_elapsed = true,
						 .to_ns = 7 };
	expect_records("3:a( 4:b( 5:b) 7:in 8:a)", &options, "5 7");
	options = (struct ftr_pipeline_options){ .no_sched = true };
	expect_records("3:a( 4:out 5:in 8:a)", &options, "3 8");
	ftr_trace_func_by_name(trace, NULL, "qsort", 5)->symbol_type = 'P';
	options = (struct ftr_pipeline_options){ .no_libcall = true, .no_event = true };
	expect_records("1:a( 2:qsort( 3:cmp( 4:cmp) 5:qsort) 6:out 7:a)", &options, "1 3 4 7");
}

/* Kernel functions outside of the program's, and with them. */
static void test_select_kernel(void **state)
{
	static const char words[] =
		"1:sys( 2:sys) 3:a(@0 4:sys( 5:vfs( 6:vfs) 7:sys) 8:a)@0 9:sys(";
	struct ftr_module *kernel = ftr_trace_module_get(trace, FTR_KERNEL_PATH, NULL);
	struct ftr_pipeline_options options = { .event_full = true };

	ftr_trace_func_by_name(trace, NULL, "sys", 3)->module = kernel;
	ftr_trace_func_by_name(trace, NULL, "vfs", 3)->module = kernel;
	assert_true(trace->has_kernel);
	expect_records(words, &options, "3 4 5 6 7 8");
	expect_pipeline(words, &options, true,
			"3:a(d0 4:sys(d1 5:vfs(d2 6:vfs)d2=1-0 7:sys)d1=3-1 8:a)d0=5-3");
	options.depth_max = 2;
	expect_records(words, &options, "3 4 7 8");
	options = (struct ftr_pipeline_options){ .kernel_only = true };
	expect_records(words, &options, "4 5 6 7");
	expect_pipeline(words, &options, true, "4:sys(d0 5:vfs(d1 6:vfs)d1=1-0 7:sys)d0=3-1");
	options.kernel_full = true;
	expect_records(words, &options, "1 2 4 5 6 7 9");
	expect_pipeline(words, &options, false,
			"1:sys( 2:sys) 4:sys( 5:vfs( 6:vfs) 7:sys) 9:sys( 9:sys)~?");
	options.kernel_only = false;
	expect_records(words, &options, "1 2 3 4 5 6 7 8 9");
}

static void test_select_libcall(void **state)
{
	struct ftr_pipeline_options options = { .no_libcall = true };

	ftr_trace_func_by_name(trace, NULL, "qsort", 5)->symbol_type = 'P';
	expect_pipeline("1:a( 2:qsort( 3:cmp( 4:cmp) 5:qsort) 6:a)", &options, true,
			"1:a(d0 3:cmp(d1 4:cmp)d1=1-0 6:a)d0=5-3");
}

static void test_pipeline_tid(void **state)
{
	int32_t tid = 77;
	struct ftr_pipeline_options options = { .tids = &tid, .tid_nr = 1 };
	struct ftr_source *source = NULL;
	struct ftr_err err = { 0 };

	assert_int_equal(ftr_trace_pipeline(trace, &options, &source, &err), -ESRCH);
	assert_non_null(strstr(err.text, "77"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, trace_setup, trace_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_threshold), TEST(test_threshold_random), TEST(test_threshold_async),
		TEST(test_range), TEST(test_range_deep), TEST(test_per_task), TEST(test_select),
		TEST(test_select_records), TEST(test_select_kernel), TEST(test_select_libcall),
		TEST(test_pipeline_tid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* A thread's stream with changes of its stack, as tasks that each have one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/stream.h"
#include "utils/proto/record.h"
#include "utils/trace/calls.h"
#include "utils/trace/coroutines.h"
#include "utils/trace/event_kind.h"

static struct ftr_trace *trace;

static int setup(void **state)
{
	trace = ftr_trace_new("test", NULL);
	return trace == NULL;
}

static int teardown(void **state)
{
	ftr_trace_free(trace);
	return 0;
}

/* The tids of coroutines, in order of appearance, are shown as A, B ... */
static void tids_shorten(char *text)
{
	static const char first[] = "4194305";
	char *at;

	while ((at = strstr(text, "41943")) != NULL) {
		at[0] = (char)('A' + atoi(at) - atoi(first));
		memmove(at + 1, at + sizeof(first) - 1, strlen(at + sizeof(first) - 1) + 1);
	}
}

static void expect(struct ftr_source *source, bool has_details, const char *text)
{
	struct ftr_strbuf got;
	char *copy;

	ftr_strbuf_init(&got);
	stream_text(source, has_details, &got);
	copy = strdup(ftr_strbuf_str(&got));
	tids_shorten(copy);
	assert_string_equal(copy, text);
	free(copy);
	ftr_strbuf_fini(&got);
}

/* Batches are cut anywhere.  Each time the same tasks. */
static void expect_stacks(const char *words, const char *text)
{
	for (size_t batch = 1; batch < 8; batch++)
		expect(ftr_coroutines_new(stream_new(trace, words, batch), trace), false, text);
}

/* As sinks see it, with durations. */
static void expect_calls(const char *words, const char *text)
{
	for (size_t batch = 1; batch < 8; batch++) {
		struct ftr_source *source = stream_new(trace, words, batch);

		source = ftr_coroutines_new(source, trace);
		expect(ftr_calls_new(source, trace), true, text);
	}
}

static void test_no_change(void **state)
{
	expect_stacks("", "");
	expect_stacks("1:a(@0 2:b(@1 3:b)@1 4:a)@0", "1:a( 2:b( 3:b) 4:a)");
	expect_stacks("1:a(@0 2:=0 3:a)@0", "1:a( 3:a)");
}

static void test_turns(void **state)
{
	expect_stacks("1:m( 2:=1+ 3:c( 4:=0 5:l( 6:l) 7:=1 8:c) 9:=0 10:m)",
		      "1:m( 2:forkA 2:ftr:suspend TA 3:c( 4:ftr:suspend T1 4:ftr:resume 5:l( 6:l) "
		      "7:ftr:suspend TA 7:ftr:resume 8:c) T1 9:ftr:resume 10:m)");
}

static void test_time_of_others_is_a_callees(void **state)
{
	expect_calls("1:m( 2:=1+ 3:c( 4:=0 6:=1 8:c) 9:=0 10:m)",
		     "1:m(d0 2:forkAd1 2:ftr:suspendd1 TA 3:c(d0 4:ftr:suspendd1 T1 "
		     "4:ftr:resumed1 6:ftr:suspendd1 TA 6:ftr:resumed1 8:c)d0=5-2 T1 "
		     "9:ftr:resumed1 10:m)d0=9-5");
}

/* Depths were counted over all stacks of the thread: they are counted anew. */
static void test_recorded_depths_are_not_believed(void **state)
{
	expect_calls("1:m(@0 2:=1+ 3:c(@1 4:=0 5:m)@0 6:=1 7:c)@1",
		     "1:m(d0 2:forkAd1 2:ftr:suspendd1 TA 3:c(d0 4:ftr:suspendd1 T1 "
		     "4:ftr:resumed1 5:m)d0=4-2 TA 6:ftr:resumed1 7:c)d0=4-2");
}

/* The same function on two stacks: each EXIT is that of its own. */
static void test_recursion_of_coroutines(void **state)
{
	expect_calls("1:f( 2:=1+ 3:f( 4:=2+ 5:f( 6:=1 7:f) 8:=0 9:f) 10:=2 11:f)",
		     "1:f(d0 2:forkAd1 2:ftr:suspendd1 TA 3:f(d0 4:forkBd1 4:ftr:suspendd1 TB "
		     "5:f(d0 6:ftr:suspendd1 TA 6:ftr:resumed1 7:f)d0=4-2 T1 8:ftr:resumed1 "
		     "9:f)d0=8-6 TB 10:ftr:resumed1 11:f)d0=6-4");
}

static void test_calls_that_were_made_before_it_was_known(void **state)
{
	expect_stacks("1:m( 2:c( 3:d( 4:=1+2 5:m) 6:=1 7:d) 8:c)",
		      "1:m( 2:c( 3:d( 4:forkA 4:d)~ 4:c)~ TA 4:c(~< 4:d(~< 4:ftr:suspend T1 5:m) "
		      "TA 6:ftr:resume 7:d) 8:c)");
	expect_stacks("1:m( 4:=1+9 6:=1 8:m)",	/* more than there are */
		      "1:m( 4:forkA 4:m)~ TA 4:m(~< 4:ftr:suspend 6:ftr:resume 8:m)");
}

/* A stack that was dropped: its calls never returned. */
static void test_memory_is_used_again(void **state)
{
	expect_stacks("1:m( 2:=1+ 3:c( 4:=0 5:=1+ 6:e( 7:e) 8:=0 9:m)",
		      "1:m( 2:forkA 2:ftr:suspend TA 3:c( 4:ftr:suspend T1 4:ftr:resume TA "
		      "5:ftr:resume 5:c)~ T1 5:ftr:suspend TA 6:e( 7:e) T1 8:ftr:resume 9:m)");
	expect_stacks("2:=1+ 3:c( 4:=1+ 5:e( 6:e)", "2:forkA TA 3:c( 4:c)~ 5:e( 6:e)");
}

static void test_threads_are_apart(void **state)
{
	expect_stacks("1:m( T2 1:n( T1 2:=1+ 3:c( T2 3:=1+ 4:d( 5:d) T1 6:c)",
		      "1:m( T2 1:n( T1 2:forkA 2:ftr:suspend TA 3:c( T2 3:forkB 3:ftr:suspend TB "
		      "4:d( 5:d) TA 6:c)");
}

/* More events at one time than fit into a batch. */
static void test_many_calls_move(void **state)
{
	struct ftr_strbuf words;
	struct ftr_source *source;
	struct ftr_event *evs;
	struct ftr_err err;
	size_t entries = 0, exits = 0;
	ssize_t nr;

	ftr_strbuf_init(&words);
	for (unsigned i = 0; i < 1000; i++)
		ftr_strbuf_printf(&words, "%u:f( ", i + 1);
	ftr_strbuf_puts(&words, "2000:=1+999 2001:f)");
	source = ftr_coroutines_new(stream_new(trace, ftr_strbuf_str(&words), 100), trace);
	while ((nr = ftr_source_next(source, &evs, &err)) > 0) {
		assert_true(nr <= FTR_SOURCE_BATCH);
		for (ssize_t i = 0; i < nr; i++) {
			entries += evs[i].type == FTR_EVENT_ENTRY;
			exits += evs[i].type == FTR_EVENT_EXIT;
		}
	}
	assert_int_equal(nr, 0);
	assert_int_equal(entries, 1999);
	assert_int_equal(exits, 1000);
	ftr_source_free(source);
	ftr_strbuf_fini(&words);
}

/* Any numbers in any order: the stream is well-formed behind calls. */
static void test_nonsense(void **state)
{
	char words[4096], *end = words;
	unsigned random = 1;

	for (unsigned i = 1; i < 300; i++) {
		random = random * 1103515245 + 12345;
		switch (random >> 16 & 3) {
		case 0:
			end += sprintf(end, "%u:=%u%s ", i, random >> 20 & 7,
				       random >> 28 & 1 ? "+2" : "");
			break;
		case 1:
			end += sprintf(end, "%u:%c( ", i, 'a' + (char)(random >> 20 & 3));
			break;
		default:
			end += sprintf(end, "%u:%c) ", i, 'a' + (char)(random >> 20 & 3));
		}
	}
	for (size_t batch = 1; batch < 50; batch += 7) {
		struct ftr_source *source = stream_new(trace, words, batch);
		struct ftr_event *evs;
		struct ftr_err err;
		long open = 0;
		ssize_t nr;

		source = ftr_coroutines_new(source, trace);
		source = ftr_calls_new(source, trace);
		while ((nr = ftr_source_next(source, &evs, &err)) > 0) {
			for (ssize_t i = 0; i < nr; i++) {
				open += evs[i].type == FTR_EVENT_ENTRY;
				open -= evs[i].type == FTR_EVENT_EXIT;
			}
		}
		assert_int_equal(open, 0);
		ftr_source_free(source);
	}
}

static void test_task(void **state)
{
	struct ftr_task *thread = ftr_trace_task_get(trace, 1, 1), *task;

	thread->name = "prog";
	task = ftr_coroutine_task(trace, thread, 7);
	assert_string_equal(task->name, "prog~7");
	assert_ptr_equal(task->thread, thread);
	assert_int_equal(task->pid, 1);
	assert_true(task->tid > 4194304);	/* the kernel's highest */
	assert_ptr_equal(ftr_coroutine_task(trace, thread, 7), task);
	assert_ptr_not_equal(ftr_coroutine_task(trace, thread, 8), task);
	assert_ptr_equal(ftr_trace_task_find(trace, task->tid), task);
}

/* What libmcount writes is what is read; trace/ may not include proto/. */
static void test_ids(void **state)
{
	assert_int_equal(FTR_EVENT_ID_STACK, FTR_RECORD_EVENT_STACK);
	assert_int_equal(FTR_EVENT_ID_STACK_LAST, FTR_RECORD_EVENT_STACK_LAST);
	assert_int_equal(FTR_EVENT_STACK_NR_MAX, FTR_STACK_MAX);
	assert_int_equal(FTR_EVENT_STACK_MOVED_MAX, FTR_STACK_MOVED_MAX);
	assert_int_equal(ftr_record_stack_id(1, true, 1) - FTR_EVENT_ID_STACK,
			 FTR_EVENT_STACK_NEW | FTR_BIT(FTR_EVENT_STACK_NR_SHIFT) |
				 FTR_BIT(FTR_EVENT_STACK_MOVED_SHIFT));
	assert_int_equal(ftr_record_stack_id(FTR_STACK_MAX, true, FTR_STACK_MOVED_MAX),
			 FTR_RECORD_EVENT_STACK_LAST);
	assert_int_equal(ftr_record_stack_nr(ftr_record_stack_id(77, true, 5)), 77);
	assert_int_equal(ftr_record_stack_moved(ftr_record_stack_id(77, true, 5)), 5);
	assert_true(ftr_record_stack_is_new(ftr_record_stack_id(77, true, 5)));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_no_change),
		TEST(test_turns),
		TEST(test_time_of_others_is_a_callees),
		TEST(test_recorded_depths_are_not_believed),
		TEST(test_recursion_of_coroutines),
		TEST(test_calls_that_were_made_before_it_was_known),
		TEST(test_memory_is_used_again),
		TEST(test_threads_are_apart),
		TEST(test_many_calls_move),
		TEST(test_nonsense),
		TEST(test_task),
		TEST(test_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

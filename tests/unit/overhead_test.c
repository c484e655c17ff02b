/* SPDX-License-Identifier: MIT */
/* What tracing takes: measured by records in a file, and taken off a stream. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/stream.h"
#include "utils/proto/record.h"
#include "utils/record/overhead.h"
#include "utils/trace/calls.h"
#include "utils/trace/source.h"
#include "utils/trace/subtract.h"

#define TID 7

struct file {
	char dir[32];
	int dirfd, fd;
	uint64_t now_ns;
};

static void file_open(struct file *file)
{
	strcpy(file->dir, "overhead-XXXXXX");
	assert_non_null(mkdtemp(file->dir));
	file->dirfd = open(file->dir, O_RDONLY | O_DIRECTORY);
	file->fd = openat(file->dirfd, "7.dat", O_WRONLY | O_CREAT, 0600);
	file->now_ns = 1000;
}

static void put(struct file *file, enum ftr_record_type type, unsigned depth, uint64_t after_ns,
		uint64_t bits)
{
	struct ftr_record record = { .word = ftr_record_word(type, depth, 0x1000) | bits };

	file->now_ns += after_ns;
	record.time = file->now_ns;
	assert_int_equal(write(file->fd, &record, sizeof(record)), sizeof(record));
}

static void put_calls(struct file *file, unsigned nr, unsigned depth, uint64_t gap_ns,
		      uint64_t call_ns)
{
	while (nr-- > 0) {
		put(file, FTR_RECORD_ENTRY, depth, gap_ns, 0);
		put(file, FTR_RECORD_EXIT, depth, call_ns, 0);
	}
}

static bool file_measure(struct file *file, uint32_t *call_ns, uint32_t *caller_ns)
{
	static const int32_t tids[] = { 6, TID };	/* of one there is no file */
	bool is_known = ftr_overhead_measure(file->dirfd, tids, 2, call_ns, caller_ns);

	unlinkat(file->dirfd, "7.dat", 0);
	rmdir(file->dir);
	close(file->fd);
	close(file->dirfd);
	return is_known;
}

/* Longer calls do not count, nor do a few that are too quick; batches do not cut pairs. */
static void quickest_calls_tell(void **state)
{
	uint32_t call_ns, caller_ns;
	struct file file;

	file_open(&file);
	put(&file, FTR_RECORD_ENTRY, 0, 0, 0);
	put_calls(&file, 700, 1, 90, 300);
	put_calls(&file, 15, 1, 1, 2);
	put_calls(&file, 300, 1, 12, 23);
	put(&file, FTR_RECORD_EXIT, 0, 1, 0);
	assert_true(file_measure(&file, &call_ns, &caller_ns));
	assert_int_equal(call_ns, 23);
	assert_int_equal(caller_ns, 12);
}

static void what_is_not_quick_tells_nothing(void **state)
{
	uint32_t call_ns, caller_ns;
	struct file file;

	file_open(&file);
	put_calls(&file, 700, 0, 20, 300);
	assert_false(file_measure(&file, &call_ns, &caller_ns));
	file_open(&file);
	put_calls(&file, 15, 0, 20, 30);
	assert_false(file_measure(&file, &call_ns, &caller_ns));
}

/* A call with traced callees, and the way back up from one, are no pairs. */
static void nested_calls_are_no_pairs(void **state)
{
	uint32_t call_ns, caller_ns;
	struct file file;

	file_open(&file);
	for (unsigned i = 0; i < 100; i++) {
		put(&file, FTR_RECORD_ENTRY, 0, 200, 0);
		put_calls(&file, 1, 1, 5, 30);
		put(&file, FTR_RECORD_EXIT, 0, 5, 0);
	}
	assert_true(file_measure(&file, &call_ns, &caller_ns));
	assert_int_equal(call_ns, 30);
	assert_int_equal(caller_ns, 0);
}

static void payloads_end_it(void **state)
{
	uint32_t call_ns, caller_ns;
	struct file file;

	file_open(&file);
	put_calls(&file, 20, 0, 20, 30);
	put(&file, FTR_RECORD_ENTRY, 0, 20, FTR_RECORD_MORE);
	put_calls(&file, 100, 0, 2, 3);
	assert_true(file_measure(&file, &call_ns, &caller_ns));
	assert_int_equal(call_ns, 30);
}

static void expect_without(const char *words, const char *expected)
{
	struct ftr_trace *trace = ftr_trace_new("/data/made-up", NULL);
	struct ftr_source *source = ftr_subtract_new(stream_new(trace, words, 3), 10, 5);
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	stream_text(ftr_calls_new(source, trace), true, &text);
	assert_string_equal(ftr_strbuf_str(&text), expected);
	ftr_strbuf_fini(&text);
	ftr_trace_free(trace);
}

/* main: 300 less its own 10, and 15 for each of the two calls in it. */
static void callers_lose_what_their_callees_cost(void **state)
{
	expect_without("100:m( 200:f( 250:f) 300:f( 330:f) 400:m)",
		       "100:m(d0 195:f(d1 235:f)d1=40-0 280:f(d1 300:f)d1=20-0 360:m)d0=260-60");
}

static void no_time_becomes_negative(void **state)
{
	expect_without("100:m( 103:f( 106:f) 108:m)", "100:m(d0 100:f(d1 100:f)d1=0-0 100:m)d0=0-0");
}

static void tasks_and_events_have_their_own_time(void **state)
{
	expect_without("T1 100:m( T2 100:f( T1 120:out 180:in T2 150:f) T1 200:m)",
		       "100:m(d0 T2 100:f(d0 T1 120:outd1 180:ind1 T2 140:f)d0=40-0 "
		       "T1 190:m)d0=90-60");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quickest_calls_tell),
		cmocka_unit_test(what_is_not_quick_tells_nothing),
		cmocka_unit_test(nested_calls_are_no_pairs),
		cmocka_unit_test(payloads_end_it),
		cmocka_unit_test(callers_lose_what_their_callees_cost),
		cmocka_unit_test(no_time_becomes_negative),
		cmocka_unit_test(tasks_and_events_have_their_own_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

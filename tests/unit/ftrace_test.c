/* SPDX-License-Identifier: MIT */
/* What ftrace hands out, read from plain bytes: no directory, no file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "utils/base/bytes.h"
#include "utils/format/ftrace/ftrace.h"
#include "utils/format/ftrace/page_layout.h"
#include "utils/format/ftrace/page_write.h"
#include "utils/trace/merge.h"

#define COMMON \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char opened[] =
	"name: opened\nID: 700\nformat:\n" COMMON
	"\tfield:__data_loc char[] path;\toffset:8;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"path=%s\", __get_str(path)\n";

static const char woken[] =
	"name: sched_waking\nID: 701\nformat:\n" COMMON
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"pid=%d\", REC->pid\n";

struct record {
	uint16_t type;
	uint16_t flags;
	int32_t pid;
	uint32_t at;
	char text[8];
};

static struct ftr_slice slice(const char *text)
{
	return ftr_slice_make(text, strlen(text));
}

static struct ftr_ftrace *ftrace_new(struct ftr_trace *trace)
{
	const struct ftr_ftrace_layout layout = {
		.page_bytes = FTR_KBUF_PAGE_BYTES, .long_bytes = 8, .is_big = FTR_HOST_IS_BIG,
	};
	struct ftr_ftrace *ftrace = calloc(1, sizeof(*ftrace));

	assert_non_null(ftrace);
	assert_int_equal(ftr_ftrace_init(ftrace, trace, &layout), 0);
	return ftrace;
}

static void ftrace_free(struct ftr_ftrace *ftrace)
{
	ftr_ftrace_fini(ftrace);
	free(ftrace);
}

static void expect_event(struct ftr_ftrace *ftrace, struct ftr_ftrace_page *page,
			 uint64_t time_ns, const char *name, const char *text)
{
	const struct ftr_ftrace_event *event;
	struct ftr_strbuf out;
	uint32_t id;

	assert_true(ftr_ftrace_page_next(page));
	assert_int_equal(page->time_ns, time_ns);
	event = ftr_ftrace_page_event(page, &id);
	assert_non_null(event);
	assert_string_equal(event->name, name);
	assert_true(ftr_ftrace_fits(page, event));
	assert_int_equal(ftr_ftrace_number(page, event->pid), 42);
	ftr_strbuf_init(&out);
	assert_int_equal(ftr_ftrace_text(ftrace, page, event, &out), 0);
	assert_string_equal(ftr_strbuf_str(&out), text);
	ftr_strbuf_fini(&out);
}

static void test_page(void **state)
{
	struct ftr_trace *trace = ftr_trace_new("bytes", NULL);
	struct ftr_ftrace *ftrace = ftrace_new(trace);
	struct record record = { .type = 700, .pid = 42, .at = ftr_kpage_dynamic(12, 5),
				 .text = "file" };
	struct ftr_kbuf kbuf = { .used = 0 };
	struct ftr_ftrace_page page;
	uint32_t id;

	assert_int_equal(ftr_ftrace_format_add(ftrace, slice("fs"), slice("opened"),
					       slice(opened), NULL), 0);
	assert_int_equal(ftr_ftrace_format_add(ftrace, slice("sched"), slice("sched_waking"),
					       slice(woken), NULL), 0);
	assert_true(ftr_kbuf_lose(&kbuf, 900, 3));
	assert_true(ftr_kbuf_put(&kbuf, 1000, &record, sizeof(record)));
	record.type = 701;
	record.at = 7;
	assert_true(ftr_kbuf_put(&kbuf, 1000 + FTR_KPAGE_DELTA_END, &record, 12));
	record.type = 702;
	assert_true(ftr_kbuf_put(&kbuf, 2000 + FTR_KPAGE_DELTA_END, &record, 12));
	record.type = 701;
	assert_true(ftr_kbuf_put(&kbuf, 2001 + FTR_KPAGE_DELTA_END, &record, 8));

	assert_true(ftr_ftrace_page_open(&page, ftrace, FTR_KBUF_PAGE_BYTES, ftr_kbuf_take(&kbuf),
					 FTR_KBUF_PAGE_BYTES));
	assert_true(page.has_lost);
	assert_int_equal(page.lost_nr, 3);
	expect_event(ftrace, &page, 1000, "fs:opened", "path=file");
	expect_event(ftrace, &page, 1000 + FTR_KPAGE_DELTA_END, "sched:sched_waking", "pid=7");
	assert_true(ftr_ftrace_page_next(&page));
	assert_null(ftr_ftrace_page_event(&page, &id));		/* no format explains it */
	assert_int_equal(id, 702);
	assert_true(ftr_ftrace_page_next(&page));
	assert_false(ftr_ftrace_fits(&page, ftr_ftrace_page_event(&page, &id)));	/* cut */
	assert_false(ftr_ftrace_page_next(&page));
	assert_null(page.damage);
	ftrace_free(ftrace);
	ftr_trace_free(trace);
}

static void test_formats(void **state)
{
	static const char header[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				     "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
				     "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
	struct ftr_trace *trace = ftr_trace_new("bytes", NULL);
	struct ftr_ftrace *ftrace = ftrace_new(trace);
	char text[256];

	snprintf(text, sizeof(text), header, 8);
	assert_true(ftr_ftrace_header_page(ftrace, slice(text)));
	snprintf(text, sizeof(text), header, 4);
	assert_false(ftr_ftrace_header_page(ftrace, slice(text)));
	assert_int_equal(ftr_ftrace_format_add(ftrace, slice("sched"), slice("sched_waking"),
					       slice("name: sched_waking\n"), NULL), -EINVAL);
	assert_int_equal(ftrace->events.nr, 0);
	/* Cut inside its print fmt: events are read, with their fields as text. */
	assert_int_equal(ftr_ftrace_format_add(ftrace, slice("sched"), slice("sched_waking"),
					       ftr_slice_make(woken, strlen(woken) - 5),
					       "it was cut"), 0);
	assert_false(ftrace->events.v[0]->is_printable);
	assert_string_equal(ftrace->events.v[0]->trouble, "it was cut");
	ftrace_free(ftrace);
	ftr_trace_free(trace);
}

static void test_join(void **state)
{
	struct ftr_source *joined;
	struct ftr_event *evs;
	struct ftr_err err;

	joined = ftr_ftrace_join(ftr_merge_new(NULL, 0, false), ftr_merge_new(NULL, 0, false));
	assert_non_null(joined);
	assert_int_equal(ftr_source_next(joined, &evs, &err), 0);
	ftr_source_free(joined);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

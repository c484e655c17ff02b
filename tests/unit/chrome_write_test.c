/* SPDX-License-Identifier: MIT */
/* Chrome JSON of what is no plain call. */
#include <string.h>

#include "tests/unit/fxt_util.h"
#include "tests/unit/unit.h"

/* The lines behind the task's names. */
static void expect_lines(struct writing *w, const char *expected)
{
	const char *text, *lines;

	ftr_ostream_putc(&w->out, '\0');
	text = w->out.buf;
	lines = strstr(text, "{\"ts\":0.");
	assert_non_null(lines);
	assert_int_equal(strncmp(lines, expected, strlen(expected)), 0);
}

static void tracepoint_in_a_call_of_the_kernel(void **state)
{
	static const struct ftr_symbol symbol = { UINT64_C(0xffffffff81000010), 7, 'K',
						  "vfs_read" };
	static const char text[] = "comm=\"k\xc3\xa4se\" next";
	struct ftr_payload payload = { .data = (const uint8_t *)text, .len = sizeof(text) - 1 - 5 };
	struct ftr_event ev = { .type = FTR_EVENT_POINT, .time_ns = 1500, .payload = &payload,
				.point = { .name = "sched:sched_switch", .id = 316, .cpu_nr = 4 } };
	struct ftr_trace *trace = ftr_trace_new("made", NULL);
	const struct ftr_func *func = make_symbol(trace, FTR_KERNEL_PATH, &symbol);
	struct writing w;

	ev.task = make_task(trace, 100, 100, "t");
	writing_begin(&w, trace, "chrome");
	writing_entry(&w, ev.task, 1000, func, 0, NULL);
	writing_event(&w, &ev);
	writing_exit(&w, ev.task, 2000, func, 0, NULL);
	writing_end(&w);
	expect_lines(
		&w,
		"{\"ts\":0.000,\"ph\":\"B\",\"pid\":100,\"tid\":100,\"name\":\"vfs_read\"},\n"
		"{\"ts\":0.500,\"ph\":\"i\",\"pid\":100,\"tid\":100,\"name\":\"sched:sched_switch\","
		"\"s\":\"t\",\"args\":{\"data\":\"comm=\\\"k\xc3\xa4se\\\"\"}},\n"
		"{\"ts\":1.000,\"ph\":\"E\",\"pid\":100,\"tid\":100,\"name\":\"vfs_read\"}");
	writing_free(&w);
	ftr_trace_free(trace);
}

/* Nanoseconds since 1970 have 19 digits, of which a double keeps 15. */
static void times_count_from_the_first_event(void **state)
{
	static const struct ftr_symbol symbol = { 0x1000, 16, 'T', "f" };
	const uint64_t start_ns = UINT64_C(1700000000123456789);
	struct ftr_trace *trace = ftr_trace_new("made", NULL);
	const struct ftr_func *func = make_symbol(trace, "/bin/t", &symbol);
	struct ftr_task *task = make_task(trace, 100, 100, "t");
	struct writing w;

	trace->info.info_mask = FTR_INFO_UTC_OFFSET;
	trace->info.utc_offset_s = -1;
	writing_begin(&w, trace, "chrome");
	writing_entry(&w, task, start_ns, func, 0, NULL);
	writing_exit(&w, task, start_ns + 1, func, 0, NULL);
	writing_end(&w);
	expect_lines(&w, "{\"ts\":0.000,\"ph\":\"B\",\"pid\":100,\"tid\":100,\"name\":\"f\"},\n"
			 "{\"ts\":0.001,\"ph\":\"E\",\"pid\":100,\"tid\":100,\"name\":\"f\"}\n"
			 "], \"displayTimeUnit\": \"ns\", \"otherData\": {\n"
			 "\"origin_ns\":\"1699999999123456789\",\n\"origin_clock\":\"unix\"\n}, "
			 "\"metadata\": {");
	writing_free(&w);
	ftr_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_count_from_the_first_event),
		cmocka_unit_test(tracepoint_in_a_call_of_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

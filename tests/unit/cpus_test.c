/* SPDX-License-Identifier: MIT */
/* Where a task was while a call was open, and sets of processors as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "utils/analysis/cpus.h"
#include "utils/trace/event_kind.h"
#include "utils/view/cpu_text.h"

static void happens(struct ftr_cpu_track *track, uint64_t time_ns, uint64_t id, uint16_t cpu_nr)
{
	struct ftr_event ev = { .time_ns = time_ns, .type = FTR_EVENT_POINT };

	ev.point.id = id;
	ev.point.cpu_nr = cpu_nr;
	assert_int_equal(ftr_cpu_track_point(track, &ev), 0);
}

static void expect_list(const struct ftr_cpu_set *set, const char *list, const char *mask)
{
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	view_cpu_list_text(set, &text);
	assert_string_equal(ftr_strbuf_str(&text), list);
	ftr_strbuf_clear(&text);
	view_cpu_mask_text(set, &text);
	assert_string_equal(ftr_strbuf_str(&text), mask);
	ftr_strbuf_fini(&text);
}

static void expect_since(const struct ftr_cpu_track *track, uint64_t start_ns, const char *list,
			 const char *mask)
{
	struct ftr_cpu_set set = { { 0 } };

	ftr_cpu_track_since(track, start_ns, &set);
	expect_list(&set, list, mask);
}

static void test_moves(void **state)
{
	struct ftr_cpu_track track = { 0 };

	expect_since(&track, 5, "-", "00000000");		/* nobody knows */
	happens(&track, 10, FTR_EVENT_ID_TASK_NAME, 1); /* it is there when it gets its name */
	expect_since(&track, 15, "0", "00000001");
	happens(&track, 20, FTR_EVENT_ID_SCHED_OUT_PREEMPTED, 1);
	happens(&track, 30, FTR_EVENT_ID_SCHED_IN, 3);
	expect_since(&track, 15, "0,2", "00000005");
	expect_since(&track, 20, "0,2", "00000005");		/* from that very switch on */
	expect_since(&track, 25, "2", "00000004");		/* begun between the two */
	happens(&track, 40, FTR_EVENT_ID_SCHED_OUT, 3);
	expect_since(&track, 35, "2", "00000004");
	expect_since(&track, 45, "-", "00000000");
	happens(&track, 50, FTR_EVENT_ID_SCHED_IN, 2);
	happens(&track, 55, FTR_EVENT_ID_TASK_NEW, 9);		/* where another was */
	happens(&track, 56, FTR_EVENT_ID_SCHED_IN, 0);		/* of a format that does not say */
	happens(&track, 57, FTR_EVENT_ID_SCHED_IN, FTR_CPUS_MAX + 1);
	expect_since(&track, 0, "0-2", "00000007");
	ftr_cpu_track_fini(&track);
}

static void test_many(void **state)
{
	struct ftr_cpu_set set = { { 0 } };
	struct ftr_cpu_track track = { 0 };

	happens(&track, 10, FTR_EVENT_ID_SCHED_OUT, 32);
	happens(&track, 20, FTR_EVENT_ID_SCHED_OUT, 33);
	ftr_cpu_track_since(&track, 1, &set);
	expect_list(&set, "31-32", "180000000");
	happens(&track, 30, FTR_EVENT_ID_SCHED_OUT, 65);
	happens(&track, 40, FTR_EVENT_ID_SCHED_OUT, FTR_CPUS_MAX);
	ftr_cpu_track_since(&track, 1, &set);
	assert_int_equal(ftr_cpu_set_count(&set), 4);
	set.words[15] = 0;
	expect_list(&set, "31-32,64", "10000000180000000");
	ftr_cpu_track_fini(&track);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

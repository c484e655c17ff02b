/* SPDX-License-Identifier: MIT */
/* The kernel's files of a uftrace directory: pages written from their layout, kernel_pages.h. */
#include "tests/unit/kernel_dir.h"

static void test_calls_in_every_layout(void **state)
{
	for (unsigned i = 0; i < 4; i++) {
		begin(i & 1, i & 2 ? 4 : 8);
		kernel_page_begin(&pages, 250);
		kernel_call(&pages, 250, false, 5, READ);
		kernel_call(&pages, 300, false, 5, COPY + 4);
		kernel_call(&pages, 310, true, 5, COPY + 4);
		kernel_call(&pages, 320, true, 5, READ);
		kernel_text(&pages, 330, 5, "short", false);
		kernel_text(&pages, 340, 5, "longer", true);
		kernel_page_end(&pages, 0, 0);
		add_rest();
		add("kernel-cpu3.dat", pages.bytes, pages.size);
		expect("100:main( 200:main(T6 250:vfs_read( 300:copy_page( 310:copy_page) 320:vfs_read) "
		       "330:test:words@4{text=short} 340:test:words@4{text=longer} 800:main)T6 900:main)");
		expect_warnings("");
	}
}

static void test_func(void **state)
{
	struct ftr_trace *trace;
	struct ftr_event *evs;
	struct ftr_err err = { 0 };

	kernel_page_begin(&pages, 250);
	kernel_call(&pages, 250, false, 5, READ + 8);
	kernel_call(&pages, 260, true, 5, READ + 8);
	kernel_page_end(&pages, 0, 0);
	add_rest();
	add("kernel-cpu0.dat", pages.bytes, pages.size);
	trace = trace_open();
	assert_true(ftr_source_next(trace->sources.v[0], &evs, &err) >= 2);
	assert_string_equal(evs[1].call.func->module->path, FTR_KERNEL_PATH);
	assert_true(ftr_func_is_kernel(evs[1].call.func));
	assert_int_equal(evs[1].call.func->symbol_type, 'K');
	assert_int_equal(evs[1].call.addr, READ + 8);
	assert_int_equal(evs[1].depth, FTR_DEPTH_UNKNOWN);
	ftr_trace_free(trace);
}

/*
 * More than 27 bits of time; an absolute time; events taken back; a page that ends before its end.
 */
static void test_times(void **state)
{
	const uint64_t far = 400 + (UINT64_C(3) << 27) + 77;

	kernel_page_begin(&pages, 250);
	kernel_wakeup(&pages, 260, 5, 9);
	kernel_word(&pages, 29, 5);		/* taken back: a word, 8 bytes, and 5 ns */
	kernel_put(&pages, 12, 4);
	kernel_put(&pages, UINT64_C(0xffffffffffffffff), 8);
	pages.last_ns = 265;
	kernel_wakeup(&pages, 400, 5, 9);
	kernel_wakeup(&pages, far, 5, 9);	/* with a time_extend */
	kernel_word(&pages, 31, 7);		/* absolute: 2^28 + 7 */
	kernel_put(&pages, 2 + (8 << 1), 4);
	pages.last_ns = (UINT64_C(18) << 27) + 7;
	kernel_wakeup(&pages, pages.last_ns + 1, 5, 9);
	kernel_word(&pages, 29, 0);		/* nothing more, whatever is there */
	kernel_put(&pages, 0xffffffff, 4);
	kernel_page_end(&pages, 0, 0);
	add_rest();
	add("kernel-cpu0.dat", pages.bytes, pages.size);
	expect("100:main( 200:main(T6 260:sched:sched_wakeup@1{pid=9} 400:sched:sched_wakeup@1{pid=9} "
	       "800:main)T6 900:main) 402653661:sched:sched_wakeup@1{pid=9} "
	       "2415919112:sched:sched_wakeup@1{pid=9}");
	expect_warnings("");
}

/* The upper bits that an absolute time does not have are those of the page. */
static void test_absolute_time(void **state)
{
	const uint64_t high = UINT64_C(1) << 62;

	kernel_page_begin(&pages, high + 1000);
	kernel_word(&pages, 31, 7);
	kernel_put(&pages, 1, 4);
	pages.last_ns = 0;
	kernel_wakeup(&pages, 1, 5, 9);
	kernel_page_end(&pages, 0, 0);
	add_rest();
	add("kernel-cpu0.dat", pages.bytes, pages.size);
	expect("100:main( 200:main(T6 800:main)T6 900:main) 4611686018561605640:sched:sched_wakeup@1{pid=9}");
}

/* common_pid's, else of who is next or woken up, else nobody's. */
static void test_owners(void **state)
{
	kernel_page_begin(&pages, 250);
	kernel_switch(&pages, 250, 5, 6);
	kernel_switch(&pages, 260, 9, 6);
	kernel_switch(&pages, 270, 9, 8);
	kernel_wakeup(&pages, 280, 9, 6);
	kernel_wakeup(&pages, 290, 9, 8);
	kernel_call(&pages, 295, false, 9, READ);
	kernel_page_end(&pages, 0, 0);
	add_rest();
	add("kernel-cpu0.dat", pages.bytes, pages.size);
	expect("100:main( 200:main(T6 250:sched:sched_switch@1{abcdefghijklmno:5 ==> 6} "
	       "260:sched:sched_switch@1{abcdefghijklmno:9 ==> 6}T6 280:sched:sched_wakeup@1{pid=6}T6 "
	       "800:main)T6 900:main)");
	expect_warnings("");
}

/* A task moves between CPUs and back; the tasks are also read one after the other. */
static void test_cpus(void **state)
{
	const struct ftr_pipeline_options unordered = { .event_full = true, .is_unordered = true };
	size_t first;

	kernel_page_begin(&pages, 250);
	kernel_wakeup(&pages, 250, 5, 1);
	kernel_wakeup(&pages, 300, 6, 2);
	kernel_wakeup(&pages, 450, 5, 3);
	kernel_page_end(&pages, 0, 0);
	kernel_page_begin(&pages, 500);
	kernel_wakeup(&pages, 500, 5, 4);
	kernel_page_end(&pages, 0, 0);
	first = pages.size;
	kernel_page_begin(&pages, 350);
	kernel_wakeup(&pages, 350, 5, 5);
	kernel_wakeup(&pages, 470, 5, 6);
	kernel_page_end(&pages, 0, 0);
	add_rest();
	add("kernel-cpu0.dat", pages.bytes, first);
	add("kernel-cpu1.dat", pages.bytes + first, pages.size - first);
	show(&unordered);
	assert_string_equal(
		ftr_strbuf_str(&shown),
		"100:main( 250:sched:sched_wakeup@1{pid=1} 350:sched:sched_wakeup@2{pid=5} "
		"450:sched:sched_wakeup@1{pid=3} 470:sched:sched_wakeup@2{pid=6} "
		"500:sched:sched_wakeup@1{pid=4} 900:main) "
		"200:main(T6 300:sched:sched_wakeup@1{pid=2}T6 800:main)T6");
	expect_warnings("");
}

/*
 * The count behind the events; no room for it; a commit word whose sign went up.  The exit is made
 * up.
 */
static void test_lost(void **state)
{
	for (unsigned long_bytes = 4; long_bytes <= 8; long_bytes += 4) {
		begin(false, long_bytes);
		kernel_page_begin(&pages, 250);
		kernel_call(&pages, 250, false, 5, READ);
		kernel_page_end(&pages, 0, 0);
		kernel_page_begin(&pages, 400);
		kernel_wakeup(&pages, 410, 9, 6);
		kernel_page_end(&pages, KERNEL_LOST | KERNEL_LOST_STORED, 77);
		kernel_page_begin(&pages, 500);
		kernel_page_end(&pages, KERNEL_LOST, 0);
		add_rest();
		add("kernel-cpu2.dat", pages.bytes, pages.size);
		expect("100:main( 200:main(T6 250:vfs_read( 250:vfs_read)~ 400:[LOST 77 kernel events of CPU 2]T6 "
		       "410:sched:sched_wakeup@3{pid=6}T6 500:[LOST kernel events of CPU 2]T6 800:main)T6 "
		       "900:main)");
	}
}

static void test_default_leaves_out(void **state)
{
	const struct ftr_pipeline_options plain = { 0 }, only = { .kernel_only = true };
	const struct ftr_pipeline_options only_full = { .kernel_only = true, .kernel_full = true };
	const struct ftr_pipeline_options full = { .kernel_full = true };

	kernel_page_begin(&pages, 50);
	kernel_call(&pages, 50, false, 5, READ);
	kernel_wakeup(&pages, 60, 5, 1);
	kernel_call(&pages, 70, true, 5, READ);
	kernel_call(&pages, 250, false, 5, COPY);
	kernel_wakeup(&pages, 260, 5, 2);
	kernel_call(&pages, 270, true, 5, COPY);
	kernel_page_end(&pages, 0, 0);
	add_rest();
	add("kernel-cpu0.dat", pages.bytes, pages.size);
	show(&plain);
	assert_string_equal(
		ftr_strbuf_str(&shown),
		"100:main( 200:main(T6 250:copy_page( 260:sched:sched_wakeup@1{pid=2} 270:copy_page) "
		"800:main)T6 900:main)");
	show(&full);
	assert_string_equal(
		ftr_strbuf_str(&shown),
		"50:vfs_read( 60:sched:sched_wakeup@1{pid=1} 70:vfs_read) 100:main( 200:main(T6 "
		"250:copy_page( 260:sched:sched_wakeup@1{pid=2} 270:copy_page) 800:main)T6 900:main)");
	show(&only);
	assert_string_equal(ftr_strbuf_str(&shown),
			    "250:copy_page( 260:sched:sched_wakeup@1{pid=2} 270:copy_page)");
	show(&only_full);
	assert_string_equal(
		ftr_strbuf_str(&shown),
		"50:vfs_read( 60:sched:sched_wakeup@1{pid=1} 70:vfs_read) 250:copy_page( "
		"260:sched:sched_wakeup@1{pid=2} 270:copy_page)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_calls_in_every_layout, setup, teardown),
		cmocka_unit_test_setup_teardown(test_func, setup, teardown),
		cmocka_unit_test_setup_teardown(test_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_absolute_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_owners, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cpus, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_default_leaves_out, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

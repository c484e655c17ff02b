/* SPDX-License-Identifier: MIT */
/* The kernel's files of a uftrace directory, damaged or missing. */
#include "tests/unit/kernel_dir.h"

#include <stdio.h>
#include <string.h>

static void test_files_missing(void **state)
{
	kernel_page_begin(&pages, 250);
	kernel_call(&pages, 250, false, 5, READ);
	kernel_call(&pages, 260, true, 5, READ);
	kernel_page_end(&pages, 0, 0);
	add_tasks();
	add_header();
	add("kernel-cpu0.dat", pages.bytes, pages.size);
	expect("100:main( 200:main(T6 250:<c0001000>( 260:<c0001000>) 800:main)T6 900:main)");
	expect_warnings(
		"kallsyms: No such file or directory: kernel functions are shown as addresses\n");

	ftr_strbuf_clear(&packed);
	ftr_strbuf_clear(&warnings);
	add_tasks();
	add("kernel-cpu0.dat", pages.bytes, pages.size);
	expect("100:main( 200:main(T6 800:main)T6 900:main)");
	expect_warnings(
		"kernel_header: No such file or directory: kernel events cannot be decoded\n");
}

static void test_hidden_addresses(void **state)
{
	kernel_page_begin(&pages, 250);
	kernel_call(&pages, 250, false, 5, READ);
	kernel_call(&pages, 260, true, 5, READ);
	kernel_page_end(&pages, 0, 0);
	add_tasks();
	add_header();
	add_text("kallsyms", "0000000000000000 T vfs_read\n");
	add("kernel-cpu0.dat", pages.bytes, pages.size);
	expect("100:main( 200:main(T6 250:<c0001000>( 260:<c0001000>) 800:main)T6 900:main)");
	expect_warnings(
		"kallsyms: no addresses, as kernel.kptr_restrict hides them: kernel functions are "
		"shown as addresses\n");
}

/* What one page with this in it is warned about; the next page is whole. */
static void expect_damage(const char *text)
{
	kernel_page_end(&pages, 0, 0);
	kernel_page_begin(&pages, 700);
	kernel_wakeup(&pages, 700, 5, 1);
	kernel_page_end(&pages, 0, 0);
	add_rest();
	add("kernel-cpu0.dat", pages.bytes, pages.size);
	expect("100:main( 200:main(T6 700:sched:sched_wakeup@1{pid=1} 800:main)T6 900:main)");
	expect_warnings(text);
	begin(false, 8);
	kernel_page_begin(&pages, 250);
}

static void test_pages_damaged(void **state)
{
	const char *beyond =
		"kernel-cpu0.dat+0x10: an event reaches beyond its page: the rest of the page is skipped\n";

	kernel_page_begin(&pages, 250);
	kernel_word(&pages, 28, 0);		/* 112 bytes, of which there are 4 */
	kernel_put(&pages, 0, 4);
	expect_damage(beyond);
	kernel_word(&pages, 0, 1);		/* a length that leads back */
	kernel_put(&pages, 0xfffffff0, 4);
	kernel_put(&pages, 0, 8);
	expect_damage(beyond);
	kernel_word(&pages, 0, 1);		/* of nothing, not even itself */
	kernel_put(&pages, 0, 4);
	expect_damage(beyond);
	kernel_word(&pages, 29, 1);		/* padding that leads back */
	kernel_put(&pages, 0xfffffff8, 4);
	kernel_put(&pages, 0, 8);
	expect_damage(beyond);
	kernel_word(&pages, 0, 1);		/* and beyond the file */
	kernel_put(&pages, 0x7fffffff, 4);
	expect_damage(beyond);
	kernel_word(&pages, 30, 1);		/* half a time_extend */
	expect_damage(beyond);
	pages.bytes[8 + 8] = 0;
	kernel_wakeup(&pages, 250, 77, 77);
	pages.size = KERNEL_PAGE_BYTES + 4;	/* more than a page holds */
	kernel_page_end(&pages, 0, 0);
	pages.size = pages.page = 0;
	pages.size = KERNEL_PAGE_BYTES;
	kernel_page_begin(&pages, 700);
	kernel_wakeup(&pages, 700, 5, 1);
	kernel_page_end(&pages, 0, 0);
	add_rest();
	add("kernel-cpu0.dat", pages.bytes, pages.size);
	expect("100:main( 200:main(T6 700:sched:sched_wakeup@1{pid=1} 800:main)T6 900:main)");
	expect_warnings(
		"kernel-cpu0.dat+0x0: a page claims more data than fits into it: the page is skipped\n");
}

static void test_file_cut(void **state)
{
	kernel_page_begin(&pages, 250);
	kernel_wakeup(&pages, 250, 5, 1);
	kernel_wakeup(&pages, 260, 5, 2);
	kernel_page_end(&pages, 0, 0);
	add_rest();
	add("kernel-cpu0.dat", pages.bytes, 16 + 16 + 15);
	add("kernel-cpu1.dat", pages.bytes, 15);
	expect("100:main( 200:main(T6 250:sched:sched_wakeup@1{pid=1} 800:main)T6 900:main)");
	expect_warnings(
		"kernel-cpu0.dat+0x20: the file ends inside a page: the rest of the page is skipped\n"
		"kernel-cpu1.dat+0x0: the file ends inside a page: the page is skipped\n");
}

static void test_events_damaged(void **state)
{
	kernel_page_begin(&pages, 250);
	kernel_word(&pages, 3, 0);		/* ids that no format has, twice */
	kernel_put(&pages, 999, 2);
	kernel_put(&pages, 0, 10);
	kernel_word(&pages, 3, 0);
	kernel_put(&pages, 999, 2);
	kernel_put(&pages, 0, 10);
	kernel_word(&pages, 2, 0);		/* a wakeup without its pid */
	kernel_put(&pages, KERNEL_ID_WAKEUP, 4);
	kernel_put(&pages, 5, 4);
	kernel_word(&pages, 3, 0);		/* a text beyond the record */
	kernel_put(&pages, KERNEL_ID_TEXT, 4);
	kernel_put(&pages, 5, 4);
	kernel_put(&pages, 100 << 16 | 12, 4);
	kernel_word(&pages, 1, 0);		/* not even common_pid */
	kernel_put(&pages, KERNEL_ID_TEXT, 4);
	kernel_page_end(&pages, 0, 0);
	add_rest();
	add("kernel-cpu0.dat", pages.bytes, pages.size);
	expect("100:main( 200:main(T6 800:main)T6 900:main)");
	expect_warnings(
		"kernel-cpu0.dat+0x34: sched:sched_wakeup of 8 bytes is damaged: skipped\n"
		"kernel-cpu0.dat+0x40: test:words of 12 bytes is damaged: skipped\n"
		"kernel-cpu0.dat+0x50: test:words of 4 bytes is damaged: skipped\n"
		"kernel-cpu0.dat+0x14: skipped 2 events of unknown ID 999, first one here\n");
}

/* What libtraceevent must not be asked for: shown field by field. */
static void test_odd_print(void **state)
{
	kernel_page_begin(&pages, 250);
	kernel_odd(&pages, 250, 5, 0, 0xfffffff);
	kernel_page_end(&pages, 0, 0);
	add_rest();
	add("kernel-cpu0.dat", pages.bytes, pages.size);
	expect("100:main( 200:main(T6 250:test:odd@1{divisor=0 count=268435455 bytes=ARRAY[04, 03, 02, 01]} "
	       "800:main)T6 900:main)");
	expect_warnings(
		"kernel-cpu0.dat+0x14: test:odd: its print fmt could read beyond the record: such events are shown "
		"field by field\n");
}

static void test_time_back(void **state)
{
	kernel_page_begin(&pages, 250);
	kernel_wakeup(&pages, 250, 5, 1);
	kernel_page_end(&pages, 0, 0);
	kernel_page_begin(&pages, 240);
	kernel_wakeup(&pages, 240, 5, 2);
	kernel_page_end(&pages, 0, 0);
	add_rest();
	add("kernel-cpu0.dat", pages.bytes, pages.size);
	expect("100:main( 200:main(T6 250:sched:sched_wakeup@1{pid=1} 250:sched:sched_wakeup@1{pid=2} "
	       "800:main)T6 900:main)");
	expect_warnings(
		"kernel-cpu0.dat+0x1020: time goes backwards by 10 ns; clamped (further occurrences not reported)\n");
}

/* The header's lines damaged one after the other: never worse than what it says. */
static void test_header_damaged(void **state)
{
	char text[8192], bent[8192];
	size_t len = kernel_header_text(&pages, text);

	kernel_page_begin(&pages, 250);
	kernel_wakeup(&pages, 250, 5, 1);
	kernel_call(&pages, 260, false, 5, READ);
	kernel_call(&pages, 270, true, 5, READ);
	kernel_odd(&pages, 280, 5, 1, 2);
	kernel_page_end(&pages, 0, 0);
	for (size_t at = 0; at < len; at++) {
		const struct ftr_pipeline_options all = { .event_full = true };

		ftr_strbuf_clear(&packed);
		ftr_strbuf_clear(&warnings);
		diag.nr = 0;
		memcpy(bent, text, len);
		bent[at] ^= 1 << (at % 7);
		add_tasks();
		add("kernel_header", bent, at % 3 == 0 ? at : len);
		add_text("kallsyms", KALLSYMS);
		add("kernel-cpu0.dat", pages.bytes, pages.size);
		show(&all);
		if (at % 3 == 0 && at < len - 100)
			assert_true(warnings.len > 0);
	}
}

/* Formats as uftrace cuts them: the fields are there, the print fmt is not whole. */
static void test_format_cut(void **state)
{
	char text[8192], cut[8192];
	size_t len = kernel_header_text(&pages, text);
	char *at = strstr(text, "TRACEFS: events/sched/sched_wakeup");
	size_t kept = strlen("name: sched_wakeup\n");
	int head;

	text[len] = '\0';
	kept = (size_t)(strstr(at, "REC->pid") - strchr(at, '\n') - 1);
	memcpy(cut, text, (size_t)(at - text));
	head = sprintf(cut + (at - text), "TRACEFS: events/sched/sched_wakeup/format: %zu\n", kept);
	memcpy(cut + (at - text) + head, strchr(at, '\n') + 1, kept);
	kernel_page_begin(&pages, 250);
	kernel_wakeup(&pages, 250, 5, 1);
	kernel_page_end(&pages, 0, 0);
	add_tasks();
	add("kernel_header", cut, (size_t)(at - text) + (size_t)head + kept);
	add("kernel-cpu0.dat", pages.bytes, pages.size);
	expect("100:main( 200:main(T6 250:sched:sched_wakeup@1{pid=1} 800:main)T6 900:main)");
	assert_non_null(strstr(ftr_strbuf_str(&warnings),
			       "kernel-cpu0.dat+0x14: sched:sched_wakeup: its print fmt is "
			       "damaged or unusual: such events are shown field by field\n"));
}

/* LeakSanitizer asks: libtraceevent 1.7 does not free all of a format that it refuses. */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:tep_parse_event\n";
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_files_missing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hidden_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pages_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(test_events_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_odd_print, setup, teardown),
		cmocka_unit_test_setup_teardown(test_time_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_header_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_format_cut, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The kernel's files of a uftrace directory: pages written from their layout, kernel_pages.h. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/kernel_pages.h"
#include "tests/unit/packed.h"
#include "tests/unit/unit.h"
#include "utils/base/strbuf.h"
#include "utils/format/dir.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/proto/record.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/source.h"
#include "utils/trace/trace.h"

#define MAP "1000-2000 r-xp 00000000 00:00 0                          /bin/prog\n"
#define SYM "0000000000000100 00000010 T main\n0000000000000300 00000010 T __sym_end\n"
#define TASK "SESS timestamp=0.000000001 pid=5 sid=00000000000000aa exename=\"/bin/prog\"\n" \
	     "TASK timestamp=0.000000002 tid=5 pid=5\nTASK timestamp=0.000000003 tid=6 pid=5\n"
#define KALLSYMS \
	"00000000c0001000 T vfs_read\n00000000c0002000 t copy_page\t[mod]\n00000000c0003000 D data\n"
#define MAIN 0x1104
#define READ UINT64_C(0xc0001000)
#define COPY UINT64_C(0xc0002000)

#define RECORD(time, type, depth, addr) \
	(time), ((uint64_t)(addr) << 16 | (uint64_t)(depth) << 6 | FTR_RECORD_MAGIC | (type))

static const uint64_t main_data[] = { RECORD(100, 0, 0, MAIN), RECORD(900, 1, 0, MAIN) };
static const uint64_t other_data[] = { RECORD(200, 0, 0, MAIN), RECORD(800, 1, 0, MAIN) };

static struct ftr_strbuf packed;	/* a directory in the making; see format/dir.h */
static struct kernel_pages pages;
static struct ftr_strbuf warnings;
static struct ftr_strbuf shown;

static void keep_warning(void *arg, const char *text)
{
	ftr_strbuf_puts(&warnings, text);
	ftr_strbuf_putc(&warnings, '\n');
}

static struct ftr_diag diag = { .warn = keep_warning };

static void begin(bool is_big, unsigned long_bytes)
{
	memset(&pages, 0, sizeof(pages));
	pages.is_big = is_big;
	pages.long_bytes = long_bytes;
	ftr_strbuf_clear(&packed);
	ftr_strbuf_clear(&warnings);
	ftr_strbuf_clear(&shown);
	diag.nr = 0;
}

static int setup(void **state)
{
	ftr_strbuf_init(&packed);
	ftr_strbuf_init(&warnings);
	ftr_strbuf_init(&shown);
	begin(false, 8);
	return 0;
}

static int teardown(void **state)
{
	ftr_strbuf_fini(&packed);
	ftr_strbuf_fini(&warnings);
	ftr_strbuf_fini(&shown);
	return 0;
}

static void add(const char *name, const void *bytes, size_t size)
{
	packed_add(&packed, name, bytes, size);
}

static void add_text(const char *name, const char *text)
{
	add(name, text, strlen(text));
}

static void add_tasks(void)
{
	unsigned char info[60] = { 'F', 't', 'r', 'a', 'c', 'e', '!', 0, 4, 0, 0, 0, 40, 0, 1, 2,
				   FTR_FEATURE_SYM_REL_ADDR | FTR_FEATURE_TASK_SESSION };

	memcpy(info + 40, "taskinfo:tids=5,6\n", 18);
	add("info", info, 58);
	add_text("task.txt", TASK);
	add_text("sid-00000000000000aa.map", MAP);
	add_text("prog.sym", SYM);
	add("5.dat", main_data, sizeof(main_data));
	add("6.dat", other_data, sizeof(other_data));
}

static void add_header(void)
{
	char text[8192];

	add("kernel_header", text, kernel_header_text(&pages, text));
}

/* All but the pages. */
static void add_rest(void)
{
	add_tasks();
	add_header();
	add_text("kallsyms", KALLSYMS);
}

static void show_event(const struct ftr_event *ev)
{
	char lost[FTR_EVENT_LOST_TEXT_MAX];

	ftr_strbuf_printf(&shown, "%s%llu:", shown.len > 0 ? " " : "",
			  (unsigned long long)ev->time_ns);
	if (ev->type == FTR_EVENT_POINT)
		ftr_strbuf_printf(&shown, "%s@%u{%.*s}", ev->point.name, ev->point.cpu_nr,
				  ev->payload == NULL ? 0 : ev->payload->len,
				  ev->payload == NULL ? "" : (const char *)ev->payload->data);
	else if (ev->type == FTR_EVENT_LOST)
		ftr_strbuf_printf(&shown, "[%s]", (ftr_event_lost_text(ev, lost), lost));
	else
		ftr_strbuf_printf(&shown, "%s%c%s", ev->call.func->name,
				  ev->type == FTR_EVENT_ENTRY ? '(' : ')',
				  ev->flags & FTR_EVENT_INFERRED ? "~" : "");
	if (ev->task->tid != 5)
		ftr_strbuf_printf(&shown, "T%d", ev->task->tid);
}

static struct ftr_trace *trace_open(void)
{
	struct ftr_trace *trace = ftr_trace_new("test", &diag);
	struct ftr_err err = { 0 };
	struct ftr_dir *dir;

	assert_int_equal(ftr_dir_open_memory(&dir, packed.s, packed.len, &err), 0);
	assert_int_equal(ftr_uftrace_read_dir(trace, dir, &err), 0);
	return trace;
}

static void show(const struct ftr_pipeline_options *options)
{
	struct ftr_trace *trace = trace_open();
	struct ftr_source *source = NULL;
	struct ftr_err err = { 0 };
	struct ftr_event *evs;
	ssize_t nr;

	ftr_strbuf_clear(&shown);
	assert_int_equal(ftr_trace_pipeline(trace, options, &source, &err), 0);
	while ((nr = ftr_source_next(source, &evs, &err)) > 0) {
		for (ssize_t i = 0; i < nr; i++)
			show_event(&evs[i]);
	}
	assert_int_equal(nr, 0);
	ftr_source_free(source);
	ftr_trace_free(trace);
}

/* Everything that the directory holds, in order of time. */
static void expect(const char *text)
{
	const struct ftr_pipeline_options all = { .event_full = true, .kernel_full = true };

	show(&all);
	assert_string_equal(ftr_strbuf_str(&shown), text);
}

static void expect_warnings(const char *text)
{
	assert_string_equal(ftr_strbuf_str(&warnings), text);
}

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

/* ---- damage ---- */

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
		cmocka_unit_test_setup_teardown(test_calls_in_every_layout, setup, teardown),
		cmocka_unit_test_setup_teardown(test_func, setup, teardown),
		cmocka_unit_test_setup_teardown(test_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_absolute_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_owners, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cpus, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_default_leaves_out, setup, teardown),
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

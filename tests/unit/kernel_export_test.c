/* SPDX-License-Identifier: MIT */
/*
 * Functions and tracepoints of the kernel, written as a uftrace directory: what libtraceevent makes
 * of it.
 */
#include <event-parse.h>
#include <inttypes.h>
#include <kbuffer.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/fxt_util.h"
#include "tests/unit/kernel_story.h"
#include "tests/unit/unit.h"

/* Functions that only have names. */
static void make_named(struct story *s)
{
	const struct ftr_func *named[2] = { make_func(s->trace, FTR_KERNEL_PATH, "first"),
					    make_func(s->trace, FTR_KERNEL_PATH, "second one") };

	story_entry(s, 0, s->user);
	for (int i = 0; i < 4; i++) {
		s->time_ns += 10;
		story_entry(s, 0, named[i % 2]);
		story_exit(s, 0, named[i % 2]);
	}
	s->time_ns += 10;
	story_exit(s, 0, s->user);
}

static void named_functions(void **state)
{
	struct ftr_strbuf text;

	assert_int_equal(story_write("a.data", make_named, NULL), 0);
	text = story_slurp("a.data/kallsyms");
	assert_string_equal(ftr_strbuf_str(&text),
			    "ffffff0000000010 T first\nffffff0000000020 T second one\n"
			    "ffffff0000000030 T _etext\n");
	ftr_strbuf_fini(&text);
}

/* Names that make no path go where other events are, without their text; it is said. */
static void make_odd_names(struct story *s)
{
	story_entry(s, 0, s->user);
	s->time_ns += 10;
	story_point(s, 0, STORY_POINT("a/../b:c", 400, 0), "1");
	story_point(s, 0, STORY_POINT("no colon", 401, 0), "2");
	s->time_ns += 10;
	story_exit(s, 0, s->user);
}

static void odd_names(void **state)
{
	struct ftr_strbuf text;

	assert_int_equal(story_write("a.data", make_odd_names, NULL), 2);
	text = story_slurp("a.data/events.txt");
	assert_string_equal(ftr_strbuf_str(&text),
			    "EVENT: 1000100 a/../b:c\nEVENT: 1000101 no colon\n");
	ftr_strbuf_fini(&text);
}

/* ---- libtraceevent alone ---- */

/* The formats of kernel_header, block by block. */
static void header_parse(struct tep_handle *tep, const char *text)
{
	const char *block = strstr(text, "TRACEFS: ");
	char path[128], system[64];
	unsigned nr = 0;
	int bytes;

	for (; block != NULL; block = strstr(block, "TRACEFS: "), nr++) {
		assert_int_equal(sscanf(block, "TRACEFS: %127[^:]: %d\n", path, &bytes), 2);
		block = strchr(block, '\n') + 1;
		if (sscanf(path, "events/%63[^/]/", system) == 1 && strstr(path, "/format") != NULL)
			assert_int_equal(tep_parse_event(tep, block, (unsigned long)bytes, system),
					 0);
		else
			assert_int_equal(tep_parse_header_page(tep, (char *)(uintptr_t)block,
							       (unsigned long)bytes, 8), 0);
		block += bytes;
	}
	assert_int_equal(nr, 6);
	assert_int_equal(tep_get_header_page_size(tep), 8);
}

static void show_record(struct tep_handle *tep, struct ftr_strbuf *text, void *data, int size,
			uint64_t time_ns)
{
	struct tep_record record = { .data = data, .size = size, .ts = time_ns };
	struct trace_seq seq;

	trace_seq_init(&seq);
	tep_print_event(tep, &seq, &record, "%d %s: %s", TEP_PRINT_PID, TEP_PRINT_NAME,
			TEP_PRINT_INFO);
	trace_seq_terminate(&seq);
	ftr_strbuf_printf(text, "%" PRIu64 " %s\n", time_ns, seq.buffer);
	trace_seq_destroy(&seq);
}

static void libtraceevent_reads_it(void **state)
{
	struct tep_handle *tep = tep_alloc();
	struct kbuffer *kbuffer = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_SAME_AS_HOST);
	struct ftr_strbuf header, symbols, pages, text;
	unsigned long long time_ns;

	assert_int_equal(story_write("a.data", story_nested, NULL), 0);
	header = story_slurp("a.data/kernel_header");
	symbols = story_slurp("a.data/kallsyms");
	pages = story_slurp("a.data/kernel-cpu3.dat");
	header_parse(tep, ftr_strbuf_str(&header));
	*strchr(symbols.s, '#') = '\0';
	assert_int_equal(tep_parse_kallsyms(tep, symbols.s), 0);
	ftr_strbuf_init(&text);
	for (size_t at = 0; at < pages.len; at += 4096) {
		assert_int_equal(kbuffer_load_subbuffer(kbuffer, pages.s + at), 0);
		for (void *data = kbuffer_read_event(kbuffer, &time_ns); data != NULL;
		     data = kbuffer_next_event(kbuffer, &time_ns))
			show_record(tep, &text, data, kbuffer_event_size(kbuffer), time_ns);
	}
	assert_string_equal(
		ftr_strbuf_str(&text),
		"576460752571860034 101 sys_enter: NR 0 (3, 7ffd0)\n"
		"576460752571860044 101 funcgraph_entry: --> do_syscall_64 (0)\n"
		"576460752571860054 101 funcgraph_entry: --> vfs_read (1)\n"
		"576460752840295510 101 sched_switch: prev_comm=k\xc3\xa4se ==>\nnext_comm=\xe2\x82\xac\n"
		"1152921505143718998 101 funcgraph_exit: <-- vfs_read (1) "
		"(start: 800000010000456  end: 1000000020000456) over: 0\n"
		"1152921505143719008 101 funcgraph_entry: --> ext4_read (1)\n"
		"1152921505143719008 101 funcgraph_exit: <-- ext4_read (1) "
		"(start: 1000000020000460  end: 1000000020000460) over: 0\n"
		"1152921505143719018 101 funcgraph_exit: <-- do_syscall_64 (0) "
		"(start: 80000001000044c  end: 100000002000046a) over: 0\n"
		"1729382257715578052 100 irq_handler_entry: \n");
	ftr_strbuf_fini(&text);
	ftr_strbuf_fini(&header);
	ftr_strbuf_fini(&symbols);
	ftr_strbuf_fini(&pages);
	kbuffer_free(kbuffer);
	tep_free(tep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(named_functions, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(odd_names, story_setup, story_teardown),
		cmocka_unit_test_setup_teardown(libtraceevent_reads_it, story_setup,
						story_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Reading uftrace directories: made up here in memory, and recorded ones of tests/data. */
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/packed.h"
#include "tests/unit/stream.h"
#include "utils/format/dir.h"
#include "utils/format/format.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/proto/record.h"
#include "utils/trace/args.h"
#include "utils/trace/pipeline.h"

#define MAP "1000-2000 r-xp 00000000 00:00 0                          /bin/prog\n" \
	    "7000-8000 rw-p 00000000 00:00 0                          [stack]\n"
#define SYM "0000000000000100 00000010 T main\n0000000000000200 00000010 T leaf\n" \
	    "0000000000000300 00000010 T __sym_end\n"
#define TASK "SESS timestamp=0.000000001 pid=5 sid=00000000000000aa exename=\"/bin/prog\"\n" \
	     "TASK timestamp=0.000000002 tid=5 pid=5\n"
#define MAIN 0x1104
#define LEAF 0x1204

/* A directory in the making; see format/dir.h. */
static struct ftr_strbuf packed;
static char warnings[4096];
static unsigned warning_nr;
static bool estimate_return;	/* of the traces in the making */

static void keep_warning(void *arg, const char *text)
{
	strncat(warnings, text, sizeof(warnings) - strlen(warnings) - 2);
	strcat(warnings, "\n");
	warning_nr++;
}

static struct ftr_diag diag = { .warn = keep_warning };

static int setup(void **state)
{
	ftr_strbuf_init(&packed);
	diag.nr = 0;
	warnings[0] = '\0';
	warning_nr = 0;
	estimate_return = false;
	return 0;
}

static int teardown(void **state)
{
	ftr_strbuf_fini(&packed);
	return 0;
}

static void add_bytes(const char *name, const void *bytes, size_t size)
{
	packed_add(&packed, name, bytes, size);
}

static void add_info(const char *lines, bool is_big, uint8_t version)
{
	unsigned char header[40] = { 'F', 't', 'r', 'a', 'c', 'e', '!', 0 };
	char file[2048];

	header[is_big ? 11 : 8] = version;
	header[is_big ? 13 : 12] = 40;
	header[14] = is_big ? 2 : 1;
	header[15] = 2;
	header[is_big ? 23 : 16] = FTR_FEATURE_SYM_REL_ADDR | FTR_FEATURE_TASK_SESSION;
	header[is_big ? 22 : 17] = estimate_return ? FTR_FEATURE_ESTIMATE_RETURN >> 8 : 0;
	memcpy(file, header, sizeof(header));
	memcpy(file + sizeof(header), lines, strlen(lines));
	add_bytes("info", file, sizeof(header) + strlen(lines));
}

static void add_base(const char *info_lines)
{
	add_info(info_lines, false, 4);
	add_bytes("task.txt", TASK, strlen(TASK));
	add_bytes("sid-00000000000000aa.map", MAP, strlen(MAP));
	add_bytes("prog.sym", SYM, strlen(SYM));
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

static void expect_stream(struct ftr_trace *trace, bool has_details, const char *text)
{
	const struct ftr_pipeline_options options = { .event_full = true };
	struct ftr_source *source = NULL;
	struct ftr_err err = { 0 };
	struct ftr_strbuf got;

	assert_int_equal(ftr_trace_pipeline(trace, &options, &source, &err), 0);
	ftr_strbuf_init(&got);
	stream_text(source, has_details, &got);
	assert_string_equal(ftr_strbuf_str(&got), text);
	ftr_strbuf_fini(&got);
}

#define RECORD(time, type, depth, addr) \
	(time), ((uint64_t)(addr) << 16 | (uint64_t)(depth) << 6 | FTR_RECORD_MAGIC | (type))

static void test_plain(void **state)
{
	const uint64_t data[] = {
		RECORD(10, 0, 0, MAIN), RECORD(12, 0, 1, LEAF), RECORD(15, 1, 1, LEAF),
		RECORD(20, 1, 0, MAIN),
	};
	struct ftr_trace *trace;

	add_base("taskinfo:lines=2\ntaskinfo:nr_tid=1\ntaskinfo:tids=5\n");
	add_bytes("5.dat", data, sizeof(data));
	trace = trace_open();
	assert_int_equal(trace->first_ns, 10);
	assert_string_equal(trace->tasks.v[0]->name, "prog");
	expect_stream(trace, true, "10:main(d0 12:leaf(d1 15:leaf)d1=3-0 20:main)d0=10-3");
	assert_int_equal(warning_nr, 0);
	ftr_trace_free(trace);
}

/* Nothing of them is what the memory held before. */
static void test_calls_are_whole(void **state)
{
	const uint64_t data[] = { RECORD(10, 0, 0, MAIN), RECORD(20, 1, 0, MAIN) };
	struct ftr_err err = { 0 };
	struct ftr_trace *trace;
	struct ftr_event *evs;

	add_base("taskinfo:lines=2\ntaskinfo:nr_tid=1\ntaskinfo:tids=5\n");
	add_bytes("5.dat", data, sizeof(data));
	mallopt(M_PERTURB, 0xa5);
	trace = trace_open();
	mallopt(M_PERTURB, 0);
	assert_int_equal(ftr_source_next(trace->sources.v[0], &evs, &err), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(evs[i].flags, 0);
		assert_int_equal(evs[i].color, 0);
		assert_int_equal(evs[i].verdict, 0);
	}
	ftr_trace_free(trace);
}

static void test_big_endian(void **state)
{
	uint64_t data[] = { RECORD(10, 0, 0, MAIN), RECORD(20, 1, 0, MAIN) };
	struct ftr_trace *trace;

	for (size_t i = 0; i < sizeof(data) / sizeof(data[0]); i++)
		data[i] = __builtin_bswap64(data[i]);
	add_info("taskinfo:tids=5\n", true, 3);
	add_bytes("task.txt", TASK, strlen(TASK));
	add_bytes("sid-00000000000000aa.map", MAP, strlen(MAP));
	add_bytes("prog.sym", SYM, strlen(SYM));
	add_bytes("5.dat", data, sizeof(data));
	trace = trace_open();
	assert_int_equal(trace->info.version, 3);
	expect_stream(trace, false, "10:main( 20:main)");
	assert_int_equal(warning_nr, 0);
	ftr_trace_free(trace);
}

static void test_damaged_record(void **state)
{
	const uint64_t data[] = {
		RECORD(10, 0, 0, MAIN), 12, 0, RECORD(15, 1, 1, LEAF), RECORD(20, 1, 0, MAIN), 7,
	};
	struct ftr_trace *trace;

	add_base("taskinfo:tids=5\n");
	add_bytes("5.dat", data, sizeof(data));
	trace = trace_open();
	expect_stream(trace, false, "10:main( 10:leaf(~< 15:leaf)< 20:main)");
	assert_int_equal(warning_nr, 2);
	assert_non_null(strstr(warnings, "5.dat+0x10: no record; skipped 16 bytes"));
	assert_non_null(strstr(warnings, "5.dat+0x40: the file ends inside a record"));
	ftr_trace_free(trace);
}

static void test_damaged_time(void **state)
{
	const uint64_t far = UINT64_C(1) << 60;
	const uint64_t data[] = {
		RECORD(10, 0, 0, MAIN), RECORD(far, 0, 1, LEAF), RECORD(15, 1, 1, LEAF),
		RECORD(20, 1, 0, MAIN),
	};
	struct ftr_trace *trace;

	add_base("taskinfo:tids=5\n");
	add_bytes("5.dat", data, sizeof(data));
	trace = trace_open();
	expect_stream(trace, false, "10:main( 15:leaf( 15:leaf) 20:main)");
	assert_non_null(strstr(warnings, "5.dat+0x10: implausible timestamp"));
	ftr_trace_free(trace);
}

static void test_long_sleep(void **state)
{
	const uint64_t far = UINT64_C(1) << 50;		/* twelve days */
	const uint64_t data[] = { RECORD(10, 0, 0, MAIN), RECORD(far, 1, 0, MAIN) };
	struct ftr_trace *trace;

	add_base("taskinfo:tids=5\n");
	add_bytes("5.dat", data, sizeof(data));
	trace = trace_open();
	expect_stream(trace, false, "10:main( 1125899906842624:main)");
	assert_int_equal(warning_nr, 0);
	ftr_trace_free(trace);
}

static void test_unlisted_task(void **state)
{
	const uint64_t data[] = { RECORD(10, 0, 0, MAIN), RECORD(20, 1, 0, MAIN) };
	struct ftr_trace *trace;

	add_base("taskinfo:tids=5\n");
	add_bytes("5.dat", data, sizeof(data));
	add_bytes("77.dat", data, sizeof(data));
	trace = trace_open();
	assert_non_null(strstr(warnings, "77.dat: task is in neither info nor task.txt"));
	expect_stream(trace, false, "10:main( T77 10:main( T5 20:main) T77 20:main)");
	ftr_trace_free(trace);
}

static void test_missing_files(void **state)
{
	const uint64_t data[] = { RECORD(10, 0, 0, MAIN), RECORD(20, 1, 0, MAIN) };
	struct ftr_trace *trace;

	add_info("taskinfo:tids=5,6\n", false, 4);
	add_bytes("5.dat", data, sizeof(data));
	trace = trace_open();
	assert_non_null(strstr(warnings, "task.txt"));
	assert_non_null(strstr(warnings, "6.dat"));
	expect_stream(trace, false, "10:<1104>( 20:<1104>)");
	ftr_trace_free(trace);
}

static void test_no_info(void **state)
{
	struct ftr_trace *trace = ftr_trace_new("test", &diag);
	struct ftr_err err = { 0 };
	struct ftr_dir *dir;

	add_bytes("info", "Ftrace!", 8);
	assert_int_equal(ftr_dir_open_memory(&dir, packed.s, packed.len, &err), 0);
	assert_int_equal(ftr_uftrace_read_dir(trace, dir, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "info"));
	ftr_trace_free(trace);
	trace = NULL;
	assert_int_equal(ftr_trace_open(&trace, "/nonexistent", &diag, &err), -ENOENT);
	assert_non_null(strstr(err.text, "ftr record"));
	assert_int_equal(ftr_trace_open(&trace, "/", &diag, &err), -EBADMSG);
	assert_null(trace);
}

static void test_unknown_lines(void **state)
{
	static const char task[] = TASK
		"WHAT timestamp=0.1 x=1\nTASK tid=5\nDLOP timestamp=0.000000004 "
		"tid=5 sid=00000000000000bb base=9000 libname=\"/lib/x.so\"\n";
	struct ftr_trace *trace;

	add_info("taskinfo:tids=5\nexit_status:many\nnew:thing\n", false, 4);
	add_bytes("task.txt", task, strlen(task));
	add_bytes("sid-00000000000000aa.map", MAP "rubbish\n", strlen(MAP) + 8);
	add_bytes("5.dat", NULL, 0);
	trace = trace_open();
	assert_non_null(strstr(warnings, "info:2: damaged value"));
	assert_non_null(strstr(warnings, "info:3: unknown line"));
	assert_non_null(strstr(warnings, "task.txt:3: unknown line"));
	assert_non_null(strstr(warnings, "task.txt:4: damaged line"));
	assert_non_null(strstr(warnings, "task.txt:5: line of an unknown session"));
	assert_non_null(strstr(warnings, "aa.map:3: damaged line"));
	assert_int_equal(warning_nr, 6);
	ftr_trace_free(trace);
}

static void test_dlopen_and_exec(void **state)
{
	static const char task[] = TASK
		"DLOP timestamp=0.000000015 tid=5 sid=00000000000000aa base=9000 libname=\"/lib/x.so\"\n"
		"SESS timestamp=0.000000030 pid=5 sid=00000000000000bb exename=\"/bin/two\"\n";
	static const char map[] = "1000-2000 r-xp 00000000 00:00 0   /bin/two\n";
	static const char sym[] = "0000000000000100 T second\n0000000000000200 T __sym_end\n";
	static const char lib[] = "0000000000000010 T plugin\n0000000000000100 T __sym_end\n";
	const uint64_t data[] = {
		RECORD(10, 0, 0, MAIN), RECORD(20, 0, 1, 0x9010), RECORD(21, 1, 1, 0x9010),
		RECORD(40, 0, 0, MAIN), RECORD(41, 1, 0, MAIN),
	};
	struct ftr_trace *trace;

	add_info("taskinfo:tids=5\n", false, 4);
	add_bytes("task.txt", task, strlen(task));
	add_bytes("sid-00000000000000aa.map", MAP, strlen(MAP));
	add_bytes("sid-00000000000000bb.map", map, strlen(map));
	add_bytes("prog.sym", SYM, strlen(SYM));
	add_bytes("two.sym", sym, strlen(sym));
	add_bytes("x.so.sym", lib, strlen(lib));
	add_bytes("5.dat", data, sizeof(data));
	trace = trace_open();
	expect_stream(trace, false,
		      "10:main( 20:plugin( 21:plugin) 21:main)~ 40:second( 41:second)");
	assert_int_equal(warning_nr, 0);
	ftr_trace_free(trace);
}

/* Pids began again at the lowest: the tasks come child's thread, child's child, child, parent. */
static void test_child_before_parent(void **state)
{
	static const char task[] = TASK
		"FORK timestamp=0.000000003 pid=4 ppid=5\n"
		"TASK timestamp=0.000000004 tid=2 pid=4\n"
		"FORK timestamp=0.000000005 pid=3 ppid=4\n";
	const uint64_t data[] = { RECORD(10, 0, 0, MAIN), RECORD(11, 1, 0, MAIN) };
	struct ftr_trace *trace;

	add_info("taskinfo:tids=2,3,4,5\n", false, 4);
	add_bytes("task.txt", task, strlen(task));
	add_bytes("sid-00000000000000aa.map", MAP, strlen(MAP));
	add_bytes("prog.sym", SYM, strlen(SYM));
	add_bytes("2.dat", data, sizeof(data));
	add_bytes("3.dat", data, sizeof(data));
	trace = trace_open();
	assert_null(strstr(warnings, "session"));
	for (size_t i = 0; i < trace->tasks.nr; i++)
		assert_int_equal(trace->tasks.v[i]->session_nr, 1);
	ftr_trace_free(trace);
}

static void test_parents_in_a_circle(void **state)
{
	static const char task[] = TASK
		"FORK timestamp=0.000000003 pid=3 ppid=4\n"
		"FORK timestamp=0.000000003 pid=4 ppid=3\n";

	add_info("taskinfo:tids=3,4,5\n", false, 4);
	add_bytes("task.txt", task, strlen(task));
	add_bytes("sid-00000000000000aa.map", MAP, strlen(MAP));
	add_bytes("5.dat", NULL, 0);
	ftr_trace_free(trace_open());
	assert_non_null(strstr(warnings, "task 4 has no session"));
}

static void test_symbol_name_clash(void **state)
{
	static const char map[] = "1000-2000 r-xp 00000000 00:00 0   /a/lib.so build-id:abcdef\n"
				  "3000-4000 r-xp 00000000 00:00 0   /b/lib.so build-id:123456\n";
	static const char one[] = "# path name: /a/lib.so\n# build-id: abcdef\n"
				  "0000000000000100 T one\n0000000000000200 T __sym_end\n";
	static const char two[] = "# path name: /b/lib.so\n# build-id: 123456\n"
				  "0000000000000100 T two\n0000000000000200 T __sym_end\n";
	const uint64_t data[] = {
		RECORD(1, 0, 0, 0x1104), RECORD(2, 1, 0, 0x1104), RECORD(3, 0, 0, 0x3104),
		RECORD(4, 1, 0, 0x3104),
	};
	struct ftr_trace *trace;

	add_info("taskinfo:tids=5\n", false, 4);
	add_bytes("task.txt", TASK, strlen(TASK));
	add_bytes("sid-00000000000000aa.map", map, strlen(map));
	add_bytes("lib.so.sym", one, strlen(one));
	add_bytes("lib.so-1234.sym", two, strlen(two));
	add_bytes("5.dat", data, sizeof(data));
	trace = trace_open();
	expect_stream(trace, false, "1:one( 2:one) 3:two( 4:two)");
	ftr_trace_free(trace);
}

static void test_forked_stack(void **state)
{
	static const char task[] = TASK "FORK timestamp=0.000000020 pid=6 ppid=5\n";
	const uint64_t parent[] = {
		RECORD(10, 0, 0, MAIN), RECORD(12, 0, 1, LEAF), RECORD(25, 1, 1, LEAF),
		RECORD(30, 1, 0, MAIN),
	};
	const uint64_t child[] = { RECORD(21, 1, 1, LEAF), RECORD(22, 1, 0, MAIN) };
	struct ftr_trace *trace;

	add_info("taskinfo:tids=5,6\n", false, 4);
	add_bytes("task.txt", task, strlen(task));
	add_bytes("sid-00000000000000aa.map", MAP, strlen(MAP));
	add_bytes("prog.sym", SYM, strlen(SYM));
	add_bytes("5.dat", parent, sizeof(parent));
	add_bytes("6.dat", child, sizeof(child));
	trace = trace_open();
	assert_ptr_equal(ftr_trace_task_find(trace, 6)->parent, ftr_trace_task_find(trace, 5));
	trace->sources.nr--;		/* the child's alone */
	struct ftr_source *parents = trace->sources.v[0];
	trace->sources.v[0] = trace->sources.v[1];
	expect_stream(trace, false, "21:main(~< 21:leaf(~< 21:leaf)< 22:main)<");
	ftr_source_free(parents);
	ftr_trace_free(trace);
}

/* When the parent's stream says that it forked; 0 = it does not. */
static uint64_t forked_at(struct ftr_trace *trace)
{
	struct ftr_event *evs;
	uint64_t time_ns = 0;
	ssize_t nr;

	while ((nr = ftr_source_next(trace->sources.v[0], &evs, NULL)) > 0) {
		for (ssize_t i = 0; i < nr; i++) {
			if (evs[i].type == FTR_EVENT_FORK)
				time_ns = evs[i].time_ns;
		}
	}
	return time_ns;
}

/* The line of a child that called nothing before its exec is late; the kernel's word is not. */
static void test_fork_as_the_kernel_says(void **state)
{
	static const char task[] = TASK "FORK timestamp=0.000000028 pid=6 ppid=5\n";
	const uint64_t parent[] = {
		RECORD(10, 0, 0, MAIN), RECORD(12, 0, 1, LEAF), RECORD(25, 1, 1, LEAF),
		RECORD(30, 1, 0, MAIN),
	};
	struct {
		uint32_t type;
		uint16_t misc, size;
		uint32_t pid, ppid, tid, ptid;
		uint64_t time_ns;
		uint32_t sample_pid, sample_tid;
		uint64_t sample_time_ns;
	} forks[] = {
		/* an earlier child of this number, this one, a later one, somebody else's */
		{ 7, 0, 48, 6, 5, 6, 5, 11, 5, 5, 11 },
		{ 7, 0, 48, 6, 5, 6, 5, 20, 5, 5, 20 },
		{ 7, 0, 48, 6, 5, 6, 5, 29, 5, 5, 29 },
		{ 7, 0, 48, 6, 9, 6, 9, 24, 9, 9, 24 },
	};
	struct ftr_trace *trace;

	static_assert(sizeof(forks[0]) == 48, "as in the file");
	add_info("taskinfo:tids=5,6\n", false, 4);
	add_bytes("task.txt", task, strlen(task));
	add_bytes("sid-00000000000000aa.map", MAP, strlen(MAP));
	add_bytes("prog.sym", SYM, strlen(SYM));
	add_bytes("5.dat", parent, sizeof(parent));
	add_bytes("perf-cpu0.dat", forks, sizeof(forks));
	trace = trace_open();
	assert_int_equal(ftr_trace_task_find(trace, 6)->start_ns, 28);
	assert_int_equal(forked_at(trace), 20);
	ftr_trace_free(trace);
}

/* uftrace ends leaf() at half its time, asleep; that it cannot, nor what it is in. */
static void test_estimated_return(void **state)
{
	const uint64_t data[] = {
		RECORD(10, 0, 0, MAIN), RECORD(12, 0, 1, LEAF), RECORD(40, 1, 1, LEAF),
		RECORD(68, 0, 1, LEAF), RECORD(69, 1, 1, LEAF), RECORD(72, 0, 1, LEAF),
		RECORD(80, 1, 1, LEAF), RECORD(81, 1, 0, MAIN),
	};
	struct {
		uint32_t type;
		uint16_t misc, size;
		uint32_t pid, tid;
		uint64_t time_ns;
	} switches[] = {
		{ 14, 0x2000, 24, 5, 5, 14 }, { 14, 0, 24, 5, 5, 60 },
		{ 14, 0x2000, 24, 5, 5, 75 }, { 14, 0, 24, 5, 5, 90 },
	};
	struct ftr_trace *trace;

	estimate_return = true;
	add_base("taskinfo:tids=5\n");
	add_bytes("5.dat", data, sizeof(data));
	add_bytes("perf-cpu0.dat", switches, sizeof(switches));
	trace = trace_open();
	expect_stream(trace, false,
		      "10:main( 12:leaf( 14:linux:sched-out 60:linux:sched-in 64:leaf) 68:leaf( "
		      "69:leaf) 72:leaf( 75:linux:sched-out 90:linux:sched-in 90:leaf) 90:main)");
	assert_int_equal(warning_nr, 0);
	ftr_trace_free(trace);
}

/* The payloads of a stream as text, one after the other. */
static void payload_texts(struct ftr_trace *trace, struct ftr_strbuf *text)
{
	struct ftr_event *evs;
	ssize_t nr;

	while ((nr = ftr_source_next(trace->sources.v[0], &evs, NULL)) > 0) {
		for (ssize_t i = 0; i < nr; i++) {
			if (evs[i].payload == NULL)
				continue;
			if (text->len > 0)
				ftr_strbuf_puts(text, " | ");
			ftr_payload_format(evs[i].payload, trace, trace->sessions.v[0], text);
		}
	}
}

static void expect_payloads(struct ftr_trace *trace, const char *expected)
{
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	payload_texts(trace, &text);
	assert_string_equal(ftr_strbuf_str(&text), expected);
	ftr_strbuf_fini(&text);
}

/* What is none of them is a number, unless they are bits: then a sum, as uftrace has it. */
static void test_no_enumerator(void **state)
{
	const uint64_t data[] = {
		RECORD(10, 4, 0, MAIN), UINT64_C(9) << 32 | 9,
		RECORD(20, 5, 0, MAIN), UINT64_C(0xfffffff6),
	};
	struct ftr_trace *trace;

	add_base("taskinfo:tids=5\nargspec:lines=5\n"
		 "argspec:argspec:main@arg1/e32:color,arg2/e32:flag\n"
		 "argspec:retspec:main@retval/e:color\nargauto:\nretauto:\n"
		 "enumauto:enum color { RED, GREEN = 5, BLUE = -3 };"
		 "enum flag { NONE, A = 1, B = 4 };\n");
	add_bytes("5.dat", data, sizeof(data));
	trace = trace_open();
	expect_payloads(trace, "9, B|A|NONE+0x4 | -10");
	assert_int_equal(warning_nr, 0);
	ftr_trace_free(trace);
}

static void test_arguments(void **state)
{
	const uint64_t data[] = {
		RECORD(10, 4, 0, MAIN),
		UINT64_C(0xfffffffe),
		0x0000006f6c000003 | UINT64_C(0x65) << 16,
		RECORD(12, 4, 1, LEAF),
		0x1204,
		RECORD(13, 5, 1, LEAF),
		0x3ff8000000000000,
		RECORD(20, 5, 0, MAIN),
		3,
	};
	struct ftr_trace *trace;

	add_base("taskinfo:tids=5\nargspec:lines=5\n"
		 "argspec:argspec:main@arg1,arg2/s;^le@arg1/p\n"
		 "argspec:retspec:main@retval/e:color;leaf@retval/f64\nargauto:\nretauto:\n"
		 "enumauto:enum color { RED = 1, GREEN };\n");
	add_bytes("5.dat", data, sizeof(data));
	trace = trace_open();
	expect_payloads(trace, "-2, \"elo\" | &leaf+0x4 | 1.500000 | GREEN|RED");
	assert_int_equal(warning_nr, 0);
	ftr_trace_free(trace);
}

static void test_arguments_of_unknown_layout(void **state)
{
	const uint64_t data[] = {
		RECORD(10, 4, 0, MAIN), 1, 2, RECORD(12, 0, 1, LEAF), RECORD(13, 1, 1, LEAF),
		RECORD(20, 1, 0, MAIN),
	};
	struct ftr_trace *trace;

	add_base("taskinfo:tids=5\n");
	add_bytes("5.dat", data, sizeof(data));
	trace = trace_open();
	expect_stream(trace, false, "10:main( 12:leaf( 13:leaf) 20:main)");
	assert_non_null(strstr(warnings, "arguments of an unknown layout; skipped 16 bytes"));
	ftr_trace_free(trace);
}

/* The recorded directories: events that are not inferred, and no warning. */
static void expect_recorded(const char *name, size_t calls, size_t payloads)
{
	const struct ftr_pipeline_options options = { 0 };
	const char *srcdir = getenv("srcdir");
	struct ftr_source *source = NULL;
	struct ftr_trace *trace = NULL;
	struct ftr_err err = { 0 };
	struct ftr_event *evs;
	char path[4096];
	ssize_t nr;

	snprintf(path, sizeof(path), "%s/tests/data/%s", srcdir == NULL ? "." : srcdir, name);
	assert_int_equal(ftr_trace_open(&trace, path, &diag, &err), 0);
	assert_int_equal(ftr_trace_pipeline(trace, &options, &source, &err), 0);
	while ((nr = ftr_source_next(source, &evs, &err)) > 0) {
		for (ssize_t i = 0; i < nr; i++) {
			calls -= evs[i].type == FTR_EVENT_EXIT &&
				 !(evs[i].flags & FTR_EVENT_INFERRED);
			payloads -= evs[i].type <= FTR_EVENT_EXIT && evs[i].payload != NULL;
			if (evs[i].type <= FTR_EVENT_EXIT && !(evs[i].flags & FTR_EVENT_INFERRED))
				assert_int_not_equal(evs[i].call.func->name[0], '<');
		}
	}
	assert_int_equal(calls, 0);
	assert_int_equal(payloads, 0);
	assert_int_equal(warning_nr, 0);
	ftr_source_free(source);
	ftr_trace_free(trace);
}

static void test_recorded(void **state)
{
	expect_recorded("demo-plain", 12, 0);
	expect_recorded("demo-args", 12, 20);
	expect_recorded("demo-spec", 12, 5);
	expect_recorded("demo-threads", 20, 0);
	expect_recorded("demo-lost", 11, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_plain), TEST(test_calls_are_whole), TEST(test_big_endian),
		TEST(test_damaged_record),
		TEST(test_damaged_time), TEST(test_long_sleep), TEST(test_unlisted_task),
		TEST(test_missing_files), TEST(test_no_info), TEST(test_unknown_lines),
		TEST(test_child_before_parent), TEST(test_parents_in_a_circle),
		TEST(test_dlopen_and_exec), TEST(test_symbol_name_clash), TEST(test_forked_stack),
		TEST(test_fork_as_the_kernel_says),
		TEST(test_estimated_return),
		TEST(test_arguments), TEST(test_no_enumerator),
		TEST(test_arguments_of_unknown_layout), TEST(test_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

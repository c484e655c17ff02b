/* SPDX-License-Identifier: MIT */
/* A data directory as it is written: bytes, lines, and what happens to what was there before. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "utils/format/uftrace/write.h"

static char top[64];	/* the directory of one test */

static int setup(void **state)
{
	snprintf(top, sizeof(top), "/tmp/ftr-write-XXXXXX");
	return mkdtemp(top) == NULL || chdir(top) < 0;
}

static int teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	return chdir("/") < 0 || system(command) != 0;
}

static char *slurp(const char *path, size_t *len)
{
	static char text[8192];
	int fd = open(path, O_RDONLY);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, text, sizeof(text) - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	close(fd);
	if (len != NULL)
		*len = (size_t)n;
	return text;
}

static void info_bytes(void **state)
{
	static const uint8_t header[] = {
		'F', 't', 'r', 'a', 'c', 'e', '!', 0, 4, 0, 0, 0, 40, 0, 1, 2,
		0x62, 0, 0, 0, 0, 0, 0, 0, 0x85, 0x61, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0,
	};
	static const int32_t tids[] = { 11, 12 };
	struct ftr_info info = {
		.elf_data = 1, .elf_class = 2, .max_stack = 1024,
		.feature_mask = FTR_FEATURE_TASK_SESSION | FTR_FEATURE_SYM_REL_ADDR |
				FTR_FEATURE_MAX_STACK,
		.info_mask = FTR_INFO_EXE_NAME | FTR_INFO_EXIT_STATUS | FTR_INFO_TASKINFO |
			     FTR_INFO_VERSION | FTR_INFO_UTC_OFFSET |
			     FTR_INFO_USAGEINFO,
		.exename = "/bin/prog", .exit_status = 256, .task_nr = 2, .tids = tids,
		.recorder_version = "ftr", .utc_offset_s = -3,
	};
	struct ftr_uftrace_dir *dir;
	size_t len;
	char *text;

	assert_int_equal(ftr_uftrace_dir_open(&dir, "d", NULL), 0);
	assert_int_equal(ftr_uftrace_dir_info(dir, &info, NULL), 0);
	text = slurp("d/info", &len);
	assert_memory_equal(text, header, sizeof(header));
	assert_string_equal(text + 40,
			    "exename:/bin/prog\nexit_status:256\n"
			    "taskinfo:lines=2\ntaskinfo:nr_tid=2\ntaskinfo:tids=11,12\n"
			    "usageinfo:lines=6\nusageinfo:systime=0.000000\n"
			    "usageinfo:usrtime=0.000000\nusageinfo:ctxsw=\nusageinfo:maxrss=\n"
			    "usageinfo:pagefault=\nusageinfo:iops=\n"
			    "uftrace_version:ftr\nutc_offset:-3\n");
	info.info_mask = FTR_INFO_EXE_NAME;	/* replaced as a whole */
	assert_int_equal(ftr_uftrace_dir_info(dir, &info, NULL), 0);
	assert_string_equal(slurp("d/info", &len) + 40, "exename:/bin/prog\n");
	assert_int_equal(len, 40 + 18);
	assert_int_equal(access("d/info.new", F_OK), -1);
	ftr_uftrace_dir_close(dir);
}

static void task_lines(void **state)
{
	struct ftr_uftrace_dir *dir;

	assert_int_equal(ftr_uftrace_dir_open(&dir, "d/", NULL), 0);
	ftr_uftrace_dir_session(dir, 42000000007, 7, "0123456789abcdef", "/tmp/a b");
	ftr_uftrace_dir_task(dir, 999999999, 8, 7);
	ftr_uftrace_dir_fork(dir, 1000000000, 9, 7);
	ftr_uftrace_dir_dlopen(dir, 0, 8, "0123456789abcdef", 0x7f00, "/lib/x.so");
	assert_string_equal(
		slurp("d/task.txt", NULL),
		"SESS timestamp=42.000000007 pid=7 sid=0123456789abcdef exename=\"/tmp/a b\"\n"
		"TASK timestamp=0.999999999 tid=8 pid=7\n"
		"FORK timestamp=1.000000000 pid=9 ppid=7\n"
		"DLOP timestamp=0.000000000 tid=8 sid=0123456789abcdef base=7f00 libname=\"/lib/x.so\"\n");
	ftr_uftrace_dir_close(dir);
}

static void map_lines(void **state)
{
	static const struct ftr_uftrace_map maps[] = {
		{ 0x400000, 0x405000, "r-xp", "/tmp/prog", "aabb" },
		{ 0x7ffd2ef1e000, 0x7ffd2ef3f000, "rw-p", "[stack]", "" },
	};
	struct ftr_uftrace_dir *dir;

	assert_int_equal(ftr_uftrace_dir_open(&dir, "d", NULL), 0);
	assert_int_equal(ftr_uftrace_dir_map(dir, "0123456789abcdef", maps, 2, NULL), 0);
	assert_string_equal(
		slurp("d/sid-0123456789abcdef.map", NULL),
		"00400000-00405000 r-xp 00000000 00:00 0                                  /tmp/prog build-id:aabb\n"
		"7ffd2ef1e000-7ffd2ef3f000 rw-p 00000000 00:00 0                          [stack]\n");
	ftr_uftrace_dir_close(dir);
}

static void touch(const char *path)
{
	assert_int_equal(close(open(path, O_CREAT | O_WRONLY, 0600)), 0);
}

static void make_trace(const char *path)
{
	struct ftr_info info = { .info_mask = FTR_INFO_EXE_NAME, .exename = path };
	struct ftr_uftrace_dir *dir;

	assert_int_equal(ftr_uftrace_dir_open(&dir, path, NULL), 0);
	assert_int_equal(ftr_uftrace_dir_info(dir, &info, NULL), 0);
	ftr_uftrace_dir_close(dir);
}

static void earlier_trace_becomes_old(void **state)
{
	make_trace("d");
	touch("d/first");
	make_trace("d");
	assert_int_equal(access("d.old/first", F_OK), 0);
	make_trace("d/");
	assert_int_equal(access("d.old/first", F_OK), -1);
	assert_int_equal(access("d.old/info", F_OK), 0);
	assert_int_equal(access("d/info", F_OK), 0);
}

static void what_is_no_trace_is_left_alone(void **state)
{
	struct ftr_uftrace_dir *dir;
	struct ftr_err err = { 0 };

	assert_int_equal(mkdir("home", 0700), 0);
	touch("home/letter");
	assert_int_equal(ftr_uftrace_dir_open(&dir, "home", &err), -EEXIST);
	assert_non_null(strstr(err.text, "not a trace"));
	assert_int_equal(ftr_uftrace_dir_remove("home", &err), -ENOTDIR);
	assert_int_equal(access("home/letter", F_OK), 0);
	touch("file");
	assert_int_equal(ftr_uftrace_dir_open(&dir, "file", &err), -EEXIST);
	assert_int_equal(mkdir("empty", 0700), 0);
	make_trace("empty");
	make_trace("d");
	assert_int_equal(rename("home", "d.old"), 0);
	assert_true(ftr_uftrace_dir_open(&dir, "d", &err) < 0);
	assert_int_equal(access("d.old/letter", F_OK), 0);
	assert_int_equal(access("d/info", F_OK), 0);
}

/* Who was killed before info was made leaves nothing worth keeping, but may still be at work. */
static void what_was_only_begun_is_replaced(void **state)
{
	struct ftr_uftrace_dir *dir, *other;
	struct ftr_err err = { 0 };

	assert_int_equal(mkdir("begun", 0700), 0);
	touch("begun/task.txt");
	touch("begun/perf-cpu0.dat");
	assert_int_equal(ftr_uftrace_dir_open(&dir, "begun", &err), 0);
	assert_int_equal(access("begun/perf-cpu0.dat", F_OK), -1);
	assert_int_equal(ftr_uftrace_dir_open(&other, "begun", &err), -EEXIST);
	ftr_uftrace_dir_close(dir);
	touch("begun/letter");
	assert_int_equal(ftr_uftrace_dir_open(&dir, "begun", &err), -EEXIST);
	assert_int_equal(unlink("begun/letter"), 0);
	assert_int_equal(truncate("begun/task.txt", 1), 0);
	assert_int_equal(ftr_uftrace_dir_open(&dir, "begun", &err), -EEXIST);
	assert_int_equal(access("begun/task.txt", F_OK), 0);
}

/*
 * The limit falls inside a record: the file ends with the last whole one, or, where some have a
 * payload, with what was there before.
 */
static void full_disk_leaves_whole_records(void **state)
{
	struct ftr_record records[100] = { 0 };
	struct rlimit limit, small;
	struct ftr_uftrace_dir *dir;
	struct stat st;
	int code, fd;

	make_trace("d");
	assert_int_equal(ftr_uftrace_dir_open(&dir, "d", NULL), 0);
	fd = ftr_uftrace_dat_open(dir, 1, false);
	assert_true(fd >= 0);
	assert_int_equal(ftr_uftrace_dat_append(fd, records, 160, 10, &code), 10);
	assert_int_equal(code, 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 1000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(ftr_uftrace_dat_append(fd, records, 1600, 100, &code), 52);
	assert_int_equal(code, EFBIG);
	assert_int_equal(ftr_uftrace_dat_append(fd, records, 1600, 90, &code), 0);
	assert_int_equal(code, EFBIG);
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 62 * 16);
	close(fd);
	ftr_uftrace_dir_close(dir);
}

/* A line that does not fit is not there in part: the next one would belong to it. */
static void full_disk_leaves_whole_lines(void **state)
{
	struct rlimit limit, small;
	struct ftr_uftrace_dir *dir;
	size_t len, whole;
	int fd;

	assert_int_equal(ftr_uftrace_dir_open(&dir, "d", NULL), 0);
	assert_int_equal(ftr_uftrace_dir_task(dir, 1, 11, 11), 0);
	slurp("d/task.txt", &whole);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = whole + 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(ftr_uftrace_dir_task(dir, 2, 12, 11), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &limit);
	slurp("d/task.txt", &len);
	assert_int_equal(len, whole);
	assert_int_equal(ftr_uftrace_dir_task(dir, 3, 13, 11), 0);
	slurp("d/task.txt", &len);
	assert_int_equal(len, 2 * whole);
	/* Nor is there a hole, where a file is not appended to. */
	fd = ftr_uftrace_file_create(dir, "x");
	assert_true(fd >= 0);
	small.rlim_cur = 5;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(ftr_uftrace_write_all(fd, "0123456789", 10), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal(ftr_uftrace_write_all(fd, "abc", 3), 0);
	assert_string_equal(slurp("d/x", NULL), "abc");
	close(fd);
	ftr_uftrace_dir_close(dir);
}

static void symbol_names_clash(void **state)
{
	struct ftr_symbol symbol = { 0x10, 4, 'T', "f" };
	struct ftr_symtab tab = { .symbols = &symbol, .nr = 1, .path = "/a/lib.so" };
	struct ftr_uftrace_dir *dir;

	assert_int_equal(ftr_uftrace_dir_open(&dir, "d", NULL), 0);
	assert_int_equal(ftr_uftrace_dir_symbols(dir, &tab, NULL), 0);
	tab.path = "/b/lib.so";
	tab.build_id = "c0ffee00";
	assert_int_equal(ftr_uftrace_dir_symbols(dir, &tab, NULL), 0);
	tab.path = "/c";
	tab.build_id = NULL;
	assert_int_equal(ftr_uftrace_dir_symbols(dir, &tab, NULL), 0);
	tab.path = "//c";
	assert_int_equal(ftr_uftrace_dir_symbols(dir, &tab, NULL), 0);
	assert_int_equal(access("d/lib.so.sym", F_OK), 0);
	assert_int_equal(access("d/lib.so-c0ff.sym", F_OK), 0);
	assert_int_equal(access("d/c.sym", F_OK), 0);
	assert_int_equal(access("d/c-00c1.sym", F_OK), 0);	/* 2f + 2f + 63 */
	ftr_uftrace_dir_close(dir);
}

#define DIR_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DIR_TEST(info_bytes),
		DIR_TEST(task_lines),
		DIR_TEST(map_lines),
		DIR_TEST(earlier_trace_becomes_old),
		DIR_TEST(what_is_no_trace_is_left_alone),
		DIR_TEST(what_was_only_begun_is_replaced),
		DIR_TEST(full_disk_leaves_whole_records),
		DIR_TEST(full_disk_leaves_whole_lines),
		DIR_TEST(symbol_names_clash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

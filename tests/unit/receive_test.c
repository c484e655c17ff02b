/* SPDX-License-Identifier: MIT */
/* What a sender can do to the files of a receiver: append to those of its directory, no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/bytes.h"
#include "utils/base/strbuf.h"
#include "utils/remote/receive.h"

#define TRACE "trace"
#define MUTATIONS 3000

static char top[] = "/tmp/receive-XXXXXX";

static int setup(void **state)
{
	return mkdtemp(top) == NULL || chdir(top) < 0;
}

static void dir_empty(const char *path)
{
	char file[PATH_MAX];
	DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		if (unlink(file) < 0) {
			dir_empty(file);
			assert_int_equal(rmdir(file), 0);
		}
	}
	if (dir != NULL)
		closedir(dir);
}

static int teardown(void **state)
{
	dir_empty(top);
	return rmdir(top);
}

static void put(struct ftr_strbuf *stream, uint16_t type, const void *body, size_t len)
{
	uint8_t head[FTR_WIRE_HEAD_BYTES];

	ftr_wire_head_put(head, (struct ftr_wire_head){ type, (uint32_t)len });
	ftr_strbuf_put(stream, head, sizeof(head));
	ftr_strbuf_put(stream, body, len);
}

static void put_part(struct ftr_strbuf *stream, uint16_t type, uint32_t number, const void *rest,
		     size_t len)
{
	uint8_t body[256];

	ftr_put_u32(body, number, true);
	memcpy(body + FTR_WIRE_NUMBER_BYTES, rest, len);
	put(stream, type, body, FTR_WIRE_NUMBER_BYTES + len);
}

/* "NAME" "text" */
static void put_file(struct ftr_strbuf *stream, const char *name, const char *text)
{
	char both[200];

	snprintf(both, sizeof(both), "%s%s", name, text);
	put_part(stream, FTR_WIRE_META, (uint32_t)strlen(name), both, strlen(both));
}

static void put_info(struct ftr_strbuf *stream, const char *text)
{
	uint8_t info[200] = "Ftrace!";

	info[8] = 4;
	info[12] = FTR_WIRE_INFO_BYTES;
	info[14] = ELFDATA2LSB;
	memcpy(info + FTR_WIRE_INFO_BYTES, text, strlen(text));
	ftr_wire_info_to_network(info);
	put(stream, FTR_WIRE_INFO, info, FTR_WIRE_INFO_BYTES + strlen(text));
}

static void put_all(struct ftr_strbuf *stream)
{
	ftr_strbuf_init(stream);
	put(stream, FTR_WIRE_DIR, "some/where/" TRACE, strlen("some/where/" TRACE));
	put_part(stream, FTR_WIRE_DATA, 7, "0123456789abcdef", 16);
	put_part(stream, FTR_WIRE_DATA, 8, "", 0);
	put_file(stream, "task.txt", "TASK one\n");
	put_part(stream, FTR_WIRE_KERNEL, 1, "kernel", 6);
	put_part(stream, FTR_WIRE_PERF, 0, "perf", 4);
	put_part(stream, FTR_WIRE_DATA, 7, "ABCDEFGHIJKLMNOP", 16);
	put_file(stream, "task.txt", "TASK two\n");
	put_file(stream, "empty", "");
	put_info(stream, "cmdline:x\n");
	put(stream, FTR_WIRE_END, NULL, 0);
}

static void is_file(const char *name, const char *text, size_t len)
{
	char path[64], bytes[200];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), TRACE "/%s", name);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	n = read(fd, bytes, sizeof(bytes));
	close(fd);
	assert_int_equal(n, len);
	assert_memory_equal(bytes, text, len);
}

static int feed(struct ftr_receive *receive, const struct ftr_strbuf *stream, size_t step,
		struct ftr_err *err)
{
	const uint8_t *bytes = (const uint8_t *)ftr_strbuf_str(stream);
	int ret = 0;

	for (size_t at = 0; ret == 0 && at < stream->len; at += step)
		ret = ftr_receive_feed(receive, bytes + at,
				       stream->len - at < step ? stream->len - at : step, err);
	return ret;
}

static void stores_files_however_the_stream_is_cut(void **state)
{
	static const size_t steps[] = { 1, 2, 3, 7, 8, 13, 64, 100000 };
	static const char info[FTR_WIRE_INFO_BYTES + 1] =
		"Ftrace!\0\4\0\0\0\x28\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
	char whole_info[64];

	memcpy(whole_info, info, FTR_WIRE_INFO_BYTES);
	memcpy(whole_info + FTR_WIRE_INFO_BYTES, "cmdline:x\n", 10);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct ftr_receive receive;
		struct ftr_strbuf stream;
		struct ftr_err err = { 0 };

		put_all(&stream);
		ftr_receive_init(&receive);
		assert_int_equal(feed(&receive, &stream, steps[i], &err), 0);
		assert_int_equal(receive.state, FTR_RECEIVE_DONE);
		assert_string_equal(receive.path, TRACE);
		assert_int_equal(receive.bytes, 32 + 18 + 6 + 4 + FTR_WIRE_INFO_BYTES + 10);
		ftr_receive_close(&receive);
		ftr_strbuf_fini(&stream);
		is_file("7.dat", "0123456789abcdefABCDEFGHIJKLMNOP", 32);
		is_file("8.dat", "", 0);
		is_file("empty", "", 0);
		is_file("task.txt", "TASK one\nTASK two\n", 18);
		is_file("kernel-cpu1.dat", "kernel", 6);
		is_file("perf-cpu0.dat", "perf", 4);
		is_file("info", whole_info, FTR_WIRE_INFO_BYTES + 10);
	}
	assert_int_equal(access(TRACE ".old/info", F_OK), 0);	/* the trace before */
	dir_empty(top);
}

static void refused(const struct ftr_strbuf *stream, const char *text)
{
	struct ftr_receive receive;
	struct ftr_err err = { 0 };

	ftr_receive_init(&receive);
	assert_true(feed(&receive, stream, 5, &err) < 0);
	assert_non_null(strstr(err.text, text));
	ftr_receive_close(&receive);
	dir_empty(top);
}

static void refuses_names_of_directories(void **state)
{
	static const char *const names[] = { "..", ".", "", "a/..", "a/", "/", ".hidden", "a\nb" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct ftr_strbuf stream;

		ftr_strbuf_init(&stream);
		put(&stream, FTR_WIRE_DIR, names[i], strlen(names[i]));
		put(&stream, FTR_WIRE_END, NULL, 0);
		refused(&stream, "name");
		ftr_strbuf_fini(&stream);
	}
}

static void refuses_names_of_files(void **state)
{
	static const char *const names[] = { "..", ".x", "/etc/x", "../x", "a/b", "info", "\t" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct ftr_strbuf stream;

		ftr_strbuf_init(&stream);
		put(&stream, FTR_WIRE_DIR, TRACE, strlen(TRACE));
		put_file(&stream, names[i], "text");
		refused(&stream, "name is none");
		ftr_strbuf_fini(&stream);
	}
}

static void refuses_what_is_no_message(void **state)
{
	static const struct {
		uint16_t type;
		const char *body;
		size_t len;
		const char *text;
	} rows[] = {
		{ FTR_WIRE_DIR, "again", 5, "comes again" },
		{ FTR_WIRE_DATA, "\xff\0\0\1", 4, "no task" },
		{ FTR_WIRE_DATA, "\0\0", 2, "too short" },
		{ FTR_WIRE_INFO, "Ftrace!", 7, "too short" },
		{ FTR_WIRE_META, "\0\0\0\0x", 5, "length" },
		{ FTR_WIRE_META, "\0\0\0\2x", 5, "length" },
		{ FTR_WIRE_META, "\0\0\1\0x", 5, "length" },
		{ FTR_WIRE_META, "\0\0\0\3a\0b", 7, "name is none" },
		{ 100, "\0\0\0\0", 4, "no known type" },
		{ 108, "\0\0\0\0", 4, "no known type" },
	};
	struct ftr_strbuf stream;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ftr_strbuf_init(&stream);
		put(&stream, FTR_WIRE_DIR, TRACE, strlen(TRACE));
		put(&stream, rows[i].type, rows[i].body, rows[i].len);
		refused(&stream, rows[i].text);
		ftr_strbuf_fini(&stream);
	}
	ftr_strbuf_init(&stream);
	ftr_strbuf_puts(&stream, "GET / HTTP/1.1\r\n");
	refused(&stream, "no message begins");
	ftr_strbuf_fini(&stream);
	ftr_strbuf_init(&stream);
	put_part(&stream, FTR_WIRE_DATA, 7, "x", 1);
	refused(&stream, "is missing");
	ftr_strbuf_fini(&stream);
	put_all(&stream);
	ftr_strbuf_putc(&stream, 'x');
	refused(&stream, "follows the end");
	ftr_strbuf_fini(&stream);
}

static bool is_first_name(void *arg, const char *path)
{
	return strcmp(path, TRACE) == 0 || strcmp(path, TRACE ".1") == 0;
}

static void names_that_others_use_get_numbers(void **state)
{
	struct ftr_receive receive;
	struct ftr_strbuf stream;
	struct ftr_err err = { 0 };

	put_all(&stream);
	ftr_receive_init(&receive);
	receive.is_taken = is_first_name;
	assert_int_equal(feed(&receive, &stream, stream.len, &err), 0);
	assert_string_equal(receive.path, TRACE ".2");
	ftr_receive_close(&receive);
	ftr_strbuf_fini(&stream);
	assert_int_equal(access(TRACE ".2/info", F_OK), 0);
	dir_empty(top);
}

static void what_was_cut_off_names_its_tasks(void **state)
{
	struct ftr_receive receive;
	struct ftr_strbuf stream;
	struct ftr_err err = { 0 };
	char text[300] = "";
	int fd;

	ftr_strbuf_init(&stream);
	put(&stream, FTR_WIRE_DIR, TRACE, strlen(TRACE));
	put_part(&stream, FTR_WIRE_DATA, 30, "0123456789abcdef", 16);
	put_part(&stream, FTR_WIRE_DATA, 4, "0123456789abcdef", 16);
	ftr_receive_init(&receive);
	assert_int_equal(feed(&receive, &stream, stream.len, &err), 0);
	ftr_receive_close(&receive);
	ftr_strbuf_fini(&stream);
	fd = open(TRACE "/info", O_RDONLY);
	assert_true(read(fd, text, sizeof(text) - 1) > FTR_WIRE_INFO_BYTES);
	close(fd);
	assert_string_equal(text + FTR_WIRE_INFO_BYTES,
			    "taskinfo:lines=2\ntaskinfo:nr_tid=2\ntaskinfo:tids=4,30\n");
	dir_empty(top);
}

/* Nothing but directories for traces ever comes to be, and only of files. */
static void is_contained(void)
{
	DIR *dir = opendir(top);
	const struct dirent *entry;

	while ((entry = readdir(dir)) != NULL) {
		struct stat st;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		assert_int_equal(stat(entry->d_name, &st), 0);
		assert_true(S_ISDIR(st.st_mode));
		assert_null(strchr(entry->d_name, '/'));
	}
	closedir(dir);
}

static void damage_stays_inside(void **state)
{
	uint32_t random = 12345;

	for (unsigned i = 0; i < MUTATIONS; i++) {
		struct ftr_receive receive;
		struct ftr_strbuf stream;
		struct ftr_err err = { 0 };
		uint8_t *bytes;

		put_all(&stream);
		bytes = (uint8_t *)stream.s;
		for (unsigned n = 0; n < 3; n++) {
			random = random * 1103515245 + 12345;
			bytes[(random >> 8) % stream.len] ^= (uint8_t)(random >> 24 | 1);
		}
		ftr_receive_init(&receive);
		if (feed(&receive, &stream, 11, &err) < 0)
			assert_string_not_equal(err.text, "");
		ftr_receive_close(&receive);
		ftr_strbuf_fini(&stream);
		is_contained();
		dir_empty(top);
	}
}

static void files_have_types(void **state)
{
	static const struct {
		const char *name;
		enum ftr_wire_type type;
		int32_t number;
	} rows[] = {
		{ "12.dat", FTR_WIRE_DATA, 12 },	{ "kernel-cpu3.dat", FTR_WIRE_KERNEL, 3 },
		{ "perf-cpu0.dat", FTR_WIRE_PERF, 0 },	{ "info", FTR_WIRE_INFO, 0 },
		{ "012.dat", FTR_WIRE_META, 0 },	{ "12.dat2", FTR_WIRE_META, 0 },
		{ "12.event", FTR_WIRE_META, 0 },	{ "task.txt", FTR_WIRE_META, 0 },
		{ "extern.dat", FTR_WIRE_META, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int32_t number = 0;

		assert_int_equal(ftr_wire_file_type(rows[i].name, &number), rows[i].type);
		if (rows[i].number != 0)
			assert_int_equal(number, rows[i].number);
	}
}

static void info_keeps_its_byte_order(void **state)
{
	static const uint8_t orders[] = { ELFDATA2LSB, ELFDATA2MSB };

	for (size_t i = 0; i < sizeof(orders); i++) {
		uint8_t header[FTR_WIRE_INFO_BYTES] = "Ftrace!", before[FTR_WIRE_INFO_BYTES];
		bool is_big = orders[i] == ELFDATA2MSB;

		header[14] = orders[i];
		ftr_put_u32(header + 8, 4, is_big);
		ftr_put_u64(header + 24, UINT64_C(0x123456789abc), is_big);
		ftr_put_u16(header + 32, 1024, is_big);
		memcpy(before, header, sizeof(before));
		ftr_wire_info_to_network(header);
		assert_int_equal(ftr_get_u32(header + 8, true), 4);
		assert_int_equal(ftr_get_u64(header + 24, true), UINT64_C(0x123456789abc));
		assert_int_equal(ftr_get_u16(header + 32, true), 1024);
		ftr_wire_info_from_network(header);
		assert_memory_equal(header, before, sizeof(before));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stores_files_however_the_stream_is_cut),
		cmocka_unit_test(refuses_names_of_directories),
		cmocka_unit_test(refuses_names_of_files),
		cmocka_unit_test(refuses_what_is_no_message),
		cmocka_unit_test(names_that_others_use_get_numbers),
		cmocka_unit_test(what_was_cut_off_names_its_tasks),
		cmocka_unit_test(damage_stays_inside),
		cmocka_unit_test(files_have_types),
		cmocka_unit_test(info_keeps_its_byte_order),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

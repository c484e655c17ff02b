/* SPDX-License-Identifier: MIT */
/* Input streams: files, pipes, memory; lines and slices. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/istream.h"

static void expect_line(struct ftr_istream *in, const char *text, size_t text_len)
{
	const char *line;
	size_t len;

	assert_true(ftr_istream_line(in, &line, &len));
	assert_int_equal(len, text_len);
	assert_memory_equal(line, text, len);
}

static void lines_of_memory(void **state)
{
	static const char text[] = "one\n\nth\0ree\nlast";
	struct ftr_istream in;
	const char *line;
	size_t len;

	ftr_istream_from_memory(&in, "x", text, sizeof(text) - 1);
	expect_line(&in, "one", 3);
	expect_line(&in, "", 0);
	expect_line(&in, "th\0ree", 6);
	assert_int_equal(in.lineno, 3);
	expect_line(&in, "last", 4);
	assert_false(ftr_istream_line(&in, &line, &len));
	assert_false(ftr_istream_line(&in, &line, &len));
	assert_int_equal(in.lineno, 4);
	ftr_istream_close(&in);
}

static void takes_are_bounded(void **state)
{
	struct ftr_istream in;

	ftr_istream_from_memory(&in, "x", "abcdef", 6);
	assert_memory_equal(ftr_istream_take(&in, 4), "abcd", 4);
	assert_null(ftr_istream_take(&in, 3));
	assert_null(ftr_istream_take(&in, SIZE_MAX));
	assert_int_equal(ftr_istream_left(&in), 2);
	assert_memory_equal(ftr_istream_take(&in, 2), "ef", 2);
	assert_non_null(ftr_istream_take(&in, 0));
	assert_null(ftr_istream_take(&in, 1));
	ftr_istream_close(&in);
	ftr_istream_from_memory(&in, "nothing", NULL, 0);
	assert_non_null(ftr_istream_take(&in, 0));
	assert_null(ftr_istream_take(&in, 1));
	ftr_istream_close(&in);
}

static void file_write(const char *path, const char *text, size_t len)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static void regular_files(void **state)
{
	char dir[] = "/tmp/ftr-istream-XXXXXX";
	struct ftr_istream in;
	int dirfd;

	assert_non_null(mkdtemp(dir));
	dirfd = open(dir, O_RDONLY | O_DIRECTORY);
	assert_int_equal(chdir(dir), 0);
	file_write("full", "a\nb", 3);
	file_write("empty", "", 0);
	assert_int_equal(ftr_istream_open(&in, dirfd, "full", NULL), 0);
	assert_non_null(in.owned_map);
	assert_string_equal(in.name, "full");
	expect_line(&in, "a", 1);
	expect_line(&in, "b", 1);
	ftr_istream_close(&in);
	assert_int_equal(ftr_istream_open(&in, AT_FDCWD, "empty", NULL), 0);
	assert_int_equal(ftr_istream_left(&in), 0);
	ftr_istream_close(&in);
	unlink("full");
	unlink("empty");
	rmdir(dir);
	close(dirfd);
}

static void files_of_proc_say_they_are_empty(void **state)
{
	struct ftr_istream in;

	assert_int_equal(ftr_istream_open(&in, AT_FDCWD, "/proc/self/maps", NULL), 0);
	assert_true(ftr_istream_left(&in) > 100);
	ftr_istream_close(&in);
}

static void failures_are_described(void **state)
{
	struct ftr_istream in;
	struct ftr_err err = { 0 };

	assert_int_equal(ftr_istream_open(&in, AT_FDCWD, "/nonexistent/x", &err), -ENOENT);
	assert_string_equal(err.text, "/nonexistent/x: No such file or directory");
	assert_int_equal(ftr_istream_open(&in, AT_FDCWD, "/", &err), -EISDIR);
	ftr_istream_close(&in);
}

/* Larger than the first buffer, in pieces: a child writes while we read standard input. */
static void standard_input_may_be_a_pipe(void **state)
{
	const size_t total = 300000;
	int saved = dup(STDIN_FILENO);
	struct ftr_istream in;
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		for (size_t i = 0; i < total; i++) {
			if (write(fds[1], &"0123456789"[i % 10], 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	close(fds[1]);
	dup2(fds[0], STDIN_FILENO);
	close(fds[0]);
	assert_int_equal(ftr_istream_open(&in, AT_FDCWD, "-", NULL), 0);
	dup2(saved, STDIN_FILENO);
	close(saved);
	assert_int_equal(ftr_istream_left(&in), total);
	for (size_t i = 0; i < total; i++)
		assert_int_equal(in.data[i], '0' + i % 10);
	ftr_istream_close(&in);
}

static void standard_input_may_be_half_read(void **state)
{
	char path[] = "/tmp/ftr-istream-XXXXXX";
	int saved = dup(STDIN_FILENO);
	int fd = mkstemp(path);
	struct ftr_istream in;

	assert_int_equal(write(fd, "headrest", 8), 8);
	lseek(fd, 4, SEEK_SET);
	dup2(fd, STDIN_FILENO);
	close(fd);
	assert_int_equal(ftr_istream_open(&in, AT_FDCWD, "-", NULL), 0);
	dup2(saved, STDIN_FILENO);
	close(saved);
	unlink(path);
	assert_string_equal(in.name, "standard input");
	expect_line(&in, "rest", 4);
	ftr_istream_close(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_memory),
		cmocka_unit_test(takes_are_bounded),
		cmocka_unit_test(regular_files),
		cmocka_unit_test(files_of_proc_say_they_are_empty),
		cmocka_unit_test(failures_are_described),
		cmocka_unit_test(standard_input_may_be_a_pipe),
		cmocka_unit_test(standard_input_may_be_half_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

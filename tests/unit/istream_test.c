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

/* A feed that hands out @text in pieces, and then ends or fails. */
struct pieces {
	const char *text;
	size_t len, pos;
	size_t piece;		/* bytes at a time */
	int code;		/* errno at the end; 0 = it ends well */
	unsigned closed_nr;
};

static ssize_t pieces_read(void *arg, void *to, size_t bytes)
{
	struct pieces *self = arg;
	size_t nr = self->len - self->pos;

	assert_true(bytes > 0);
	if (nr == 0)
		return -self->code;
	nr = nr < self->piece ? nr : self->piece;
	nr = nr < bytes ? nr : bytes;
	memcpy(to, self->text + self->pos, nr);
	self->pos += nr;
	return (ssize_t)nr;
}

static void pieces_close(void *arg)
{
	((struct pieces *)arg)->closed_nr++;
}

static void pieces_open(struct ftr_istream *in, struct pieces *self, size_t window_bytes,
			size_t item_max)
{
	const struct ftr_istream_feed feed = { .read = pieces_read, .close = pieces_close,
					       .arg = self, .window_bytes = window_bytes,
					       .item_max = item_max };

	assert_int_equal(ftr_istream_from_feed(in, "pipe", &feed, NULL), 0);
}

static const char story[] = "one\n\ntwo and a half\n" "nul\0inside\nthe last has no newline";
#define STORY_BYTES (sizeof(story) - 1)

/* Every piece and every window, so that each boundary falls everywhere. */
static void lines_do_not_depend_on_the_window(void **state)
{
	for (size_t piece = 1; piece <= STORY_BYTES; piece++) {
		for (size_t window = 1; window <= STORY_BYTES + 1; window++) {
			struct pieces pipe = { story, STORY_BYTES, 0, piece, 0, 0 };
			struct ftr_istream in;
			const char *line;
			size_t len;

			pieces_open(&in, &pipe, window, 0);
			expect_line(&in, "one", 3);
			expect_line(&in, "", 0);
			expect_line(&in, "two and a half", 14);
			assert_int_equal(ftr_istream_offset(&in), 20);
			expect_line(&in, "nul\0inside", 10);
			expect_line(&in, "the last has no newline", 23);
			assert_int_equal(in.lineno, 5);
			assert_false(ftr_istream_line(&in, &line, &len));
			assert_int_equal(ftr_istream_check(&in, NULL), 0);
			ftr_istream_close(&in);
			assert_int_equal(pipe.closed_nr, 1);
		}
	}
}

/* As many bytes at a time as fit, in turns; then one too many. */
static void takes_do_not_depend_on_the_window(void **state)
{
	for (size_t window = 1; window <= STORY_BYTES + 1; window++) {
		struct pieces pipe = { story, STORY_BYTES, 0, 3, 0, 0 };
		struct ftr_istream in;
		const uint8_t *p;
		size_t pos = 0;

		pieces_open(&in, &pipe, window, 16);
		for (size_t nr = 0; pos + nr <= STORY_BYTES; pos += nr, nr = (nr + 5) % 17) {
			assert_true(ftr_istream_peek(&in, nr, &p) >= nr);
			assert_memory_equal(p, story + pos, nr);
			assert_memory_equal(ftr_istream_take(&in, nr), story + pos, nr);
			assert_int_equal(ftr_istream_offset(&in), pos + nr);
		}
		assert_null(ftr_istream_take(&in, 17));
		assert_int_equal(ftr_istream_offset(&in), pos);
		assert_true(in.size <= (window < 32 ? 32 : 2 * window));
		ftr_istream_close(&in);
	}
}

static void lines_without_an_end_are_cut(void **state)
{
	static const char text[] = "1234567890abcd\n12345678\nshort\n12345678";
	static const char *const lines[] = { "12345678", "12345678", "short", "12345678" };

	for (size_t piece = 1; piece < sizeof(text); piece++) {
		for (size_t window = 1; window < 2 * sizeof(text); window++) {
			struct pieces pipe = { text, sizeof(text) - 1, 0, piece, 0, 0 };
			struct ftr_istream in;
			const char *line;
			size_t len;

			pieces_open(&in, &pipe, window, 8);
			for (size_t i = 0; i < 4; i++)
				expect_line(&in, lines[i], strlen(lines[i]));
			assert_false(ftr_istream_line(&in, &line, &len));
			assert_int_equal(in.lineno, 4);
			ftr_istream_close(&in);
		}
	}
}

static void a_failed_read_is_no_end(void **state)
{
	struct pieces pipe = { story, STORY_BYTES, 0, 5, EIO, 0 };
	struct ftr_istream in;
	struct ftr_err err = { 0 };
	const char *line;
	size_t len;
	unsigned nr = 0;

	pieces_open(&in, &pipe, 4, 0);
	while (ftr_istream_line(&in, &line, &len))
		nr++;
	assert_int_equal(nr, 5);
	assert_int_equal(ftr_istream_check(&in, &err), -EIO);
	assert_string_equal(err.text, "pipe+0x36: read failed: Input/output error");
	ftr_istream_close(&in);
}

static void what_is_left_is_spooled(void **state)
{
	struct pieces pipe = { story, STORY_BYTES, 0, 7, EIO, 0 }, none = { "", 0, 0, 1, 0, 0 };
	struct ftr_istream in;
	const uint8_t *p;

	pieces_open(&in, &pipe, 4, 0);
	assert_true(ftr_istream_peek(&in, 9, &p) >= 9);		/* as detection does */
	assert_int_equal(ftr_istream_spool(&in, NULL), 0);
	assert_int_equal(pipe.closed_nr, 1);
	assert_null(in.window);
	assert_int_equal(ftr_istream_left(&in), STORY_BYTES);
	assert_memory_equal(in.data, story, STORY_BYTES);
	assert_int_equal(ftr_istream_check(&in, NULL), -EIO);
	assert_int_equal(ftr_istream_spool(&in, NULL), 0);	/* it is whole already */
	ftr_istream_close(&in);
	pieces_open(&in, &none, 4, 0);
	assert_int_equal(ftr_istream_spool(&in, NULL), 0);
	assert_int_equal(ftr_istream_left(&in), 0);
	ftr_istream_close(&in);
}

static void no_room_for_a_scratch_file(void **state)
{
	struct pieces pipe = { story, STORY_BYTES, 0, 7, 0, 0 };
	char *saved = getenv("TMPDIR") == NULL ? NULL : strdup(getenv("TMPDIR"));
	struct ftr_istream in;
	struct ftr_err err = { 0 };

	pieces_open(&in, &pipe, 4, 0);
	setenv("TMPDIR", "/nonexistent", 1);
	assert_int_equal(ftr_istream_spool(&in, &err), -ENOENT);
	assert_non_null(strstr(err.text, "pipe: /nonexistent: "));
	assert_non_null(strstr(err.text, "TMPDIR"));
	if (saved != NULL)
		setenv("TMPDIR", saved, 1);
	else
		unsetenv("TMPDIR");
	free(saved);
	ftr_istream_close(&in);
	assert_int_equal(pipe.closed_nr, 1);
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
		cmocka_unit_test(lines_do_not_depend_on_the_window),
		cmocka_unit_test(takes_do_not_depend_on_the_window),
		cmocka_unit_test(lines_without_an_end_are_cut),
		cmocka_unit_test(a_failed_read_is_no_end),
		cmocka_unit_test(what_is_left_is_spooled),
		cmocka_unit_test(no_room_for_a_scratch_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

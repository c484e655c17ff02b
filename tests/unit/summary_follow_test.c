/* SPDX-License-Identifier: MIT */
/* Blocks of a summary are read when they are there, whole; what is damaged is an error. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/format/uftrace/summary_follow.h"

static char dir[] = "/tmp/ftr-follow-XXXXXX";
static char path[64];
static struct ftr_summary_follow follow;
static int fd;

static int setup(void **state)
{
	ftr_summary_follow_init(&follow);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return fd < 0;
}

static int teardown(void **state)
{
	ftr_summary_follow_fini(&follow);
	return close(fd);
}

static void put(const void *bytes, size_t len)
{
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
}

static void put_head(void)
{
	uint8_t head[FTR_SUMMARY_HEAD_BYTES];

	ftr_summary_head(head, 1);
	put(head, sizeof(head));
}

/* Of one row; *text is owned by the caller. */
static void block_make(uint64_t begin_ns, struct ftr_strbuf *text)
{
	const struct ftr_summary_key key = { .place = 0, .addr = begin_ns + 1 };
	const struct ftr_summary_place place = { .sid = 7, .at_ns = 5 };
	static struct ftr_summary_row row = { .used = 1 };
	struct ftr_summary_block block = { .begin_ns = begin_ns };

	row.octaves[0].calls = 3;
	assert_int_equal(ftr_vec_push(&block.places, place), 0);
	ftr_strbuf_init(&block.rows);
	ftr_summary_put(&block, &key, &row);
	ftr_strbuf_init(text);
	assert_int_equal(ftr_summary_block_end(&block, text), 0);
	ftr_summary_block_fini(&block);
}

static int next(struct ftr_summary_cursor *cursor)
{
	struct ftr_err err = { 0 };
	int ret = ftr_summary_follow_next(&follow, dir, cursor, &err);

	assert_int_equal(err.code != 0, ret < 0);
	return ret;
}

static void assert_block(uint64_t begin_ns)
{
	struct ftr_summary_cursor cursor;
	struct ftr_summary_place place;
	struct ftr_summary_row row;
	uint64_t addr;

	assert_int_equal(next(&cursor), 1);
	assert_int_equal(cursor.begin_ns, begin_ns);
	assert_true(ftr_summary_get(&cursor, &place, &addr, &row));
	assert_int_equal(addr, begin_ns + 1);
	assert_int_equal(place.sid, 7);
	assert_int_equal(row.octaves[0].calls, 3);
	assert_false(ftr_summary_get(&cursor, &place, &addr, &row));
}

static void test_no_file(void **state)
{
	struct ftr_summary_cursor cursor;

	unlink(path);
	assert_int_equal(next(&cursor), 0);
}

static void test_as_they_come(void **state)
{
	struct ftr_summary_cursor cursor;
	struct ftr_strbuf first, second;

	assert_int_equal(next(&cursor), 0);
	put_head();
	assert_int_equal(next(&cursor), 0);
	block_make(1000, &first);
	block_make(2000, &second);
	for (size_t i = 0; i < first.len; i++) {
		put(first.s + i, 1);
		assert_int_equal(i + 1 < first.len ? next(&cursor) : 0, 0);
	}
	put(second.s, second.len);
	assert_block(1000);
	assert_block(2000);
	assert_int_equal(next(&cursor), 0);
	put(first.s, first.len);
	assert_block(1000);
	free(first.s);
	free(second.s);
}

static void test_damaged(void **state)
{
	struct ftr_summary_cursor cursor;
	struct ftr_strbuf block;

	put_head();
	block_make(1000, &block);
	block.s[block.len - 1] ^= 1;
	put(block.s, block.len);
	free(block.s);
	assert_int_equal(next(&cursor), -EBADMSG);
}

static void test_another_file(void **state)
{
	struct ftr_summary_cursor cursor;

	put("this is not a summary", 21);
	assert_int_equal(next(&cursor), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_no_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_as_they_come, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_another_file, setup, teardown),
	};
	int failed;

	if (mkdtemp(dir) == NULL)
		return 99;
	snprintf(path, sizeof(path), "%s/" FTR_SUMMARY_FILE, dir);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	rmdir(dir);
	return failed;
}

/* SPDX-License-Identifier: MIT */
/*
 * Sorting in bounded memory, and its scratch file: all passes with little input, and every way to
 * fail.
 */
#include "tests/unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "utils/base/scratch.h"
#include "utils/base/sorter.h"

#define ARRAY_NR(a) (sizeof(a) / sizeof((a)[0]))

/* What the system calls below do in place of what they should (the linker's --wrap). */
static struct {
	bool has_no_tmpfile;		/* a file system without O_TMPFILE */
	bool is_interrupted; /* every other call; the rest read and write three bytes at most */
	unsigned calls;
	unsigned writes_left, reads_left;	/* until they fail; 0 = they do not */
	int code;			/* errno of the failure; 0 = end of file */
	uint64_t written, opened;	/* bytes, files */
} sys;

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode);
int __real_mkostemp(char *path, int flags);
int __wrap_mkostemp(char *path, int flags);
ssize_t __real_pwrite(int fd, const void *data, size_t bytes, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t offset);
ssize_t __real_pread(int fd, void *data, size_t bytes, off_t offset);
ssize_t __wrap_pread(int fd, void *data, size_t bytes, off_t offset);

int __wrap_open(const char *path, int flags, mode_t mode)
{
	sys.opened++;
	if (sys.has_no_tmpfile) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return __real_open(path, flags, mode);
}

int __wrap_mkostemp(char *path, int flags)
{
	sys.opened++;
	return __real_mkostemp(path, flags);
}

/* How many of @bytes a call may do; 0 = fails, with errno. */
static size_t allowed(size_t bytes, unsigned *left)
{
	errno = EINTR;
	if (sys.is_interrupted && sys.calls++ % 2 == 0)
		return 0;
	errno = sys.code;
	if (*left > 0 && --*left == 0) {
		*left = 1;
		return 0;
	}
	return sys.is_interrupted && bytes > 3 ? 3 : bytes;
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
	size_t nr = allowed(bytes, &sys.writes_left);

	sys.written += nr;
	return nr == 0 ? -1 : __real_pwrite(fd, data, nr, offset);
}

ssize_t __wrap_pread(int fd, void *data, size_t bytes, off_t offset)
{
	size_t nr = allowed(bytes, &sys.reads_left);

	if (nr == 0)
		return errno == 0 ? 0 : -1;
	return __real_pread(fd, data, nr, offset);
}

static size_t entry_nr(const char *dir)
{
	DIR *opened = opendir(dir);
	size_t nr = 0;

	assert_non_null(opened);
	while (readdir(opened) != NULL)
		nr++;
	closedir(opened);
	return nr;
}

/* Each test has a directory of its own in TMPDIR; nothing may be left in it, and no descriptor. */
static struct {
	char dir[64];
	size_t fd_nr;
} place;

static int place_make(void **state)
{
	memset(&sys, 0, sizeof(sys));
	strcpy(place.dir, "sorter-XXXXXX");
	assert_non_null(mkdtemp(place.dir));
	assert_int_equal(setenv("TMPDIR", place.dir, 1), 0);
	place.fd_nr = entry_nr("/proc/self/fd");
	return 0;
}

static int place_check(void **state)
{
	assert_int_equal(entry_nr("/proc/self/fd"), place.fd_nr);
	assert_int_equal(rmdir(place.dir), 0);
	return 0;
}

/* Kinds of input. */
static uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static uint64_t key_random(size_t i, size_t nr, uint64_t *seed)	   { return random_next(seed); }
static uint64_t key_few(size_t i, size_t nr, uint64_t *seed)	   { return random_next(seed) % 5; }
static uint64_t key_equal(size_t i, size_t nr, uint64_t *seed)	   { return 7; }
static uint64_t key_ascending(size_t i, size_t nr, uint64_t *seed) { return i / 2; }
static uint64_t key_descending(size_t i, size_t nr, uint64_t *seed) { return nr - i; }
static uint64_t key_teeth(size_t i, size_t nr, uint64_t *seed)	   { return i % 37; }
static uint64_t key_extreme(size_t i, size_t nr, uint64_t *seed)
{
	return random_next(seed) % 2 == 0 ? UINT64_MAX : i % 3;
}
static uint64_t key_late(size_t i, size_t nr, uint64_t *seed)
{
	return i + 1 == nr ? 0 : i + 1;
}

typedef uint64_t (*key_of)(size_t i, size_t nr, uint64_t *seed);
static const key_of kinds[] = {
	key_random,     key_few,   key_equal,   key_ascending,
	key_descending, key_teeth, key_extreme, key_late,
};

/* Equal keys by the order of the input, which the values say. */
static int compare(const void *a, const void *b)
{
	const struct ftr_sort_pair *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static struct ftr_sort_pair *input_make(key_of key, size_t nr)
{
	struct ftr_sort_pair *pairs = calloc(nr + 1, sizeof(*pairs));
	uint64_t seed = 88172645463325252u + nr;

	assert_non_null(pairs);
	for (size_t i = 0; i < nr; i++)
		pairs[i] = (struct ftr_sort_pair){ key(i, nr, &seed), i };
	return pairs;
}

/* 0, or what putting or finishing said. */
static int fill(struct ftr_sorter *sorter, const struct ftr_sort_pair *pairs, size_t nr,
		struct ftr_err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < nr; i++)
		ret = ftr_sorter_put(sorter, pairs[i], err);
	return ret == 0 ? ftr_sorter_finish(sorter, err) : ret;
}

static void check(const struct ftr_sort_sizes *sizes, key_of key, size_t nr, size_t batch)
{
	struct ftr_sort_pair *pairs = input_make(key, nr),
			     *taken = calloc(nr + batch, sizeof(*taken));
	struct ftr_sorter *sorter = ftr_sorter_new(sizes);
	struct ftr_err err = { 0 };
	size_t at = 0;
	ssize_t got;

	assert_non_null(taken);
	assert_non_null(sorter);
	assert_int_equal(fill(sorter, pairs, nr, &err), 0);
	while ((got = ftr_sorter_take(sorter, taken + at, batch, &err)) > 0) {
		at += (size_t)got;
		assert_true(at <= nr);
	}
	assert_int_equal(got, 0);
	assert_int_equal(ftr_sorter_take(sorter, taken + at, batch, &err), 0);
	assert_int_equal(at, nr);
	qsort(pairs, nr, sizeof(*pairs), compare);
	assert_memory_equal(taken, pairs, nr * sizeof(*pairs));
	ftr_sorter_free(sorter);
	free(taken);
	free(pairs);
}

/* From nothing to eleven passes of two ways. */
static void every_kind_in_every_size(void **state)
{
	static const struct ftr_sort_sizes sizes[] = {
		{ 8, 2 }, { 8, 8 }, { 9, 4 }, { 64, 3 }, { 2, 2 }, { 512, 5 },
	};
	static const size_t counts[] = { 0, 1, 2, 7, 8, 9, 15, 16, 17, 64, 65, 1000, 4097 };
	static const size_t batches[] = { 1, 3, 256 };

	for (size_t i = 0; i < ARRAY_NR(sizes) * ARRAY_NR(counts) * ARRAY_NR(kinds); i++) {
		size_t count = counts[i / ARRAY_NR(sizes) % ARRAY_NR(counts)];

		check(&sizes[i % ARRAY_NR(sizes)], kinds[i / ARRAY_NR(sizes) / ARRAY_NR(counts)],
		      count, batches[i % ARRAY_NR(batches)]);
	}
}

static void sizes_are_moved_to_their_limits(void **state)
{
	static const struct ftr_sort_sizes sizes[] = { { 1, 1 }, { 3, 100 }, { 1, 0 }, { 5, 1 } };

	for (size_t i = 0; i < ARRAY_NR(sizes); i++)
		check(&sizes[i], key_random, 100, 7);
}

/* With the sizes that are used: more than one chunk, random over all 64 bits. */
static void usual_sizes(void **state)
{
	check(NULL, key_random, (1u << 20) + 1, 256);
	assert_int_equal(sys.written, 16 * ((1u << 20) + 1));
	check(NULL, key_few, 300000, 256);
}

static void one_chunk_needs_no_file(void **state)
{
	check(&(struct ftr_sort_sizes){ 8, 2 }, key_descending, 8, 256);
	assert_int_equal(sys.opened, 0);
	check(&(struct ftr_sort_sizes){ 8, 2 }, key_descending, 9, 256);
	assert_int_equal(sys.opened, 1);
}

/*
 * Input in order is one run, however long; so it is written once, also where another run follows.
 */
static void order_is_cheap(void **state)
{
	check(&(struct ftr_sort_sizes){ 8, 2 }, key_ascending, 1000, 256);
	assert_int_equal(sys.written, 16 * 1000);
	check(&(struct ftr_sort_sizes){ 8, 2 }, key_late, 1001, 256);
	assert_int_equal(sys.written, 16 * 2001);
	check(&(struct ftr_sort_sizes){ 8, 2 }, key_descending, 1000, 256);
	assert_true(sys.written > 16 * 4001);
}

/* Where nameless files are not to be had, the name does not stay (see place_check). */
static void files_with_names(void **state)
{
	sys.has_no_tmpfile = true;
	check(&(struct ftr_sort_sizes){ 8, 2 }, key_random, 1000, 256);
	assert_true(sys.opened > 2);
}

static void interrupted_and_short(void **state)
{
	sys.is_interrupted = true;
	check(&(struct ftr_sort_sizes){ 8, 3 }, key_random, 500, 256);
	assert_true(sys.calls > 1000);
}

/* Sorting fails at once or later, with @code, and says where and what to do. */
static void check_failure(size_t nr, int code, const char *dir)
{
	struct ftr_sorter *sorter = ftr_sorter_new(&(struct ftr_sort_sizes){ 64, 2 });
	struct ftr_sort_pair *pairs = input_make(key_random, nr);
	struct ftr_err err = { 0 };

	assert_int_equal(fill(sorter, pairs, nr, &err), -code);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.text, dir));
	assert_non_null(strstr(err.text, strerror(code)));
	assert_non_null(strstr(err.text, "TMPDIR"));
	ftr_sorter_free(sorter);
	free(pairs);
}

static void no_such_directory(void **state)
{
	assert_int_equal(setenv("TMPDIR", "/nowhere/at/all", 1), 0);
	check_failure(65, ENOENT, "/nowhere/at/all");
	sys.has_no_tmpfile = true;
	check_failure(65, ENOENT, "/nowhere/at/all");
	check(&(struct ftr_sort_sizes){ 64, 2 }, key_random, 64, 256);
}

static void usual_directories(void **state)
{
	struct ftr_scratch scratch;
	struct ftr_err err;

	for (int is_empty = 0; is_empty < 2; is_empty++) {
		if (is_empty)
			setenv("TMPDIR", "", 1);
		else
			unsetenv("TMPDIR");
		assert_int_equal(ftr_scratch_open(&scratch, &err), 0);
		assert_true(strcmp(scratch.dir, "/var/tmp") == 0 ||
			    strcmp(scratch.dir, "/tmp") == 0);
		ftr_scratch_close(&scratch);
		ftr_scratch_close(&scratch);
	}
}

/* A file that may not grow, in the middle of a pair: the kernel writes a part first. */
static void limited_size(void **state)
{
	struct rlimit old, limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 4100;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	check_failure(5000, EFBIG, place.dir);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(sys.written,
			 5 * 1024 + 1020); /* asked for: the rest of the fifth, in vain */
}

/* The disk is full at any write, of chunks and of passes. */
static void full_disk(void **state)
{
	sys.code = ENOSPC;
	for (unsigned at = 1; at < 30; at++) {
		sys.writes_left = at;
		check_failure(1000, ENOSPC, place.dir);
	}
	sys.writes_left = 0;
}

/* Reading fails at any read: of a pass, or while pairs are taken. */
static void check_unreadable(unsigned at, int code)
{
	struct ftr_sorter *sorter = ftr_sorter_new(&(struct ftr_sort_sizes){ 64, 4 });
	struct ftr_sort_pair *pairs = input_make(key_random, 1000);
	struct ftr_err err = { 0 };
	ssize_t ret;

	sys.reads_left = at;
	sys.code = code;
	ret = fill(sorter, pairs, 1000, &err);
	while (ret >= 0 && (ret = ftr_sorter_take(sorter, pairs, 100, &err)) > 0)
		;
	assert_int_equal(ret, code == 0 ? -EIO : -code);
	assert_non_null(strstr(err.text, place.dir));
	assert_non_null(strstr(err.text, strerror((int)-ret)));
	sys.reads_left = 0;
	ftr_sorter_free(sorter);
	free(pairs);
}

static void unreadable(void **state)
{
	for (unsigned at = 1; at <= 120; at++)		/* two passes of 63 or more */
		check_unreadable(at, at % 2 == 0 ? EIO : 0);
}

/*
 * Without finishing, without taking, in the middle: nothing is left (see place_check, and leak
 * checkers).
 */
static void freed_early(void **state)
{
	static const struct ftr_sort_sizes sizes = { 8, 2 };
	struct ftr_sort_pair *pairs = input_make(key_random, 100), taken[10];
	struct ftr_err err;

	ftr_sorter_free(NULL);
	for (int stage = 0; stage < 5; stage++) {
		struct ftr_sorter *sorter = ftr_sorter_new(&sizes);

		if (stage == 2) {
			for (size_t i = 0; i < 100; i++)
				assert_int_equal(ftr_sorter_put(sorter, pairs[i], &err), 0);
		}
		if (stage == 1 || stage == 3 || stage == 4)
			assert_int_equal(fill(sorter, pairs, stage == 1 ? 5 : 100, &err), 0);
		if (stage == 4)
			assert_int_equal(ftr_sorter_take(sorter, taken, 10, &err), 10);
		ftr_sorter_free(sorter);
	}
	free(pairs);
}

#define PLACED(test) cmocka_unit_test_setup_teardown(test, place_make, place_check)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACED(every_kind_in_every_size),
		PLACED(sizes_are_moved_to_their_limits),
		PLACED(usual_sizes),
		PLACED(one_chunk_needs_no_file),
		PLACED(order_is_cheap),
		PLACED(files_with_names),
		PLACED(interrupted_and_short),
		PLACED(no_such_directory),
		PLACED(usual_directories),
		PLACED(limited_size),
		PLACED(full_disk),
		PLACED(unreadable),
		PLACED(freed_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

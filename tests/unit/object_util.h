/* SPDX-License-Identifier: MIT */
/*
 * Real ELF files for the tests of utils/object: compiled, stripped and cut in a scratch directory.
 */
#ifndef FTR_TESTS_OBJECT_UTIL_H
#define FTR_TESTS_OBJECT_UTIL_H

#include <stddef.h>

/* cmocka group fixtures: make a scratch directory, and make it the current one; remove it. */
int object_dir_setup(void **state);
int object_dir_teardown(void **state);

void object_write(const char *path, const void *bytes, size_t len);
/* The whole file (free it). */
char *object_read(const char *path, size_t *len);

/* Run a command of the shell; the test fails when it does. */
void object_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Is this program installed?  Tests that need one that is not are skipped. */
int object_have(const char *program);

#endif /* FTR_TESTS_OBJECT_UTIL_H */

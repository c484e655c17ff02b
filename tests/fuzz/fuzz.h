/* SPDX-License-Identifier: MIT */
/* What the drivers (replay and libFuzzer) call: one input for one format of the table. */
#ifndef FTR_TESTS_FUZZ_H
#define FTR_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>

struct ftr_format;

/*
 * Read @data, a file or a packed directory (format/dir.h), with @format, and check what comes of
 * it; aborts where a check fails.
 */
void fuzz_one(const struct ftr_format *format, const uint8_t *data, size_t size);

/* Checks that one format alone needs. */
void fuzz_extra_etrace(const uint8_t *data, size_t size);
void fuzz_extra_fxt(const uint8_t *data, size_t size);
void fuzz_extra_uftrace(const uint8_t *data, size_t size);

/* @data is the input from here on: what fails is its fault. */
void fuzz_keep(const uint8_t *data, size_t size);

/*
 * Have a process of its own run(@arg), so that one that aborts leaves the others: a test, which a
 * failure calls @name and which passes with exit status 0.  There are at most as many at once as
 * processors; waits for one that ends.
 */
void fuzz_start(const char *name, int (*run)(const void *arg), const void *arg);

/* Wait for all of them and print their counts: the exit status. */
int fuzz_wait(void);

/* Report, and keep the input in the file that FUZZ_KEEP names. */
_Noreturn void fuzz_fail(const char *what, const char *file, int line);

#define check(is_true) ((is_true) ? (void)0 : fuzz_fail(#is_true, __FILE__, __LINE__))

/*
 * Address sanitizers reserve terabytes; without one, input that asks for much memory must not get
 * it.
 */
#if defined(__SANITIZE_ADDRESS__)
#define FUZZ_MEMORY_BYTES RLIM_INFINITY
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUZZ_MEMORY_BYTES RLIM_INFINITY
#endif
#endif
#ifndef FUZZ_MEMORY_BYTES
#define FUZZ_MEMORY_BYTES ((rlim_t)1 << 30)
#endif

/* Of the inputs that are made of seeds each so manieth is tried: FTR_TEST_FUZZ_SHARE, else all. */
static inline unsigned long fuzz_share(void)
{
	const char *text = getenv("FTR_TEST_FUZZ_SHARE");
	unsigned long share = text != NULL ? strtoul(text, NULL, 10) : 0;

	return share > 0 ? share : 1;
}

static inline void fuzz_limit_memory(void)
{
	struct rlimit limit = { FUZZ_MEMORY_BYTES, FUZZ_MEMORY_BYTES };

	setrlimit(RLIMIT_AS, &limit);
}

#endif /* FTR_TESTS_FUZZ_H */

/* SPDX-License-Identifier: MIT */
/*
 * Texts that a program hands to the kernel, which answers EFAULT where there is no memory: before
 * we read them we ask whether there is any.
 */
#ifndef FTR_LIBMCOUNT_READABLE_H
#define FTR_LIBMCOUNT_READABLE_H

#include <stdbool.h>
#include <stdint.h>

/* The kernel is asked by rt_sigprocmask, for a change that there is none of. */
#define FTR_READABLE_HOW UINT64_MAX

/* Up to and with its NUL; a NULL is not.  Nothing is, where we may make no system calls. */
bool ftr_is_readable(const char *text) __attribute__((visibility("hidden")));

/* The array up to and with its NULL, and each of its texts. */
bool ftr_are_readable(char *const *texts) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_READABLE_H */

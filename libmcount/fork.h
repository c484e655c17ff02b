/* SPDX-License-Identifier: MIT */
/* What a forked child inherits: interrupted hooks, and the open calls of its parent. */
#ifndef FTR_LIBMCOUNT_FORK_H
#define FTR_LIBMCOUNT_FORK_H

#include <stdint.h>

struct ftr_thread;

/* Install the handler of forks.  Called once, before the program runs. */
void ftr_fork_start(void);

/* Around a fork that libc's handlers do not hear of. */
void ftr_fork_begin(void) __attribute__((visibility("hidden")));
void ftr_fork_end(void) __attribute__((visibility("hidden")));

/*
 * When the process of @self was forked, in ticks of the parent's clock, for its first ring: which
 * calls were open in the parent then tells what it inherited.  Now, where nobody noticed.
 */
uint64_t ftr_fork_tick(struct ftr_thread *self) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_FORK_H */

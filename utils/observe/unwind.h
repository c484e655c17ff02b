/* SPDX-License-Identifier: MIT */
/* The stack of a stopped task, by libunwind, where ftr is built with it. */
#ifndef FTR_OBSERVE_UNWIND_H
#define FTR_OBSERVE_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ftr_space;
struct ftr_tracee;

bool ftr_unwind_is_possible(void);

/*
 * The addresses in @ips, at most @max, from the innermost on: where the task is, then where each
 * call returns to.  How many; 0 = it cannot be said.  It ends where no unwind information leads on,
 * or, *unknown says where, at code that @space does not know.
 */
size_t ftr_unwind(struct ftr_space *space, const struct ftr_tracee *tracee, uint64_t *ips,
		  size_t max, uint64_t *unknown);

/* What is kept in space->unwinder (nullable). */
void ftr_unwinder_free(void *unwinder);

#endif /* FTR_OBSERVE_UNWIND_H */

/* SPDX-License-Identifier: MIT */
/*
 * The return addresses of frames that were taken for left.  A wrong guess (two stacks that look
 * like one) costs the program nothing as long as the address is found by the place that it stood
 * in: a hash with a few entries for each place, one of each thread.
 */
#ifndef FTR_LIBMCOUNT_RETURNS_H
#define FTR_LIBMCOUNT_RETURNS_H

#include <stdint.h>

struct ftr_slot;

/* The frame at @loc, begun at @tick, is taken for left. */
void ftr_return_keep(const struct ftr_slot *slot, uintptr_t *loc, uintptr_t ret, uint64_t tick)
	__attribute__((visibility("hidden")));

/* What was kept last for @loc, by whichever thread; 0 = nothing. */
uintptr_t ftr_return_find(const uintptr_t *loc) __attribute__((visibility("hidden")));

/* The same by the thread of @slot alone. */
uintptr_t ftr_return_find_of(const struct ftr_slot *slot, const uintptr_t *loc)
	__attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_RETURNS_H */

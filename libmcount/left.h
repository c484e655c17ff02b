/* SPDX-License-Identifier: MIT */
/*
 * The calls that were open when a recording of a program that runs was ended (doc/adr/0085).  Their
 * slots have got their return addresses back, but a context that swapcontext has saved, jumped to
 * as a function's last thing, has a copy of what was there: a stub.  Whoever goes on with it, be it
 * much later, still returns through us, and is found here by the place of the slot.  Where return
 * addresses do not stand in their slots (FTR_ARCH_SLOT_STAYS) all calls that were open do.
 */
#ifndef FTR_LIBMCOUNT_LEFT_H
#define FTR_LIBMCOUNT_LEFT_H

#include <stdbool.h>
#include <stdint.h>

#include "libmcount/hook.h"

struct ftr_left;

/* Room for @nr calls and for those of @before (NULL = none); NULL = there is no memory. */
struct ftr_left *ftr_left_new(const struct ftr_left *before, uint64_t nr) FTR_HIDDEN;

void ftr_left_free(struct ftr_left *left) FTR_HIDDEN;

/*
 * The call of @loc returns to @ret.  Of several at one place that of the lowest @age counts, of
 * those the last one.  What there is no room for is left out.
 */
void ftr_left_add(struct ftr_left *left, const uintptr_t *loc, uintptr_t ret, uint64_t age)
	FTR_HIDDEN;

/*
 * The calls of @before (NULL = none) that may still be open: @still says whether a word of the
 * program is what it was.
 */
void ftr_left_add_before(struct ftr_left *left, const struct ftr_left *before,
			 bool (*still)(void *arg, uintptr_t loc, uintptr_t ret), void *arg)
	FTR_HIDDEN;

/* Where the call of @loc returns to, by the last recording that was ended; 0 = it has none. */
uintptr_t ftr_left_find(const uintptr_t *loc) FTR_HIDDEN;

/* What unwinders may take for the thread of a stub (arch/return_stubs.h). */
struct ftr_slot *ftr_left_owner(struct ftr_left *left) FTR_HIDDEN;

#endif /* FTR_LIBMCOUNT_LEFT_H */

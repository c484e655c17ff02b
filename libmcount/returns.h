/* SPDX-License-Identifier: MIT */
/*
 * The return addresses of frames that were taken for left.  A wrong guess (two stacks that look
 * like one) costs the program nothing as long as the address is found by the place that it stood
 * in: a hash of places, one of each thread.  An address is kept until another call of its place is:
 * which memory is still a stack, nobody knows.  An entry changes hands as a frame does (frame.h).
 */
#ifndef FTR_LIBMCOUNT_RETURNS_H
#define FTR_LIBMCOUNT_RETURNS_H

#include <stdint.h>

#include "libmcount/thread.h"

/*
 * The frame at @loc, whose ENTRY is of @stamp, is taken for left.  What is kept of a newer call of
 * that place stays.  By the owner of @slot alone; others may be reading it.  False: no room is left
 * for another place, and the frame must stay.
 */
bool ftr_return_keep(const struct ftr_slot *slot, uintptr_t *loc, uintptr_t ret, uint64_t stamp)
	__attribute__((visibility("hidden")));

/* What was kept of the newest call at @loc, by whichever thread; 0 = nothing. */
uintptr_t ftr_return_find(const uintptr_t *loc) __attribute__((visibility("hidden")));

/* The same by the thread of @slot alone; its ret is 0 where there is nothing. */
struct ftr_return ftr_return_find_of(const struct ftr_slot *slot, const uintptr_t *loc)
	__attribute__((visibility("hidden")));

/* Is what is @kept of a place, if anything, of a newer call than that of @frame? */
static inline bool ftr_return_is_newer(const struct ftr_return *kept,
				       const struct ftr_frame *frame)
{
	return kept->ret != 0 && ftr_stamp_is_newer(kept->stamp, ftr_frame_stamp(frame));
}

/* How many of @slot's entries, from the first one, may be in use. */
uint64_t ftr_returns_used(const struct ftr_slot *slot) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_RETURNS_H */

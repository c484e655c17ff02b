/* SPDX-License-Identifier: MIT */
/* The shadow stack as a whole; how one frame changes hands: frame.h. */
#ifndef FTR_LIBMCOUNT_FRAMES_H
#define FTR_LIBMCOUNT_FRAMES_H

#include "libmcount/thread.h"

/* Free frames on top are not worth a search. */
void ftr_frames_trim(struct ftr_thread *self);

/*
 * Where the call of @loc returns to, by a frame that a hook of this thread is just taking for left:
 * a handler interrupted it and switched to the call's coroutine.  0 = there is none.
 */
uintptr_t ftr_frame_busy_return(const struct ftr_thread *self, const uintptr_t *loc);

/*
 * Where the call of @loc returns to, by the newest frame of another thread's @slot, which is
 * closed, or by what that thread has kept of a newer one; 0 = there is none.
 */
uintptr_t ftr_frame_close_foreign(const struct ftr_slot *slot, const uintptr_t *loc);

/* The stamp of the newest call at @loc that @slot has a frame of, or has kept; 0 = it has none. */
uint64_t ftr_frames_newest(const struct ftr_slot *slot, const uintptr_t *loc);

/*
 * A frame below others has become free.  When there are many such, those above move down, in their
 * order: else coroutines that take turns, none of them ever on top alone, would use up the shadow
 * stack, and each search in it would take longer than the last.
 */
void ftr_frames_count_hole(struct ftr_thread *self);

#endif /* FTR_LIBMCOUNT_FRAMES_H */

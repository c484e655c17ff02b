/* SPDX-License-Identifier: MIT */
/*
 * How calls end, other than by a return of the one on top (which is hook.c's): by a jump or an
 * exception, or with other stacks' calls above them.
 */
#ifndef FTR_LIBMCOUNT_LEAVE_H
#define FTR_LIBMCOUNT_LEAVE_H

#include "libmcount/hook.h"

/* Is @loc on the stack that the thread was born on? */
bool ftr_frame_is_home(const struct ftr_thread *self, const uintptr_t *loc) FTR_HIDDEN;

/* Record the EXIT of @frame (at or below the top) and give it, and left ones above it, back. */
void ftr_frame_close(struct ftr_thread *self, struct ftr_frame *frame) FTR_HIDDEN;

/*
 * A call begins, or ends, at @loc: open frames above @until that lie below it on the same stack are
 * gone (a jump or an exception left them), and so is one at @loc itself when @is_reused.  Frames on
 * other stacks go on living: coroutines, or the code that a handler on its own stack interrupted.
 */
void ftr_frames_abandon(struct ftr_thread *self, const struct ftr_frame *until,
			const uintptr_t *loc, bool is_reused) FTR_HIDDEN;

/*
 * The thread is about to jump up its stack, to @sp: record the exits of the calls it leaves.  Only
 * those between here and there on one stack: what lies elsewhere goes on living.
 */
void ftr_frames_jumped(const uintptr_t *sp) FTR_HIDDEN;

/*
 * The function that calls with @slot, to return to @ret, has got an exception: the calls that it
 * left end here.
 */
void ftr_frames_landed(const uintptr_t *slot, uintptr_t ret) FTR_HIDDEN;

/*
 * May @frame, on top and of the place that returns, be the call that does?  Where the place alone
 * tells (FTR_ARCH_SLOT_STAYS is 0), it may be a dropped coroutine's, and a newer call of the place
 * have been taken for left.
 */
bool ftr_frame_may_return(const struct ftr_thread *self, const struct ftr_frame *frame) FTR_HIDDEN;

/* ftr_leave of a thread with stacks (stacks.h): 0 = not the top frame. */
uintptr_t ftr_leave_top(struct ftr_thread *self, const uintptr_t *loc) FTR_HIDDEN;

/* @frame, busy, has ended: record it and give it back. */
void ftr_leave_frame(struct ftr_thread *self, struct ftr_frame *frame) FTR_HIDDEN;

/*
 * The rest of ftr_leave: the top frame is not the one that returns.  The stub in the return slot
 * says which thread's frame it is; several threads may know one place, of coroutines that were
 * dropped there.  Another address is there when the frame was taken for left, or when the stub's
 * address was copied from the slot and that is used otherwise now.
 */
uintptr_t ftr_leave_slow(struct ftr_thread *self, uintptr_t *loc)
	__attribute__((visibility("hidden"), cold));

/*
 * After an exception has departed, and before it has arrived: a function is entered whose entry, at
 * @loc, tells nothing of its own slot.  A cleanup is called where the call to the unwinder stood,
 * whose frame is below the cleanup's caller, and not below @loc: it is closed, like those that led
 * to it.
 */
void ftr_frames_departed(struct ftr_thread *self, const uintptr_t *loc) FTR_HIDDEN;

#endif /* FTR_LIBMCOUNT_LEAVE_H */

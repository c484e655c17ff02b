/* SPDX-License-Identifier: MIT */
/* See leave.h.  Part of the hook: without libc. */
#include "libmcount/leave.h"

#include "arch/prologue.h"
#include "libmcount/frame.h"
#include "libmcount/frames.h"
#include "libmcount/gated.h"
#include "libmcount/hook.h"
#include "libmcount/left.h"
#include "libmcount/returns.h"
#include "libmcount/stacks.h"
#include "libmcount/state.h"

/* A busy frame becomes free; when it had been recorded, so is its end. */
static void frame_end(struct ftr_thread *self, struct ftr_frame *frame)
{
	if (self->gate != NULL) {
		ftr_gated_exit(self, frame, NULL);
	} else if (frame->is_begun) {
		frame->is_begun = false;
		atomic_signal_fence(memory_order_seq_cst);
		if (self->stacks != NULL)
			ftr_stacks_note(self, frame->loc, FTR_STACK_EXIT, 0);
		record_put_word(self, record_word(self, frame, frame->func, FTR_RECORD_EXIT));
	}
	frame_free(frame);
	ftr_frames_trim(self);
}

void ftr_frame_close(struct ftr_thread *self, struct ftr_frame *frame)
{
	uintptr_t *loc = frame->loc;

	if (loc != NULL && !ftr_frame_is_busy(loc) && frame_seize(frame, loc))
		frame_end(self, frame);
}

/* Which stack something lies on.  The bounds of other stacks are unknown. */
enum stack { STACK_HOME, STACK_SIGNAL, STACK_OTHER };

static enum stack stack_of(const struct ftr_thread *self, const uintptr_t *loc)
{
	if ((uintptr_t)loc - self->signal_low < self->signal_bytes)
		return STACK_SIGNAL;
	if ((uintptr_t)loc - self->home_low < self->home_high - self->home_low)
		return STACK_HOME;
	return STACK_OTHER;
}

bool ftr_frame_is_home(const struct ftr_thread *self, const uintptr_t *loc)
{
	return stack_of(self, loc) == STACK_HOME;
}

/*
 * Stacks of coroutines lie apart by their size, the frames of one follow each other closely: do the
 * newest open calls lead up to @loc in steps of less than a page?
 */
#define STEP_WORDS (4096 / sizeof(uintptr_t))

static bool is_one_stack(const struct ftr_thread *self, const struct ftr_frame *until,
			 const uintptr_t *loc)
{
	const uintptr_t *below = NULL;
	const struct ftr_frame *frame;

	for (frame = self->top - 1; frame > until; frame--) {
		if (frame->loc == NULL || ftr_frame_is_busy(frame->loc))
			continue;
		if (frame->loc > loc || stack_of(self, frame->loc) != STACK_OTHER)
			break;
		if (below != NULL && (size_t)(frame->loc - below) >= STEP_WORDS)
			return false;	/* also where it lies below */
		below = frame->loc;
	}
	return below != NULL && (size_t)(loc - below) < STEP_WORDS;
}

/* 0 = this thread has none. */
static uintptr_t stub_aside(const struct ftr_thread *self)
{
	return self->slot->stub_aside != 0 ?
		       (uintptr_t)ftr_return_stubs + FTR_STUB_BYTES * self->slot->stub_aside :
		       0;
}

/*
 * While a frame is taken for left, its coroutine may return and call again from the same place, if
 * a handler switches to it: that slot must not get the older call's address.  So new calls get
 * another stub meanwhile.  Where one does this in the middle of another's doing it, what is kept
 * has to suffice.
 */
static void stub_set_aside(struct ftr_thread *self, uintptr_t stub)
{
	if (!FTR_ARCH_SLOT_STAYS || self->stacks == NULL || stub == stub_aside(self))
		return;
	if (self->slot->stub_aside == 0)
		ftr_stub_take_aside(self->slot);
	if (self->slot->stub_aside != 0)
		self->stub = stub_aside(self);
	atomic_signal_fence(memory_order_seq_cst);
}

static void stub_put_back(struct ftr_thread *self, uintptr_t stub)
{
	atomic_signal_fence(memory_order_seq_cst);
	if (stub != stub_aside(self) && self->stub != stub)
		self->stub = stub;
}

/*
 * Control left @frame without a return.  Should that be a wrong guess (two stacks that look like
 * one), the function must still return where it was called from: by its slot, or, where the stub's
 * address was copied from there (swapcontext, called as the function's last thing), by what is
 * kept.  Where that has no room, the frame stays, as those of dropped coroutines do; and so it does
 * where a handler interrupted its hook, which may go on, unless its place is @reused: that shows
 * that it does not.
 */
static void frame_abandon(struct ftr_thread *self, struct ftr_frame *frame,
			  const uintptr_t *reused)
{
	uintptr_t stub = self->stub;
	struct ftr_frame copy;

	ftr_frame_copy(&copy, frame);
	if (copy.loc == NULL || ftr_frame_is_busy(copy.loc))
		return;
	if (!ftr_frame_is_through(&copy) && copy.loc != reused) {
		self->halving_low = FTR_HALVING_NEVER;
		return;
	}
	if (copy.kind != FTR_FRAME_RETURN || stub == 0) {
		ftr_frame_close(self, frame);
		return;
	}
	/*
	 * First: it is not found while it is busy.  A tail call's is a stub: its caller's frame has
	 * the address.
	 */
	if (!ftr_is_stub(copy.ret) &&
	    !ftr_return_keep(self->slot, copy.loc, copy.ret,
			     ftr_frame_is_through(&copy) ? ftr_frame_stamp(&copy) :
							   ftr_stamp(ftr_clock_ticks()))) {
		self->halving_low = FTR_HALVING_NEVER;
		return;
	}
	stub_set_aside(self, stub);
	if (!frame_seize(frame, copy.loc)) {
		stub_put_back(self, stub);
		return;
	}
	if (frame->state != copy.state || frame->ret != copy.ret) {
		frame->loc = copy.loc;		/* a newer call of this place */
		stub_put_back(self, stub);
		return;
	}
	if (FTR_ARCH_SLOT_STAYS && stub != stub_aside(self)) {
		/* The stack may be in use by another thread again. */
		uintptr_t expected = stub;

		__atomic_compare_exchange_n(copy.loc, &expected, copy.ret, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
	}
	stub_put_back(self, stub);
	frame_end(self, frame);
}

void ftr_frames_abandon(struct ftr_thread *self, const struct ftr_frame *until,
			const uintptr_t *loc, bool is_reused)
{
	enum stack stack = stack_of(self, loc);
	struct ftr_frame *frame, *last = NULL;

	if (stack == STACK_OTHER && !is_one_stack(self, until, loc))
		return;
	for (frame = self->top - 1; frame > until; frame--) {
		bool is_open = frame->loc != NULL && !ftr_frame_is_busy(frame->loc);
		bool is_here = is_open && stack_of(self, frame->loc) == stack;

		if (is_open && !is_here && stack == STACK_OTHER)
			break; /* what lies below may be on any stack, of memory long given back */
		if (!is_here)
			continue;
		if (frame->loc > loc || (frame->loc == loc && !is_reused))
			break;
		last = frame;
	}
	for (frame = self->top - 1; last != NULL && frame >= last; frame--) {
		if (stack_of(self, frame->loc) == stack)
			frame_abandon(self, frame, loc);
	}
	ftr_frames_trim(self);
}

/* Does the slot of the open call at @frame hold an address that is no longer the call's? */
static bool is_overwritten(const struct ftr_thread *self, const struct ftr_frame *frame)
{
	const uintptr_t *loc = frame->loc;

	return FTR_ARCH_SLOT_STAYS && loc != NULL && !ftr_frame_is_busy(loc) &&
	       frame->kind != FTR_FRAME_CYGPROF && ftr_frame_is_home(self, loc) &&
	       *loc != frame->ret && !ftr_is_stub(*loc);
}

void ftr_frames_departed(struct ftr_thread *self, const uintptr_t *loc)
{
	const struct ftr_frame *frame = self->top - 1;

	while (self->frames != NULL && frame >= self->frames && frame->loc > loc &&
	       is_overwritten(self, frame)) {
		ftr_frames_abandon(self, frame - 1, frame->loc, true);
		if (self->top > frame)
			break;
		frame = self->top - 1;
	}
}

void ftr_frames_landed(const uintptr_t *slot, uintptr_t ret)
{
	struct ftr_thread *self = &ftr_self;
	const uintptr_t *sp = ftr_arch_caller_sp(slot, ret);

	if (self->frames == NULL)
		return;
	if (self->top[-1].loc == slot)		/* it is recorded, and after that of others */
		sp = slot;
	ftr_frames_abandon(self, self->frames - 1, sp, false);
}

/*
 * A handler interrupted hooks and now jumps out of them, from @here to @sp: they do not go on.
 * Others do, of coroutines that a handler switched away from.
 */
static bool is_jumped_out_of(const struct ftr_thread *self, const uintptr_t *loc,
			     const uintptr_t *here, const uintptr_t *sp)
{
	if (stack_of(self, here) == STACK_SIGNAL && stack_of(self, sp) != STACK_SIGNAL)
		return loc < sp && stack_of(self, loc) == stack_of(self, sp);
	return here < loc && loc < sp;
}

/*
 * A hook that has just taken its frame has not moved top yet.  Where one goes on all the same (a
 * coroutine's that a handler switched away from, on that very stack), its call has to return.
 */
static void hooks_end(struct ftr_thread *self, const uintptr_t *here, const uintptr_t *sp)
{
	const struct ftr_frame *end = self->frames + self->slot->frame_nr;
	struct ftr_frame *frame = self->top;

	while (frame < end && frame->loc != NULL)
		frame++;
	while (frame-- > self->frames) {
		const uintptr_t *loc = frame->loc;

		if (loc == NULL || !is_jumped_out_of(self, loc, here, sp))
			continue;
		if (ftr_frame_is_busy(loc))
			frame_end(self, frame);
		else if (!ftr_frame_is_through(frame))
			frame_abandon(self, frame, loc);
	}
}

void ftr_frames_jumped(const uintptr_t *sp)
{
	struct ftr_thread *self = &ftr_self;
	const uintptr_t *here = __builtin_frame_address(0);

	if (self->frames == NULL)
		return;
	if (stack_of(self, here) == STACK_SIGNAL && stack_of(self, sp) != STACK_SIGNAL)
		ftr_frames_abandon(self, self->frames - 1,
				   (uintptr_t *)(self->signal_low + self->signal_bytes) - 1, false);
	ftr_frames_abandon(self, self->frames - 1, sp, false);
	hooks_end(self, here, sp);
}

/* The thread whose stub @address is; NULL = it is no stub. */
static struct ftr_slot *slot_of_stub(uintptr_t address)
{
	uint64_t stub = (address - (uintptr_t)ftr_return_stubs) / FTR_STUB_BYTES;
	struct ftr_slot *slot = atomic_load(&ftr_state.slots);

	while (slot != NULL && (slot->stub != 0 ? slot->stub : FTR_STUB_SHARED) != stub &&
	       (slot->stub_aside == 0 || slot->stub_aside != stub))
		slot = slot->next;
	return slot;
}

/*
 * A frame of this thread that is not on top: those above it were left, or live on another stack.
 * It is seized before it is read: a handler may switch to a coroutine that takes it for left.
 */
static uintptr_t leave_here(struct ftr_thread *self, const struct ftr_slot *slot,
			    const uintptr_t *loc)
{
	struct ftr_frame *frame = self->top - 1;
	struct ftr_return kept;
	uintptr_t ret;

	while (frame >= self->frames &&
	       !(ftr_frame_is_at(frame, loc) && ftr_frame_is_through(frame)))
		frame--;
	kept = ftr_return_find_of(slot, loc);	/* last: see ftr_frame_close_foreign */
	if (frame < self->frames || ftr_return_is_newer(&kept, frame))
		return kept.ret;
	if (!frame_seize(frame, loc))
		return 0;
	ret = frame->ret;
	ftr_frames_abandon(self, frame, loc, false);
	if (self->top > frame + 1)
		ftr_stacks_begin(self, loc);
	frame_end(self, frame);
	if (self->top > frame)
		ftr_frames_count_hole(self);
	return ret;
}

/*
 * Of another thread, the frame is that of a coroutine that began there and returns here.  Shadow
 * stacks are never unmapped, so this is safe after that thread has ended.
 */
static uintptr_t leave_on(struct ftr_thread *self, struct ftr_slot *slot, const uintptr_t *loc)
{
	/* Not the slot: a vfork's child has its own, and its parent's frames. */
	return slot->frames == self->frames ? leave_here(self, slot, loc) :
					      ftr_frame_close_foreign(slot, loc);
}

/* The thread that knows the newest call at @loc; NULL = none knows any. */
static struct ftr_slot *slot_of_newest(const uintptr_t *loc)
{
	struct ftr_slot *slot = atomic_load(&ftr_state.slots), *newest = NULL;
	uint64_t stamp, newest_stamp = 0;

	for (; slot != NULL; slot = slot->next) {
		stamp = ftr_frames_newest(slot, loc);
		if (stamp != 0 &&
		    (newest == NULL || ftr_stamp_is_newer(stamp, newest_stamp))) {
			newest = slot;
			newest_stamp = stamp;
		}
	}
	return newest;
}

bool ftr_frame_may_return(const struct ftr_thread *self, const struct ftr_frame *frame)
{
	struct ftr_return kept;

	if (FTR_ARCH_SLOT_STAYS || self->stacks == NULL)
		return true;
	kept = ftr_return_find_of(self->slot, frame->loc);
	return ftr_frame_is_through(frame) && !ftr_return_is_newer(&kept, frame);
}

uintptr_t ftr_leave_top(struct ftr_thread *self, const uintptr_t *loc)
{
	struct ftr_frame *frame = self->top - 1;
	uintptr_t ret;

	if (*loc != self->stub || frame->loc != loc || !ftr_frame_may_return(self, frame) ||
	    !frame_seize(frame, loc))
		return 0;
	ret = frame->ret;
	frame_end(self, frame);
	return ret;
}

void ftr_leave_frame(struct ftr_thread *self, struct ftr_frame *frame)
{
	frame_end(self, frame);
}

/* By what the threads of this recording know. */
static uintptr_t leave_known(struct ftr_thread *self, uintptr_t *loc)
{
	struct ftr_slot *slot = slot_of_stub(*loc);
	uintptr_t ret = 0;

	if (slot != NULL)
		ret = leave_on(self, slot, loc);
	if (ret == 0 && ftr_return_find(loc) == *loc)
		ret = *loc;
	if (ret == 0 && (slot = slot_of_newest(loc)) != NULL)
		ret = leave_on(self, slot, loc);
	if (ret == 0 && self->slot != NULL)
		ret = ftr_frame_busy_return(self, loc);
	return ret;
}

uintptr_t ftr_leave_slow(struct ftr_thread *self, uintptr_t *loc)
{
	uintptr_t ret = 0;

	if (atomic_load(&ftr_state.is_forgotten) == 0)
		ret = leave_known(self, loc);
	if (ret == 0)
		ret = ftr_left_find(loc);
	if (ret == 0)
		__builtin_trap(); /* the program was switched in a way that ADR 0026 excludes */
	return ret;
}

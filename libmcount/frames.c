/* SPDX-License-Identifier: MIT */
/* See frames.h.  Part of the hook: without libc. */
#include "libmcount/frames.h"

#include "libmcount/frame.h"
#include "libmcount/gate.h"
#include "libmcount/returns.h"
#include "libmcount/untraced.h"

#define HOLES_MIN 64u
#define FOREIGN_TRIES 1000u
#define FUNC_NONE 1u			/* not 0: see ftr_slot_used */

/*
 * Held while top moves: a handler may switch to a coroutine that fills and leaves it.  By a place
 * on our own stack: who looks at the frame meanwhile sees which stack that is, and whether a jump
 * leaves us.
 */
static bool frame_trim(struct ftr_thread *self, struct ftr_frame *frame)
{
	bool is_done;

	if (!frame_claim_free(frame, __builtin_frame_address(0)))
		return false;
	is_done = frames_set_top(self, frame + 1, frame);
	frame_free(frame);
	return is_done;
}

void ftr_frames_trim(struct ftr_thread *self)
{
	struct ftr_frame *top = self->top;

	while (top > self->frames && frame_trim(self, top - 1))
		top--;
}

/* One state of @frame, which its owner may close, move or reuse meanwhile; false: not of @loc. */
static bool frame_look(const struct ftr_frame *frame, const uintptr_t *loc, struct ftr_frame *copy)
{
	do {
		ftr_frame_copy(copy, frame);
		atomic_thread_fence(memory_order_acquire);
		if (!ftr_frame_is_at(copy, loc) ||
		    __atomic_load_n(&frame->loc, __ATOMIC_RELAXED) != loc)
			return false;
	} while (__atomic_load_n(&frame->state, __ATOMIC_RELAXED) != copy->state);
	return true;
}

/*
 * The newest open frame of @loc among all of @slot that were ever in use, and what it was.  From
 * above, as frames move down alone: one that moves is seen where it was, or else where it went.
 */
static struct ftr_frame *frame_find(const struct ftr_slot *slot, const uintptr_t *loc,
				    struct ftr_frame *newest)
{
	struct ftr_frame *frame = slot->frames, *found = NULL, copy;

	while (ftr_slot_used(slot, frame))
		frame++;
	while (frame-- > slot->frames) {
		if (frame_look(frame, loc, &copy) && ftr_frame_is_through(&copy) &&
		    (found == NULL ||
		     ftr_stamp_is_newer(ftr_frame_stamp(&copy), ftr_frame_stamp(newest)))) {
			*newest = copy;
			found = frame;
		}
	}
	return found;
}

uintptr_t ftr_frame_busy_return(const struct ftr_thread *self, const uintptr_t *loc)
{
	const struct ftr_frame *frame;

	for (frame = self->top - 1; frame >= self->frames; frame--) {
		if ((uintptr_t)frame->loc == ((uintptr_t)loc | FTR_FRAME_BUSY))
			return frame->ret;
	}
	return 0;
}

/*
 * Its owner may take it for left meanwhile, which keeps the address elsewhere first (returns.h): so
 * that is looked at last.
 */
uintptr_t ftr_frame_close_foreign(const struct ftr_slot *slot, const uintptr_t *loc)
{
	unsigned tries;

	for (tries = 0; tries < FOREIGN_TRIES; tries++) {
		struct ftr_frame copy, *frame = frame_find(slot, loc, &copy);
		struct ftr_return kept = ftr_return_find_of(slot, loc);
		uintptr_t *expected = (uintptr_t *)loc;

		if (frame == NULL || ftr_return_is_newer(&kept, &copy))
			return kept.ret;
		if (__atomic_compare_exchange_n(&frame->loc, &expected, NULL, false,
						__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			return copy.ret;
		ftr_arch_relax();
	}
	return 0;
}

uint64_t ftr_frames_newest(const struct ftr_slot *slot, const uintptr_t *loc)
{
	struct ftr_frame copy;
	uint64_t stamp = frame_find(slot, loc, &copy) != NULL ? ftr_frame_stamp(&copy) : 0;
	struct ftr_return kept = ftr_return_find_of(slot, loc);

	if (kept.ret != 0 && (stamp == 0 || ftr_stamp_is_newer(kept.stamp, stamp)))
		stamp = kept.stamp;
	return stamp;
}

/* Is no hook of this thread, which a handler interrupted, between the steps of a call? */
static bool frames_are_still(const struct ftr_thread *self)
{
	const struct ftr_frame *frame;

	for (frame = self->frames; frame < self->top; frame++) {
		if (frame->loc != NULL &&
		    (ftr_frame_is_busy(frame->loc) || !ftr_frame_is_through(frame)))
			return false;
	}
	return true;
}

/*
 * What rules decided about the call moves with it.  Its status follows when only one of both frames
 * is left: a handler in between is not to put an ENTRY that waits twice.
 */
static void gated_move(struct ftr_thread *self, const struct ftr_frame *from,
		       const struct ftr_frame *to)
{
	struct ftr_gate_frame *gated;
	uint64_t at = (uint64_t)(from - self->frames), index = (uint64_t)(to - self->frames);
	uint32_t i;

	if (self->gate == NULL)
		return;
	gated = ftr_gate_frame(self, to);
	*gated = *ftr_gate_frame(self, from);
	gated->status = FTR_GATE_UNRECORDED;
	for (i = 0; i < gated->payload_bytes; i++)
		self->gate->payloads[index * FTR_GATE_PAYLOAD + i] =
			self->gate->payloads[at * FTR_GATE_PAYLOAD + i];
	if (gated->has_retval)
		*ftr_gate_result(self, to) = *ftr_gate_result(self, from);
}

/* @from is busy, and the other one goes on. */
static void gated_moved(struct ftr_thread *self, const struct ftr_frame *from,
			const struct ftr_frame *to, const uintptr_t *loc)
{
	if (self->gate == NULL)
		return;
	if (to->loc == loc)
		ftr_gate_frame(self, to)->status = ftr_gate_frame(self, from)->status;
	ftr_gate_frame(self, from)->status = FTR_GATE_NONE;
}

/*
 * One of the two is open at any time.  A handler in between may switch to a coroutine that closes
 * either: then the other is not wanted any more.
 */
static void frame_move(struct ftr_thread *self, struct ftr_frame *from, struct ftr_frame *to)
{
	struct ftr_frame copy;

	ftr_frame_copy(&copy, from);
	if (copy.loc == NULL || ftr_frame_is_busy(copy.loc) || !ftr_frame_is_through(&copy) ||
	    !frame_claim_free(to, copy.loc))
		return;
	to->ret = copy.ret;
	to->func = copy.func;
	to->state = copy.state;
	gated_move(self, from, to);
	atomic_signal_fence(memory_order_seq_cst);
	__atomic_store_n(&to->loc, copy.loc, __ATOMIC_RELEASE);
	atomic_signal_fence(memory_order_seq_cst);
	if (frame_seize(from, copy.loc)) {
		if (from->state == copy.state && from->ret == copy.ret && from->func == copy.func) {
			if (self->jumping == from)
				self->jumping = to;
			gated_moved(self, from, to, copy.loc);
			frame_free(from);
			return;
		}
		from->loc = copy.loc;		/* a newer call of this place */
	}
	if (frame_seize(to, copy.loc))
		frame_free(to);
}

static void frames_compact(struct ftr_thread *self)
{
	struct ftr_frame *from, *to = self->frames;

	self->slot->is_moving = true;
	atomic_signal_fence(memory_order_seq_cst);
	for (from = self->frames; from < self->top; from++) {
		while (to < from && to->loc != NULL)
			to++;
		if (to < from)
			frame_move(self, from, to);
	}
	atomic_signal_fence(memory_order_seq_cst);
	self->slot->is_moving = false;
	ftr_frames_trim(self);
}

/* Not where a handler interrupted it, nor a vfork's child, which has its parent's frames. */
static void holes_close(struct ftr_thread *self)
{
	self->hole_nr = 0;
	if (!ftr_thread_is_vforked(self) && !self->slot->is_moving && frames_are_still(self))
		frames_compact(self);
}

void ftr_frames_count_hole(struct ftr_thread *self)
{
	uint64_t frame_nr = (uint64_t)(self->top - self->frames);

	if (++self->hole_nr >= HOLES_MIN && self->hole_nr >= frame_nr / 2)
		holes_close(self);
}

/*
 * Where top is busy, a handler interrupted the hook that claimed it.  What the shadow stack has no
 * room for is counted, what -D excludes is not.
 */
struct ftr_frame *ftr_frame_take_slow(struct ftr_thread *self, const struct ftr_frame *end,
				      uintptr_t *loc)
{
	struct ftr_frame *frame;

	if (self->top >= end && self->hole_nr != 0)
		holes_close(self);
	while ((frame = self->top) < end) {
		if (frame_take(self, frame, loc))
			return frame;
		if (frame->loc == NULL)
			continue;
		if (frame->func == 0)	/* it may be given back unfilled, and is below others now */
			frame->func = FUNC_NONE;
		frames_set_top(self, frame, frame + 1);
		self->is_mixed = true;
		self->halving_low = FTR_HALVING_NEVER;
	}
	if (self->slot != NULL && end == self->frames + self->slot->frame_nr &&
	    self->producer->header != NULL)
		ftr_arch_local_add((uint64_t *)&self->producer->header->skipped, 1);
	else if (self->untraced != NULL)
		ftr_untraced_call(self);
	return NULL;
}

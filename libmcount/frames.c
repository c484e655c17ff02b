/* SPDX-License-Identifier: MIT */
/* See frames.h.  Part of the hook: without libc. */
#include "libmcount/frames.h"

#include "libmcount/frame.h"
#include "libmcount/gate.h"
#include "libmcount/untraced.h"

#define HOLES_MIN 64u
#define FOREIGN_TRIES 1000u
#define FUNC_NONE 1u			/* not 0: see ftr_slot_used */

/* Held while top moves: a handler may switch to a coroutine that fills and leaves it. */
static bool frame_trim(struct ftr_thread *self, struct ftr_frame *frame)
{
	bool is_done;

	if (!frame_claim_free(frame, NULL))
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

/* The newest open frame of @loc among all of @slot that were ever in use. */
static struct ftr_frame *frame_find(const struct ftr_slot *slot, const uintptr_t *loc)
{
	struct ftr_frame *frame, *found = NULL;

	for (frame = slot->frames; ftr_slot_used(slot, frame); frame++) {
		if (ftr_frame_is_at(frame, loc) &&
		    (found == NULL || ftr_frame_is_newer(frame, found)))
			found = frame;
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
 * Its owner may take it for left meanwhile, which keeps the address elsewhere first (returns.h), or
 * move it, which slot->moves tells.
 */
uintptr_t ftr_frame_close_foreign(struct ftr_slot *slot, const uintptr_t *loc)
{
	unsigned tries;

	for (tries = 0; tries < FOREIGN_TRIES; tries++) {
		uint32_t moves = atomic_load(&slot->moves);
		struct ftr_frame *frame = frame_find(slot, loc);
		uintptr_t *expected = (uintptr_t *)loc, ret;

		if (frame != NULL) {
			ret = frame->ret;
			frame->is_begun = false;
			if (__atomic_compare_exchange_n(&frame->loc, &expected, NULL, false,
							__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
				return ret;
		} else if (moves % 2 == 0 && atomic_load(&slot->moves) == moves) {
			break;
		}
		ftr_arch_relax();
	}
	return 0;
}

/* Is no hook of this thread, which a handler interrupted, between the steps of a call? */
static bool frames_are_still(const struct ftr_thread *self)
{
	const struct ftr_frame *frame;

	for (frame = self->frames; frame < self->top; frame++) {
		if (frame->loc != NULL &&
		    (ftr_frame_is_busy(frame->loc) || !ftr_frame_has_tick(frame)))
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
	if (copy.loc == NULL || ftr_frame_is_busy(copy.loc) || !ftr_frame_has_tick(&copy) ||
	    !frame_claim_free(to, copy.loc))
		return;
	to->ret = copy.ret;
	to->func = copy.func;
	to->state = copy.state;
	gated_move(self, from, to);
	atomic_signal_fence(memory_order_seq_cst);
	to->loc = copy.loc;
	atomic_signal_fence(memory_order_seq_cst);
	if (frame_seize(from, copy.loc)) {
		if (from->state == copy.state) {
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

	atomic_fetch_add(&self->slot->moves, 1);
	for (from = self->frames; from < self->top; from++) {
		while (to < from && to->loc != NULL)
			to++;
		if (to < from)
			frame_move(self, from, to);
	}
	atomic_fetch_add(&self->slot->moves, 1);
	ftr_frames_trim(self);
}

/* Not where a handler interrupted it, nor a vfork's child, which has its parent's frames. */
static void holes_close(struct ftr_thread *self)
{
	self->hole_nr = 0;
	if (!ftr_thread_is_vforked(self) &&
	    atomic_load(&self->slot->moves) % 2 == 0 && frames_are_still(self))
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

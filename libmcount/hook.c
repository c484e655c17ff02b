/* SPDX-License-Identifier: MIT */
/*
 * The hook: one frame and one record for a call, one record for its end.
 *
 * It runs inside any function of the program, in any context, and so uses neither libc nor vector
 * registers, nor makes a system call once its thread is attached.  A signal handler may
 * interrupt it anywhere and pass through it itself; what a handler pushes it pops, so a frame is
 * claimed by storing top before the frame is filled and given back by storing top last.
 */
#include "libmcount/hook.h"

#include <stdatomic.h>

#include "arch/prologue.h"
#include "libmcount/module.h"
#include "libmcount/probe_plt.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

/* What stands below an empty shadow stack: above every stack, so it ends all searches. */
static const struct ftr_frame nothing = { .loc = (uintptr_t *)UINTPTR_MAX };

__thread struct ftr_thread ftr_self = { .top = (struct ftr_frame *)&nothing + 1 };

static inline void record_put(struct ftr_thread *self, const struct ftr_frame *frame,
			      uintptr_t func, enum ftr_record_type type)
{
	struct ftr_producer *producer = self->producer;
	uint64_t depth = (uint64_t)((const char *)frame - (const char *)self->frames) /
			 sizeof(struct ftr_frame);
	struct ftr_record *record;
	uint64_t pos, word;

	if (unlikely(depth > FTR_RECORD_DEPTH_MAX))
		depth = FTR_RECORD_DEPTH_MAX;
	word = ftr_record_word(type, (unsigned)depth, func);
	pos = ftr_arch_local_add(&producer->head, sizeof(struct ftr_record));
	if (unlikely(pos >= producer->limit)) {
		ftr_ring_put_slow(self, pos, word);
		return;
	}
	record = ftr_producer_record(producer, pos);
	record->time = ftr_arch_ticks();
	__atomic_store_n(&record->word, word, __ATOMIC_RELEASE);
}

static void frames_trim(struct ftr_thread *self)
{
	while (self->top > self->frames && self->top[-1].loc == NULL)
		self->top--;
}

void ftr_frame_close(struct ftr_thread *self, struct ftr_frame *frame)
{
	if (frame->is_begun) {
		frame->is_begun = false;
		atomic_signal_fence(memory_order_seq_cst);
		record_put(self, frame, frame->func, FTR_RECORD_EXIT);
	}
	atomic_signal_fence(memory_order_seq_cst);
	frame->loc = NULL;
	frames_trim(self);
}

/* Which stack something lies on.  Of other stacks than these two nobody says where they end. */
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
		if (frame->loc == NULL)
			continue;
		if (frame->loc > loc || stack_of(self, frame->loc) != STACK_OTHER)
			break;
		if (below != NULL && (size_t)(frame->loc - below) >= STEP_WORDS)
			return false;	/* also where it lies below */
		below = frame->loc;
	}
	return below != NULL && (size_t)(loc - below) < STEP_WORDS;
}

/*
 * Control left @frame without a return.  Should that be a wrong guess (two stacks that look like
 * one), the function must still return where it was called from.
 */
static void frame_abandon(struct ftr_thread *self, struct ftr_frame *frame)
{
	if (frame->is_begun && frame->kind == FTR_FRAME_RETURN && self->hook != 0 &&
	    *frame->loc == self->hook)
		*frame->loc = frame->ret;
	ftr_frame_close(self, frame);
}

void ftr_frames_abandon(struct ftr_thread *self, const struct ftr_frame *until,
			const uintptr_t *loc, bool is_reused)
{
	enum stack stack = stack_of(self, loc);
	struct ftr_frame *frame, *last = NULL;

	if (stack == STACK_OTHER && !is_one_stack(self, until, loc))
		return;
	for (frame = self->top - 1; frame > until; frame--) {
		bool is_here = frame->loc != NULL && stack_of(self, frame->loc) == stack;

		if (frame->loc != NULL && !is_here && stack == STACK_OTHER)
			break; /* what lies below may be on any stack, of memory long given back */
		if (!is_here)
			continue;
		if (frame->loc > loc || (frame->loc == loc && !is_reused))
			break;
		last = frame;
	}
	for (frame = self->top - 1; last != NULL && frame >= last; frame--) {
		if (frame->loc != NULL && stack_of(self, frame->loc) == stack)
			frame_abandon(self, frame);
	}
	frames_trim(self);
}

/*
 * --estimate-return, where no return address tells of a call's end: has the call of @frame
 * returned, now that another begins at @loc?  It has when that is not below it, or when its return
 * address is overwritten.
 */
static bool has_returned(const struct ftr_thread *self, const struct ftr_frame *frame,
			 const uintptr_t *loc)
{
	bool both_home = ftr_frame_is_home(self, loc) && ftr_frame_is_home(self, frame->loc);

	if (frame->kind == FTR_FRAME_CYGPROF)	/* tells of its end, unless it was left by a jump */
		return both_home && frame->loc < loc;
	return frame->loc <= loc || (both_home && *frame->loc != frame->ret);
}

static void frames_end_estimate(struct ftr_thread *self, const uintptr_t *loc)
{
	struct ftr_frame *frame;

	for (frame = self->top - 1; frame >= self->frames; frame--) {
		if (frame->loc == NULL)
			continue;
		if (!has_returned(self, frame, loc))
			break;
		ftr_frame_close(self, frame);
	}
}

void ftr_frames_end(void)
{
	struct ftr_thread *self = &ftr_self;

	if (self->estimate_end != NULL)
		frames_end_estimate(self, __builtin_frame_address(0));
}

/*
 * No frame at hand (the thread's first call, or one not to be recorded, or returns are estimated),
 * or one that may be gone.
 */
static __attribute__((noinline, cold)) struct ftr_frame *frame_claim_slow(struct ftr_thread *self,
									 const uintptr_t *loc,
									 bool is_reused)
{
	if (self->frames == NULL && !self->is_refused &&
	    atomic_load_explicit(&ftr_state.arming, memory_order_relaxed) == FTR_ARMED)
		ftr_thread_attach(self);
	if (self->estimate_end != NULL)
		return NULL;
	if (self->frames != NULL && self->top[-1].loc <= loc)
		ftr_frames_abandon(self, self->frames - 1, loc, is_reused);
	if (self->top < self->frames_end)
		return self->top;
	self->skipped++;
	return NULL;
}

/*
 * A frame like the one on top may be a tail call's, which uses its caller's slot, or the top one is
 * gone: a return slot then holds an address that is not our stub.
 */
static inline struct ftr_frame *frame_claim(struct ftr_thread *self, const uintptr_t *loc,
					    enum ftr_frame_kind kind)
{
	struct ftr_frame *frame;

	if (unlikely(!ftr_arch_is_relocated(ftr_self)))
		return NULL;	/* an instrumented IFUNC resolver: there is no ftr_self yet */
	frame = self->top;
	if (unlikely(frame >= self->frames_end || frame[-1].loc <= loc)) {
		frame = frame_claim_slow(self, loc,
					 kind == FTR_FRAME_RETURN && *loc != self->hook);
		if (frame == NULL)
			return NULL;
	}
	self->top = frame + 1;
	atomic_signal_fence(memory_order_seq_cst);
	return frame;
}

/*
 * A handler that comes between claiming and filling sees an empty frame on top, and may use it or
 * give it back with its own; so the rest is filled in when it is not empty any more.
 */
static inline void frame_fill(struct ftr_thread *self, struct ftr_frame *frame, uintptr_t *loc,
			      uintptr_t ret, uintptr_t func, enum ftr_frame_kind kind)
{
	frame->loc = loc;
	atomic_signal_fence(memory_order_seq_cst);
	frame->ret = ret;
	frame->func = func;
	frame->kind = kind;
	atomic_signal_fence(memory_order_seq_cst);
	self->top = frame + 1;
}

static inline void frame_begin(struct ftr_thread *self, struct ftr_frame *frame, bool is_known)
{
	if (unlikely(!is_known && !ftr_module_is_known(self, frame->func)))
		ftr_module_check(self, frame->func);
	record_put(self, frame, frame->func, FTR_RECORD_ENTRY);
	atomic_signal_fence(memory_order_seq_cst);
	frame->is_begun = true;
}

/* --estimate-return: a frame, after those that have returned were closed. */
static struct ftr_frame *frame_claim_estimate(struct ftr_thread *self, const uintptr_t *loc)
{
	struct ftr_frame *frame;

	frames_end_estimate(self, loc);
	frame = self->top;
	if (frame >= self->estimate_end) {
		self->skipped++;
		return NULL;
	}
	self->top = frame + 1;
	atomic_signal_fence(memory_order_seq_cst);
	return frame;
}

bool ftr_frame_open(uintptr_t *loc, uintptr_t func, enum ftr_frame_kind kind)
{
	struct ftr_thread *self = &ftr_self;
	struct ftr_frame *frame = frame_claim(self, loc, kind);

	if (frame == NULL && ftr_arch_is_relocated(ftr_self) && self->estimate_end != NULL)
		frame = frame_claim_estimate(self, loc);
	if (frame == NULL)
		return false;
	frame_fill(self, frame, loc, 0, func, kind);
	frame_begin(self, frame, false);
	return true;
}

/* Did a handler that is about to make the call at @loc interrupt this thread's enter_estimate? */
static bool is_interrupting(const struct ftr_thread *self, const uintptr_t *loc)
{
	return self->estimating_at != NULL &&
	       (loc < self->estimating_at || !ftr_frame_is_home(self, loc));
}

/*
 * --estimate-return: the same as enter, but for the return address.  Nothing tells when a handler's
 * last call ends, so that one that interrupts us must leave no frame: its calls are recorded as
 * points in time.
 */
static __attribute__((noinline, cold)) void enter_estimate(struct ftr_thread *self, uintptr_t *slot,
							   uintptr_t child_ip)
{
	struct ftr_frame *frame;

	if (!ftr_module_is_known(self, child_ip))
		ftr_module_check(self, child_ip);
	if (is_interrupting(self, slot)) {
		record_put(self, self->top, child_ip, FTR_RECORD_ENTRY);
		record_put(self, self->top, child_ip, FTR_RECORD_EXIT);
		return;
	}
	self->estimating_at = __builtin_frame_address(0);
	atomic_signal_fence(memory_order_seq_cst);
	frame = frame_claim_estimate(self, slot);
	if (frame != NULL) {
		frame_fill(self, frame, slot, *slot, child_ip, FTR_FRAME_RETURN);
		frame_begin(self, frame, true);
	}
	atomic_signal_fence(memory_order_seq_cst);
	self->estimating_at = NULL;
}

/* One screen: what every call of a traced function costs. */
static inline void enter(uintptr_t *slot, uintptr_t child_ip, bool is_known)
{
	struct ftr_thread *self = &ftr_self;
	struct ftr_frame *frame = frame_claim(self, slot, FTR_FRAME_RETURN);

	if (unlikely(frame == NULL)) {
		if (ftr_arch_is_relocated(ftr_self) && self->estimate_end != NULL)
			enter_estimate(self, slot, child_ip);
		return;
	}
	frame_fill(self, frame, slot, *slot, child_ip, FTR_FRAME_RETURN);
	*slot = self->hook;
	frame_begin(self, frame, is_known);
}

void ftr_enter_known(uintptr_t *slot, uintptr_t addr)
{
	enter(slot, addr, true);
}

/* Here, so that it is one function with enter. */
uintptr_t ftr_plt_enter(uint64_t n, uintptr_t *slot)
{
	const struct ftr_plt_call *call = &ftr_state.plt.calls[n];

	if (likely(call->flags == 0))
		enter(slot, call->addr, true);
	else
		ftr_plt_enter_special(call, slot);
	return call->target;
}

void ftr_enter_fentry(uintptr_t *slot, uintptr_t child_ip, uintptr_t chain)
{
	enter(slot + ftr_arch_fentry_pushed(slot, child_ip, chain), child_ip, false);
}

void ftr_enter_mcount(uintptr_t *slot, uintptr_t child_ip)
{
	enter(ftr_arch_return_slot(slot, child_ip), child_ip, false);
}

/*
 * A coroutine that began on another thread returns on this one: the frame is in the shadow stack
 * whose stub still stands in the slot.  Frames are never given back to the system, so this is safe
 * also when that thread has ended; frames of a coroutine that is not running are touched by nobody
 * else.
 */
static uintptr_t leave_elsewhere(struct ftr_thread *self, uintptr_t *slot)
{
	uint32_t stub = (uint32_t)((*slot - (uintptr_t)ftr_return_stubs) / FTR_STUB_BYTES);
	struct ftr_slot *other = atomic_load(&ftr_state.slots);
	struct ftr_frame *frame;

	for (; other != NULL; other = other->next) {
		if (other == self->slot || other->stub != (stub == FTR_STUB_SHARED ? 0 : stub))
			continue;
		for (frame = other->frames; ftr_slot_used(other, frame); frame++) {
			if (frame->loc == slot && frame->kind == FTR_FRAME_RETURN) {
				frame->is_begun = false;
				frame->loc = NULL;
				return frame->ret;
			}
		}
	}
	__builtin_trap();	/* the return address is gone: nothing true is left to do */
}

/*
 * The top frame is not the one that returns: those above it were abandoned, or live on another
 * stack. What cannot be told apart is kept: losing a live frame would lose a return address.
 */
static __attribute__((noinline, cold)) uintptr_t leave_slow(struct ftr_thread *self,
							    uintptr_t *slot)
{
	struct ftr_frame *frame;
	uintptr_t ret;

	for (frame = self->top - 1; self->frames != NULL && frame >= self->frames; frame--) {
		if (frame->loc == slot && frame->kind == FTR_FRAME_RETURN) {
			ftr_frames_abandon(self, frame, slot, false);
			ret = frame->ret;
			ftr_frame_close(self, frame);
			return ret;
		}
	}
	return leave_elsewhere(self, slot);
}

static inline uintptr_t frame_pop(struct ftr_thread *self)
{
	struct ftr_frame *frame = self->top - 1;
	uintptr_t ret = frame->ret;

	frame->is_begun = false;
	atomic_signal_fence(memory_order_seq_cst);
	record_put(self, frame, frame->func, FTR_RECORD_EXIT);
	frame->loc = NULL;	/* a free frame is empty: see frame_fill */
	atomic_signal_fence(memory_order_seq_cst);
	self->top = frame;	/* from here on a handler may use the frame */
	return ret;
}

uintptr_t ftr_leave(uintptr_t *slot)
{
	struct ftr_thread *self = &ftr_self;

	if (unlikely(self->top[-1].loc != slot))
		return leave_slow(self, slot);
	return frame_pop(self);
}

bool ftr_frame_pop(uintptr_t func, enum ftr_frame_kind kind)
{
	struct ftr_thread *self = &ftr_self;
	const struct ftr_frame *frame = &self->top[-1];

	if (unlikely(self->top == self->frames || frame->func != func || frame->kind != kind))
		return false;
	frame_pop(self);
	return true;
}

void ftr_frame_returned(const uintptr_t *slot)
{
	struct ftr_thread *self = &ftr_self;

	if (self->top[-1].loc == slot && self->top[-1].kind == FTR_FRAME_CYGPROF)
		frame_pop(self);
}

void ftr_point(uintptr_t *loc, uintptr_t func)
{
	if (ftr_frame_open(loc, func, FTR_FRAME_CYGPROF))
		ftr_frame_pop(func, FTR_FRAME_CYGPROF);
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
}

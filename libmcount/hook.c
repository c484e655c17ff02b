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
#include "arch/regs.h"
#include "libmcount/clock.h"
#include "libmcount/frame.h"
#include "libmcount/gated.h"
#include "libmcount/lean.h"
#include "libmcount/leave.h"
#include "libmcount/module.h"
#include "libmcount/probe_plt.h"
#include "libmcount/returns.h"
#include "libmcount/stacks.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"
#if !FTR_ARCH_SLOT_STAYS
#include "arch/prologues.h"
#endif

/* What stands below an empty shadow stack: above every stack, so it ends all searches. */
static const struct ftr_frame nothing = { .loc = (uintptr_t *)UINTPTR_MAX };

__thread struct ftr_thread ftr_self = { .top = (struct ftr_frame *)&nothing + 1 };
const struct ftr_thread ftr_thread_none = { .top = (struct ftr_frame *)&nothing + 1 };

static __attribute__((noinline)) uint64_t record_put(struct ftr_thread *self,
						     const struct ftr_frame *frame, uintptr_t func,
						     enum ftr_record_type type)
{
	return record_put_word(self, record_word(self, frame, func, type));
}

/*
 * --estimate-return, where no stub reports the end of a call: has the call of @frame returned, now
 * that another begins at @loc?  It has when that is not below it, or when its return address is
 * overwritten.
 */
static bool has_returned(const struct ftr_thread *self, const struct ftr_frame *frame,
			 const uintptr_t *loc)
{
	bool both_home = ftr_frame_is_home(self, loc) && ftr_frame_is_home(self, frame->loc);

	if (frame->kind == FTR_FRAME_CYGPROF)	/* reports its end, unless it was left by a jump */
		return both_home && frame->loc < loc;
	return frame->loc <= loc ||
	       (FTR_ARCH_SLOT_STAYS && both_home && *frame->loc != frame->ret);
}

static void frames_end_estimate(struct ftr_thread *self, const uintptr_t *loc)
{
	struct ftr_frame *frame;

	if (self->estimate_end == NULL)
		return;
	for (frame = self->top - 1; frame >= self->frames; frame--) {
		if (frame->loc == NULL || ftr_frame_is_busy(frame->loc))
			continue;
		if (!has_returned(self, frame, loc))
			break;
		ftr_frame_close(self, frame);
	}
}

void ftr_frames_end(void)
{
	struct ftr_thread *self = &ftr_self;

	frames_end_estimate(self, __builtin_frame_address(0));
}

/*
 * No frame at hand (the thread's first call, or one not to be recorded), or one that may be gone.
 * NULL where returns are estimated, or rules say what is recorded: those take frames themselves.
 */
static __attribute__((noinline, cold)) struct ftr_frame *frame_claim_slow(struct ftr_thread *self,
									 uintptr_t *loc,
									 bool is_reused)
{
	if (self->frames == NULL && !self->is_refused &&
	    atomic_load_explicit(&ftr_state.arming, memory_order_relaxed) == FTR_ARMED)
		ftr_thread_attach(self);
	if (self->estimate_end != NULL)
		return NULL;
	if (self->frames != NULL && self->top[-1].loc <= loc)
		ftr_frames_abandon(self, self->frames - 1, loc, is_reused);
	if (self->frames != NULL && (uintptr_t)self->top[-1].loc <= (uintptr_t)loc &&
	    self->top[-1].loc != loc) {
		self->halving_low = FTR_HALVING_NEVER;
		ftr_stacks_begin(self, loc);
	}
	if (self->gate_end != NULL || self->stacks_end != NULL)
		return NULL;
	return ftr_frame_take_slow(self, self->frames_end, loc);
}

/*
 * The frame at hand.  NULL: there is none, see frame_claim_slow, or it is a tail call's, which uses
 * its caller's slot, or the top one is gone: a return slot then holds an address that is not our
 * stub.
 */
static inline struct ftr_frame *frame_claim(struct ftr_thread *self, uintptr_t *loc)
{
	struct ftr_frame *frame = self->top;

	if (likely(frame < self->frames_end && frame[-1].loc > loc && frame_take(self, frame, loc)))
		return frame;
	return NULL;
}

static __attribute__((noinline, cold)) void entry_put_slow(struct ftr_thread *self,
							   struct ftr_frame *frame, uint64_t pos,
							   uint64_t word)
{
	struct ftr_spared spared = ftr_arch_spare();

	ftr_ring_put_slow(self, pos, word);
	frame_begun(frame, frame->kind, ftr_clock_ticks());
	ftr_arch_give_back(&spared);
}

static __attribute__((noinline, cold)) void frame_begin_elsewhere(struct ftr_thread *self,
								  struct ftr_frame *frame,
								  uintptr_t func)
{
	struct ftr_spared spared = ftr_arch_spare();

	ftr_module_check(self, func);
	frame_begun(frame, frame->kind, record_put(self, frame, func, FTR_RECORD_ENTRY));
	ftr_arch_give_back(&spared);
}

/* The last thing of a hook: it leaves by jumps alone, and so has no registers to save. */
static inline void frame_begin(struct ftr_thread *self, struct ftr_frame *frame, uintptr_t func,
			       enum ftr_frame_kind kind, bool is_known)
{
	struct ftr_producer *producer = self->producer;
	uint64_t word, pos;

	if (unlikely(!is_known && !ftr_module_is_known(self, func))) {
		frame_begin_elsewhere(self, frame, func);
		return;
	}
	word = record_word(self, frame, func, FTR_RECORD_ENTRY);
	pos = ftr_arch_local_add(&producer->head, sizeof(struct ftr_record));
	if (unlikely(pos >= producer->limit))
		entry_put_slow(self, frame, pos, word);
	else
		frame_begun(frame, kind, record_write(producer, pos, word));
}

/* Do rules say which calls of this thread are recorded?  Not while it is paused. */
static bool is_gated(const struct ftr_thread *self)
{
	return self->gate != NULL && (self->gate_end != NULL || self->estimate_end != NULL);
}

/* With stacks: the same as frame_claim. */
static struct ftr_frame *frame_claim_stacks(struct ftr_thread *self, uintptr_t *loc)
{
	return ftr_frame_take_slow(self, self->stacks_end, loc);
}

/* --estimate-return: a frame, after those that have returned were closed. */
static struct ftr_frame *frame_claim_estimate(struct ftr_thread *self, uintptr_t *loc)
{
	frames_end_estimate(self, loc);
	return ftr_frame_take_slow(self, self->estimate_end, loc);
}

static inline void frame_open_for(struct ftr_thread *self, struct ftr_frame *frame, uintptr_t *loc,
				  uintptr_t func, enum ftr_frame_kind kind)
{
	frame_fill(frame, 0, func, kind);
	frame_open(frame, loc);
	frame_begin(self, frame, func, kind, false);
}

static __attribute__((noinline, cold)) bool frame_open_slow(struct ftr_thread *self, uintptr_t *loc,
							   uintptr_t func, enum ftr_frame_kind kind,
							   uintptr_t site)
{
	struct ftr_frame *frame = frame_claim_slow(self, loc, false);

	if (frame == NULL && is_gated(self)) {
		frames_end_estimate(self, loc);
		return ftr_gated_begin(self, &(struct ftr_gated_call){ loc, func, kind, site,
								       NULL });
	}
	if (frame == NULL && self->estimate_end != NULL)
		frame = frame_claim_estimate(self, loc);
	if (frame == NULL && self->stacks_end != NULL)
		frame = frame_claim_stacks(self, loc);
	if (frame == NULL)
		return false;
	if (self->stacks_end != NULL)
		ftr_stacks_note(self, loc, FTR_STACK_SHARE, 0);
	frame_open_for(self, frame, loc, func, kind);
	return true;
}

static __attribute__((noinline, cold)) void enter_cygprof_slow(struct ftr_thread *self,
							       uintptr_t *loc, uintptr_t func,
							       uintptr_t site)
{
	if (self->is_departed)
		ftr_frames_departed(self, loc);
	if (frame_open_slow(self, loc, func, FTR_FRAME_CYGPROF, site))
		self->uncounted = 0;	/* those before were jumped out of */
	else
		self->uncounted++;
}

void ftr_enter_cygprof(uintptr_t *loc, uintptr_t func, uintptr_t site)
{
	struct ftr_thread *self;
	struct ftr_frame *frame;

	if (unlikely(!ftr_arch_locate(self, ftr_self)))
		return;		/* as in enter */
	frame = likely(self->cygprof_rare == 0) ? frame_claim(self, loc) : NULL;
	if (unlikely(frame == NULL))
		enter_cygprof_slow(self, loc, func, site);
	else
		frame_open_for(self, frame, loc, func, FTR_FRAME_CYGPROF);
}

bool ftr_frame_open(uintptr_t *loc, uintptr_t func, enum ftr_frame_kind kind)
{
	struct ftr_thread *self;
	struct ftr_frame *frame;

	if (unlikely(!ftr_arch_locate(self, ftr_self)))
		return false;	/* as in enter */
	frame = frame_claim(self, loc);
	if (unlikely(frame == NULL))
		return frame_open_slow(self, loc, func, kind, *loc);
	frame_open_for(self, frame, loc, func, kind);
	return true;
}

/* Did a handler that is about to make the call at @loc interrupt this thread's enter_estimate? */
static bool is_interrupting(const struct ftr_thread *self, const uintptr_t *loc)
{
	return self->estimating_at != NULL &&
	       (loc < self->estimating_at || !ftr_frame_is_home(self, loc));
}

/*
 * --estimate-return: the same as enter, but for the return address.  There is no event at the
 * end of a handler's last call, so a handler that interrupts us must leave no frame: its calls are
 * recorded as points in time.
 */
static __attribute__((noinline, cold)) void enter_estimate(struct ftr_thread *self, uintptr_t *slot,
							   uintptr_t child_ip,
							   const struct ftr_regs *regs)
{
	const uintptr_t *sp = ftr_arch_caller_sp(slot, *slot);
	struct ftr_frame *frame;

	if (!ftr_module_is_known(self, child_ip))
		ftr_module_check(self, child_ip);
	if (is_interrupting(self, slot)) {
		if (self->gate != NULL)
			return;
		record_put(self, self->top, child_ip, FTR_RECORD_ENTRY);
		record_put(self, self->top, child_ip, FTR_RECORD_EXIT);
		return;
	}
	self->estimating_at = __builtin_frame_address(0);
	atomic_signal_fence(memory_order_seq_cst);
	if (sp != slot)
		frames_end_estimate(self, sp - 1);
	if (self->gate != NULL) {
		frames_end_estimate(self, slot);
		ftr_gated_begin(self, &(struct ftr_gated_call){ slot, child_ip, FTR_FRAME_RETURN, 0,
								regs });
	} else if ((frame = frame_claim_estimate(self, slot)) != NULL) {
		frame_fill(frame, *slot, child_ip, FTR_FRAME_RETURN);
		frame_open(frame, slot);
		frame_begin(self, frame, child_ip, FTR_FRAME_RETURN, true);
	}
	atomic_signal_fence(memory_order_seq_cst);
	self->estimating_at = NULL;
}

static inline void enter_frame(struct ftr_thread *self, struct ftr_frame *frame, uintptr_t *slot,
			       uintptr_t child_ip, bool is_known)
{
	frame_fill(frame, *slot, child_ip, FTR_FRAME_RETURN);
	*slot = self->stub;	/* not hook: a handler that interrupts us may begin stacks */
	atomic_signal_fence(memory_order_seq_cst);
	frame_open(frame, slot);	/* last: who takes it for left puts the slot right */
	frame_begin(self, frame, child_ip, FTR_FRAME_RETURN, is_known);
}

/* A thread whose coroutines take turns: the same as enter, and on which stack it is. */
static __attribute__((noinline)) void enter_stacks(struct ftr_thread *self, uintptr_t *slot,
						   uintptr_t child_ip, bool is_known)
{
	struct ftr_frame *frame = frame_claim_stacks(self, slot);

	if (frame == NULL)
		return;
	frame_fill(frame, *slot, child_ip, FTR_FRAME_RETURN);
	*slot = self->stub;
	atomic_signal_fence(memory_order_seq_cst);
	frame_open(frame, slot);
	ftr_stacks_note(self, slot,
			ftr_is_stub(frame->ret) ? FTR_STACK_SHARE : FTR_STACK_ENTRY, 0);
	frame_begin(self, frame, child_ip, FTR_FRAME_RETURN, is_known);
}

static __attribute__((noinline, cold)) void enter_slow(struct ftr_thread *self, uintptr_t *slot,
						      uintptr_t child_ip, bool is_known,
						      const struct ftr_regs *regs)
{
	struct ftr_frame *frame = frame_claim_slow(self, slot, *slot != self->stub);

	if (frame != NULL)
		enter_frame(self, frame, slot, child_ip, is_known);
	else if (self->gate_end != NULL)
		ftr_gated_begin(self, &(struct ftr_gated_call){ slot, child_ip, FTR_FRAME_RETURN, 0,
								regs });
	else if (self->estimate_end != NULL)
		enter_estimate(self, slot, child_ip, regs);
	else if (self->stacks_end != NULL)
		enter_stacks(self, slot, child_ip, is_known);
}

/*
 * Where no return address lies between two stacks, one that is an array at the end of a function's
 * frame begins where that function's caller ends: its first call and the function have one name.
 * Which of them returns nobody could tell, so the first call, which no call instruction made, is
 * recorded as a point.
 */
static __attribute__((noinline)) bool is_name_taken(const struct ftr_thread *self,
						    const uintptr_t *slot)
{
	const struct ftr_frame *frame;

	if (self->slot == NULL || ftr_is_stub(*slot) || ftr_arch_is_call(*slot))
		return false;
	for (frame = self->top - 1; frame >= self->frames; frame--) {
		if (ftr_frame_is_at(frame, slot))
			return true;
	}
	return ftr_return_find_of(self->slot, slot).ret != 0;
}

/* Nothing was left, and only rules stand between the call and its frame? */
static __attribute__((noinline)) void enter_gated_slow(struct ftr_thread *self, uintptr_t *slot,
						  uintptr_t child_ip, bool is_known,
						  const struct ftr_regs *regs)
{
	struct ftr_spared spared = ftr_arch_spare();

	if (!FTR_ARCH_SLOT_STAYS && is_name_taken(self, slot))
		ftr_point(slot, child_ip);
	else if (self->gate_end != NULL && self->top[-1].loc > slot)
		ftr_gated_begin(self, &(struct ftr_gated_call){ slot, child_ip, FTR_FRAME_RETURN, 0,
								regs });
	else
		enter_slow(self, slot, child_ip, is_known, regs);
	ftr_arch_give_back(&spared);
}

static __attribute__((noinline)) void enter_gated(struct ftr_thread *self, uintptr_t *slot,
						  uintptr_t child_ip, bool is_known,
						  const struct ftr_regs *regs)
{
	if (unlikely(!lean_begin(self, slot, child_ip, regs)))
		enter_gated_slow(self, slot, child_ip, is_known, regs);
}

/*
 * One screen: what every call of a traced function costs.  All slow ways are jumps that do not come
 * back, so no register is saved for them; they keep the spared ones themselves.
 */
static inline void enter(uintptr_t *slot, uintptr_t child_ip, bool is_known,
			 const struct ftr_regs *regs)
{
	struct ftr_thread *self;
	struct ftr_frame *frame;

	if (unlikely(!ftr_arch_locate(self, ftr_self)))
		return;		/* an instrumented IFUNC resolver: there is no ftr_self yet */
	frame = frame_claim(self, slot);
	if (unlikely(frame == NULL))
		enter_gated(self, slot, child_ip, is_known, regs);
	else
		enter_frame(self, frame, slot, child_ip, is_known);
}

void ftr_enter_known(uintptr_t *slot, uintptr_t addr)
{
	enter(slot, addr, true, NULL);
}

/* Here, so that it is one function with enter. */
uintptr_t ftr_plt_enter(uintptr_t n, uintptr_t *slot, const struct ftr_regs *regs)
{
	const struct ftr_plt_call *call = &ftr_state.plt.calls[n];

	if (likely(call->flags == 0))
		enter(slot, call->addr, true, regs);
	else
		ftr_plt_enter_special(call, slot);
	return call->target;
}

void ftr_enter_fentry(uintptr_t *slot, uintptr_t child_ip, const struct ftr_regs *regs,
		      uintptr_t chain)
{
	enter(slot + ftr_arch_fentry_pushed(slot, child_ip, chain), child_ip, false, regs);
}

void ftr_enter_mcount(uintptr_t *slot, uintptr_t child_ip, const struct ftr_regs *regs)
{
	enter(ftr_arch_return_slot(slot, child_ip), child_ip, false, regs);
}

#if !FTR_ARCH_SLOT_STAYS
#define SIGNATURE_BITS 16

/* The return address, and what names the call, of a function behind its prologue. */
struct behind {
	uintptr_t *home;
	uintptr_t *loc;
	enum ftr_prologue_sign sign;
};

static inline struct behind behind_of(uintptr_t *record, uint64_t said)
{
	char *loc = (char *)record + (said >> FTR_PROLOGUES_SHIFT);

	return (struct behind){ record + 1, (uintptr_t *)loc, said & FTR_PROLOGUES_SIGN };
}

static inline uintptr_t behind_ret(const struct behind *call)
{
	return *call->home << SIGNATURE_BITS >> SIGNATURE_BITS;
}

/* Signed as the function has signed the one it was entered with. */
static inline void behind_return_to(const struct behind *call, uintptr_t ret)
{
	*call->home = likely(call->sign == FTR_SIGN_NONE) ? ret :
		      ftr_arch_sign(ret, call->sign == FTR_SIGN_B, (uintptr_t)(call->loc + 1));
}

/*
 * For the time of the hook the frame's last word holds the return address, as at other entries:
 * what the function keeps there, a register of its caller's or nothing yet, is put back.
 */
static __attribute__((noinline)) void enter_behind_slow(uintptr_t *record, uintptr_t child_ip,
							uint64_t said)
{
	const struct behind call = behind_of(record, said);
	uintptr_t ret = behind_ret(&call), kept = *call.loc, hooked;

	*call.loc = ret;
	atomic_signal_fence(memory_order_seq_cst);
	ftr_enter_mcount(call.loc, child_ip, NULL);
	atomic_signal_fence(memory_order_seq_cst);
	hooked = *call.loc;
	*call.loc = kept;
	if (hooked != ret)
		behind_return_to(&call, hooked);
}

/* As enter, which asks nothing of the word that names a call when it is as most are. */
void ftr_enter_behind(uintptr_t *record, uintptr_t child_ip, uint64_t said)
{
	struct ftr_thread *self;
	const struct behind call = behind_of(record, said);
	struct ftr_frame *frame;

	if (unlikely(!ftr_arch_locate(self, ftr_self)))
		return;		/* as in enter */
	frame = frame_claim(self, call.loc);
	if (unlikely(frame == NULL)) {
		enter_behind_slow(record, child_ip, said);
		return;
	}
	frame_fill(frame, behind_ret(&call), child_ip, FTR_FRAME_RETURN);
	behind_return_to(&call, self->stub);	/* as in enter_frame */
	atomic_signal_fence(memory_order_seq_cst);
	frame_open(frame, call.loc);
	frame_begin(self, frame, child_ip, FTR_FRAME_RETURN, false);
}
#endif

static __attribute__((noinline, cold)) uintptr_t exit_put_slow(struct ftr_thread *self,
							      struct ftr_frame *frame, uint64_t pos,
							      uint64_t word)
{
	struct ftr_spared spared = ftr_arch_spare();
	uintptr_t ret;

	ftr_ring_put_slow(self, pos, word);
	ret = frame_drop(self, frame);
	ftr_arch_give_back(&spared);
	return ret;
}

/* The end of the call of @frame, busy and on top; see frame_begin. */
static inline uintptr_t frame_pop(struct ftr_thread *self, struct ftr_frame *frame)
{
	struct ftr_producer *producer = self->producer;
	uint64_t word = record_word(self, frame, frame->func, FTR_RECORD_EXIT), pos;

	frame->is_begun = false;
	atomic_signal_fence(memory_order_seq_cst);
	pos = ftr_arch_local_add(&producer->head, sizeof(struct ftr_record));
	if (unlikely(pos >= producer->limit))
		return exit_put_slow(self, frame, pos, word);
	record_write(producer, pos, word);
	return frame_drop(self, frame);
}

static __attribute__((noinline)) uintptr_t leave_gated_slow(struct ftr_thread *self, uintptr_t *loc,
							    const struct ftr_regs *regs)
{
	struct ftr_spared spared = ftr_arch_spare();
	uintptr_t ret = 0;

	if (self->gate != NULL)
		ret = ftr_gated_leave(self, loc, regs);
	else if (self->stacks_end != NULL)
		ret = ftr_leave_top(self, loc);
	if (unlikely(ret == 0))
		ret = ftr_leave_slow(self, loc);
	ftr_arch_give_back(&spared);
	return ret;
}

static __attribute__((noinline)) uintptr_t leave_gated(struct ftr_thread *self, uintptr_t *loc,
						       const struct ftr_regs *regs)
{
	uintptr_t ret = lean_leave(self, loc, regs);

	return likely(ret != 0) ? ret : leave_gated_slow(self, loc, regs);
}

uintptr_t ftr_leave(uintptr_t *loc, const struct ftr_regs *regs)
{
	struct ftr_thread *self = &ftr_self;
	struct ftr_frame *frame = self->top - 1;

	if (unlikely(*loc != self->hook || !frame_seize(frame, loc)))
		return leave_gated(self, loc, regs);
	return frame_pop(self, frame);
}

void ftr_leave_cygprof(uintptr_t func, const uintptr_t *cfa)
{
	struct ftr_thread *self;
	struct ftr_frame *frame;
	uintptr_t *loc;

	if (unlikely(!ftr_arch_locate(self, ftr_self)))
		return;
	frame = self->top - 1;
	loc = frame->loc;
	if (unlikely(self->cygprof_rare != 0 || self->gate != NULL || self->stacks != NULL ||
		     frame->func != func ||
		     frame->kind != FTR_FRAME_CYGPROF || loc == NULL ||
		     ftr_frame_is_busy(loc) || !frame_seize(frame, loc)))
		ftr_leave_cygprof_slow(func, cfa);
	else
		frame_pop(self, frame);
}

/* The same for a thread with a gate, or with stacks, or without. */
static inline void frame_pop_any(struct ftr_thread *self, struct ftr_frame *frame)
{
	if (likely(self->gate == NULL && self->stacks == NULL))
		frame_pop(self, frame);
	else
		ftr_leave_frame(self, frame);
}

bool ftr_frame_pop(uintptr_t func, enum ftr_frame_kind kind)
{
	struct ftr_thread *self = &ftr_self;
	struct ftr_frame *frame = self->top - 1;
	uintptr_t *loc = frame->loc;

	if (unlikely(frame < self->frames || frame->func != func || frame->kind != kind ||
		     loc == NULL || ftr_frame_is_busy(loc) || !frame_seize(frame, loc)))
		return false;
	frame_pop_any(self, frame);
	return true;
}

void ftr_frame_returned(const uintptr_t *slot)
{
	struct ftr_thread *self = &ftr_self;
	struct ftr_frame *frame = self->top - 1;

	if (frame->loc == slot && frame->kind == FTR_FRAME_CYGPROF && frame_seize(frame, slot))
		frame_pop_any(self, frame);
}

void ftr_point(uintptr_t *loc, uintptr_t func)
{
	if (ftr_frame_open(loc, func, FTR_FRAME_CYGPROF))
		ftr_frame_pop(func, FTR_FRAME_CYGPROF);
}

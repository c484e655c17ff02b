/* SPDX-License-Identifier: MIT */
/*
 * The common ways through the gate (included by the hook alone): calls of functions of which the
 * rules say nothing of their own, of a thread of one stack, when nothing else is to be done.  What
 * is decided here is what gated.c decides, with fewer questions; when one has another answer than
 * the usual, nothing is done, and gated.c takes the call.
 */
#ifndef FTR_LIBMCOUNT_LEAN_H
#define FTR_LIBMCOUNT_LEAN_H

#include "arch/regs.h"
#include "libmcount/frame.h"
#include "libmcount/gated.h"
#include "libmcount/values_brief.h"

/* A call that begins. */
struct lean_call {
	uintptr_t *slot;
	uintptr_t func;
};

/* What a call becomes here. */
enum lean_way {
	LEAN_NO,			/* another's: nothing has been done */
	LEAN_PASSES,
	LEAN_KEEPS,			/* as what -N names: not recorded, nor what it calls */
	LEAN_RECORDED,
	LEAN_WAITS,
};

/* Does rule or depth let nothing through that a caller with @before calls, and has no rule? */
static inline bool lean_passes(const struct ftr_gate *gate, const struct ftr_gate_state *before)
{
	return before->depth == 0 ||
	       (before->inside == 0 && (gate->flags & FTR_CALLS_OPT_IN) != 0) ||
	       atomic_load_explicit(&ftr_state.tracing, memory_order_relaxed) != FTR_TRACING_ON;
}

/* Of functions with rules those that nothing but notrace is said of. */
static inline enum lean_way lean_decide_rule(uint64_t known)
{
	const struct ftr_call_rule *rule = (const struct ftr_call_rule *)(uintptr_t)
		(known & ~(FTR_GATE_ARGUMENTS | FTR_GATE_RETVAL));

	return rule->flags == FTR_CALL_NOTRACE ? LEAN_KEEPS : LEAN_NO;
}

/* @captures: FTR_GATE_ARGUMENTS, FTR_GATE_RETVAL. */
static inline enum lean_way lean_decide(const struct ftr_thread *self,
					const struct ftr_gate_frame *caller, uintptr_t func,
					uint64_t *captures)
{
	struct ftr_gate *gate = self->gate;
	const struct ftr_gate_known *known = ftr_gate_known_at(gate, func);
	uint64_t rule = known->rule;

	if (unlikely(!ftr_gate_has_rules(gate)))
		return LEAN_NO;		/* what the caller left to it is no longer true */
	if ((caller->after.inside & FTR_CALL_NOTRACE) != 0)
		return LEAN_PASSES;
	if (unlikely((known->check ^ rule) != func ||
		     gate->module_generation !=
			     atomic_load_explicit(&ftr_state.module_generation,
						  memory_order_relaxed)))
		return LEAN_NO;
	if (unlikely((rule & ~(FTR_GATE_ARGUMENTS | FTR_GATE_RETVAL)) != 0))
		return lean_decide_rule(rule);
	*captures = rule;
	if (lean_passes(gate, &caller->after))
		return LEAN_PASSES;
	if (unlikely(self->producer->limit == 0))
		return LEAN_NO;		/* another clock, or a forked child */
	if (caller->after.time != 0)
		return likely(rule == 0) ? LEAN_WAITS : LEAN_NO;
	return likely(!gate->has_waited) ? LEAN_RECORDED : LEAN_NO;
}

/* A busy frame becomes open, and its call comes back to us. */
static inline void lean_open(const struct ftr_thread *self, struct ftr_gate_frame *gated,
			     struct ftr_frame *frame, const struct lean_call *call,
			     uint64_t captures)
{
	const struct ftr_gate_state *before = &gated[-1].after;

	gated->after.time = before->time;
	gated->after.depth = before->depth - (before->depth != FTR_GATE_DEEP);
	gated->after.recorded = before->recorded + 1;
	gated->after.size_min = before->size_min;
	gated->after.inside = before->inside;
	gated->extras = (captures & FTR_GATE_RETVAL) != 0 ? FTR_GATE_EXTRA_RETVAL : 0;
	atomic_signal_fence(memory_order_seq_cst);
	gated->status = FTR_GATE_UNRECORDED;
	frame_fill(frame, *call->slot, call->func, FTR_FRAME_RETURN);
	*call->slot = self->stub;
	atomic_signal_fence(memory_order_seq_cst);
	frame_open(frame, call->slot);
}

/* See begin_kept of gated.c. */
static __attribute__((noinline)) void lean_keep(struct ftr_thread *self,
						struct ftr_gate_frame *gated,
						struct ftr_frame *frame,
						const struct lean_call *call)
{
	gated->after = gated[-1].after;
	gated->after.inside |= FTR_CALL_NOTRACE;
	gated->extras = 0;
	atomic_signal_fence(memory_order_seq_cst);
	gated->status = FTR_GATE_UNRECORDED;
	frame_fill(frame, *call->slot, call->func, FTR_FRAME_RETURN);
	*call->slot = self->stub;
	atomic_signal_fence(memory_order_seq_cst);
	frame_open(frame, call->slot);
	frame->state = ftr_frame_waiting(FTR_FRAME_RETURN, ++self->gate->tick);
}

static __attribute__((noinline, cold)) void lean_caller_put(struct ftr_thread *self,
							   struct ftr_frame *frame)
{
	struct ftr_spared spared = ftr_arch_spare();

	ftr_gated_put_waiting(self, frame);
	ftr_arch_give_back(&spared);
}

/* See begin_waiting of gated.c. */
static inline void lean_wait(struct ftr_thread *self, struct ftr_frame *frame,
			     struct ftr_gate_frame *gated)
{
	const struct ftr_gate_frame *caller = gated - 1;
	uint64_t tick = ftr_arch_ticks();

	gated->tick = tick;
	self->gate->tick = tick;
	self->gate->has_waited = true;
	atomic_signal_fence(memory_order_seq_cst);
	gated->status = FTR_GATE_WAITS;
	ftr_arch_local_cas(&frame->state, FTR_FRAME_RETURN,
			   ftr_frame_waiting(FTR_FRAME_RETURN, tick));
	if (unlikely(caller->status == FTR_GATE_WAITS && tick - caller->tick >= caller->after.time))
		lean_caller_put(self, frame - 1);
}

static inline uint64_t lean_word(const struct ftr_gate_frame *gated, const struct ftr_frame *frame,
				 enum ftr_record_type type)
{
	return record_word_at(gated->after.recorded - 1, frame->func, type);
}

static inline void lean_begun(struct ftr_thread *self, struct ftr_frame *frame,
			      struct ftr_gate_frame *gated, uint64_t tick)
{
	atomic_signal_fence(memory_order_seq_cst);
	gated->status = FTR_GATE_BEGUN;
	self->gate->tick = tick;
	frame_begun(frame, FTR_FRAME_RETURN, tick);
}

/* The slow ways are jumps that do not come back, as those of the hook: they do all the rest. */
static __attribute__((noinline, cold)) void lean_begin_slow(struct ftr_thread *self,
							   struct ftr_frame *frame, uint64_t pos,
							   uint64_t word)
{
	struct ftr_spared spared = ftr_arch_spare();

	ftr_ring_put_slow(self, pos, word);
	lean_begun(self, frame, ftr_gate_frame(self, frame), ftr_clock_ticks());
	ftr_arch_give_back(&spared);
}

static inline void lean_record(struct ftr_thread *self, struct ftr_frame *frame,
			       struct ftr_gate_frame *gated)
{
	struct ftr_producer *producer = self->producer;
	uint64_t word = lean_word(gated, frame, FTR_RECORD_ENTRY);
	uint64_t pos = ftr_arch_local_add(&producer->head, sizeof(struct ftr_record));

	if (unlikely(pos >= producer->limit))
		lean_begin_slow(self, frame, pos, word);
	else
		lean_begun(self, frame, gated, record_write(producer, pos, word));
}

static __attribute__((noinline)) void lean_begin_others(struct ftr_thread *self,
							struct ftr_frame *frame,
							const struct ftr_regs *regs)
{
	struct ftr_spared spared = ftr_arch_spare();

	ftr_gated_begin_values(self, frame, regs);
	ftr_arch_give_back(&spared);
}

static inline void lean_record_words(struct ftr_thread *self, struct ftr_frame *frame,
				     const uint64_t *words, uint32_t bytes)
{
	struct ftr_gate_frame *gated = ftr_gate_frame(self, frame);
	uint64_t tick = ftr_arch_ticks();

	ftr_record_put_words(self, lean_word(gated, frame, FTR_RECORD_ENTRY), tick, words, bytes);
	lean_begun(self, frame, gated, tick);
}

/* A copy is of one function, whatever a handler has put there meanwhile; false: of another. */
static inline bool lean_programs(const struct ftr_thread *self, const struct ftr_frame *frame,
				 struct ftr_values_programs *programs)
{
	const struct ftr_gate_programs *slot = ftr_gate_programs_at(self->gate, frame->func);

	*programs = slot->programs;
	return slot->check == ftr_gate_programs_check(programs, frame->func);
}

/* With std::strings, and texts that are no literals. */
static __attribute__((noinline)) uint32_t lean_brief(const struct ftr_thread *self,
						     const struct ftr_frame *frame,
						     const struct ftr_regs *regs, bool is_exit,
						     uint64_t *words)
{
	const struct ftr_call call = {
		.regs = regs,
		.slot = (const uintptr_t *)((uintptr_t)frame->loc & ~(uintptr_t)FTR_FRAME_BUSY),
		.func = frame->func,
	};
	struct ftr_values_programs programs;
	uint64_t brief;

	if (unlikely(!lean_programs(self, frame, &programs)))
		return 0;
	brief = is_exit ? programs.quick.exit : programs.quick.entry;
	return brief != 0 ? ftr_values_run_brief(brief, &programs, &call, words) : 0;
}

/* The payload of the call of @frame to its room for it; 0: there is another way to make it. */
static inline uint32_t lean_values(const struct ftr_thread *self, const struct ftr_frame *frame,
				   const struct ftr_regs *regs, bool is_exit)
{
	struct ftr_values_quick quick = ftr_gate_quick(self->gate, frame->func);
	uint64_t brief = is_exit ? quick.exit : quick.entry;
	uint64_t *words = (uint64_t *)ftr_gate_payload(self, frame);
	uint32_t bytes;

	if (unlikely(brief == 0 || regs == NULL))
		return 0;
	if (ftr_brief_is_integers(brief))
		return ftr_brief_integers(brief, regs, words);
	bytes = ftr_brief_is_quick(brief) ? ftr_values_run_quick(brief, &quick, regs, words) : 0;
	return likely(bytes != 0) ? bytes : lean_brief(self, frame, regs, is_exit, words);
}

static __attribute__((noinline)) void lean_begin_values(struct ftr_thread *self,
							struct ftr_frame *frame,
							const struct ftr_regs *regs)
{
	uint32_t bytes = lean_values(self, frame, regs, false);

	if (likely(bytes != 0))
		lean_record_words(self, frame, (uint64_t *)ftr_gate_payload(self, frame), bytes);
	else
		lean_begin_others(self, frame, regs);
}

/* False: nothing has been done. */
static inline bool lean_begin(struct ftr_thread *self, uintptr_t *slot, uintptr_t func,
			      const struct ftr_regs *regs)
{
	const struct lean_call call = { slot, func };
	struct ftr_frame *frame = self->top;
	struct ftr_gate_frame *gated;
	uint64_t captures = 0;
	enum lean_way way;

	if (unlikely(frame >= self->gate_end || frame[-1].loc <= slot || self->is_mixed ||
		     self->stacks != NULL || !self->gate->is_plain))
		return false;
	gated = ftr_gate_frame(self, frame);
	if (unlikely(gated[-1].status == FTR_GATE_NONE))
		return false;
	way = lean_decide(self, gated - 1, func, &captures);
	if (way == LEAN_PASSES)
		return true;
	if (unlikely(way == LEAN_NO || !frame_take(self, frame, slot)))
		return false;
	if (way == LEAN_KEEPS) {
		lean_keep(self, gated, frame, &call);
		return true;
	}
	if (unlikely(captures != 0 &&
		     (uint64_t)(frame - self->frames) >= self->gate->payload_nr))
		captures = 0;		/* as deep as this nothing has room for values */
	lean_open(self, gated, frame, &call, captures);
	if ((captures & FTR_GATE_RETVAL) != 0)
		ftr_gate_result_keep(self, frame, slot, regs);
	if (way == LEAN_WAITS)
		lean_wait(self, frame, gated);
	else if ((captures & FTR_GATE_ARGUMENTS) != 0)
		lean_begin_values(self, frame, regs);
	else
		lean_record(self, frame, gated);
	return true;
}

/* The frame, busy and on top, has said what there was to say. */
static inline uintptr_t lean_drop(struct ftr_thread *self, struct ftr_frame *frame,
				  struct ftr_gate_frame *gated)
{
	atomic_signal_fence(memory_order_seq_cst);
	gated->status = FTR_GATE_NONE;
	return frame_drop(self, frame);
}

static __attribute__((noinline, cold)) uintptr_t lean_end_slow(struct ftr_thread *self,
							      struct ftr_frame *frame, uint64_t pos,
							      uint64_t word)
{
	struct ftr_spared spared = ftr_arch_spare();
	uintptr_t ret;

	ftr_ring_put_slow(self, pos, word);
	ret = lean_drop(self, frame, ftr_gate_frame(self, frame));
	ftr_arch_give_back(&spared);
	return ret;
}

static __attribute__((noinline)) uintptr_t lean_end_others(struct ftr_thread *self,
							   struct ftr_frame *frame,
							   const struct ftr_regs *regs)
{
	struct ftr_spared spared = ftr_arch_spare();
	uintptr_t ret;

	ftr_gated_exit(self, frame, regs);
	ret = frame_drop(self, frame);
	ftr_arch_give_back(&spared);
	return ret;
}

/* With nothing but a value to be recorded, of a call that has begun. */
static __attribute__((noinline)) uintptr_t lean_end_value(struct ftr_thread *self,
							  struct ftr_frame *frame,
							  const struct ftr_regs *regs)
{
	struct ftr_gate_frame *gated = ftr_gate_frame(self, frame);
	uint64_t tick = ftr_arch_ticks();
	uint32_t bytes = lean_values(self, frame, regs, true);

	if (unlikely(bytes == 0))
		return lean_end_others(self, frame, regs);
	frame->is_begun = false;	/* first: who jumps out of here is not to put it again */
	atomic_signal_fence(memory_order_seq_cst);
	ftr_record_put_words(self, lean_word(gated, frame, FTR_RECORD_EXIT), tick,
			     (uint64_t *)ftr_gate_payload(self, frame), bytes);
	return lean_drop(self, frame, gated);
}

static inline uintptr_t lean_end_waiting(struct ftr_thread *self, struct ftr_frame *frame,
					 struct ftr_gate_frame *gated, const struct ftr_regs *regs)
{
	if (likely(ftr_arch_ticks() - gated->tick < gated->after.time) &&
	    ftr_arch_local_cas(&gated->status, FTR_GATE_WAITS, FTR_GATE_NONE))
		return frame_drop(self, frame);
	return lean_end_others(self, frame, regs);
}

static inline uintptr_t lean_end_begun(struct ftr_thread *self, struct ftr_frame *frame,
				       struct ftr_gate_frame *gated)
{
	struct ftr_producer *producer = self->producer;
	uint64_t word = lean_word(gated, frame, FTR_RECORD_EXIT), pos;

	frame->is_begun = false;
	atomic_signal_fence(memory_order_seq_cst);
	pos = ftr_arch_local_add(&producer->head, sizeof(struct ftr_record));
	if (unlikely(pos >= producer->limit))
		return lean_end_slow(self, frame, pos, word);
	record_write(producer, pos, word);
	return lean_drop(self, frame, gated);
}

/* The end of the call of @frame, which is busy; answers with where it returns to. */
static inline uintptr_t lean_end(struct ftr_thread *self, struct ftr_frame *frame,
				 const struct ftr_regs *regs)
{
	struct ftr_gate_frame *gated = ftr_gate_frame(self, frame);
	bool has_begun = gated->status == FTR_GATE_BEGUN && frame->is_begun;

	if (unlikely(self->producer->limit == 0))
		return lean_end_others(self, frame, regs);
	if (likely(gated->extras == 0 && has_begun))
		return lean_end_begun(self, frame, gated);
	if (gated->extras == 0 && gated->status == FTR_GATE_WAITS)
		return lean_end_waiting(self, frame, gated, regs);
	if (gated->extras == 0 && gated->status == FTR_GATE_UNRECORDED)
		return lean_drop(self, frame, gated);
	if (gated->extras == FTR_GATE_EXTRA_RETVAL && has_begun)
		return lean_end_value(self, frame, regs);
	return lean_end_others(self, frame, regs);
}

/* Where the call of @loc returns to; 0: nothing has been done. */
static inline uintptr_t lean_leave(struct ftr_thread *self, uintptr_t *loc,
				   const struct ftr_regs *regs)
{
	struct ftr_frame *frame = self->top - 1;
	const struct ftr_gate *gate = self->gate;

	if (unlikely(gate == NULL || !gate->is_plain || gate->recovering != NULL ||
		     self->stacks != NULL || *loc != self->stub || !frame_seize(frame, loc)))
		return 0;
	return lean_end(self, frame, regs);
}

#endif /* FTR_LIBMCOUNT_LEAN_H */

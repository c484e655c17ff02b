/* SPDX-License-Identifier: MIT */
/* See gated.h.  Part of the hook: without libc. */
#include "libmcount/gated.h"

#include "libmcount/actions.h"
#include "libmcount/frame.h"
#include "libmcount/leave.h"
#include "libmcount/stacks.h"
#include "libmcount/state.h"
#include "libmcount/values_brief.h"

static_assert(FTR_VALUES_BRIEF_WORDS * sizeof(uint64_t) <= FTR_GATE_PAYLOAD,
	      "they fit into a frame's room");
#include "libmcount/watch.h"

/* Stacks other than the thread's own are taken to be no larger. */
#define STACK_WORDS (UINT64_C(1) << 20)

static bool is_one_stack(const struct ftr_thread *self, const uintptr_t *below,
			 const uintptr_t *above)
{
	return ftr_frame_is_home(self, below) == ftr_frame_is_home(self, above) &&
	       (uint64_t)(above - below) < STACK_WORDS;
}

/* The newest on the stack of @loc, as far as that is known. */
static __attribute__((noinline, cold)) const struct ftr_gate_state *
state_find_stack(const struct ftr_thread *self, const uintptr_t *loc)
{
	const struct ftr_frame *frame = self->top - 1;
	uintptr_t low, high;

	ftr_stacks_bounds(self, loc, &low, &high);
	for (; frame >= self->frames; frame--) {
		uintptr_t at = (uintptr_t)frame->loc & ~(uintptr_t)FTR_FRAME_BUSY;

		if (at >= low && at <= high && at >= (uintptr_t)loc &&
		    ftr_gate_is_open(self, frame))
			return &ftr_gate_frame(self, frame)->after;
	}
	return ftr_gate_start(self->gate);
}

/* Frames of several stacks: the newest on that of @loc, or else the newest of all. */
static __attribute__((noinline, cold)) const struct ftr_gate_state *
state_find(const struct ftr_thread *self, const uintptr_t *loc)
{
	const struct ftr_frame *frame, *any = NULL;

	for (frame = self->top - 1; frame >= self->frames; frame--) {
		if (!ftr_gate_is_open(self, frame))
			continue;
		if (!self->is_mixed || is_one_stack(self, loc, frame->loc))
			return &ftr_gate_frame(self, frame)->after;
		any = any != NULL ? any : frame;
	}
	return any != NULL ? &ftr_gate_frame(self, any)->after : ftr_gate_start(self->gate);
}

/* What the caller of a call at @loc left to it. */
static inline const struct ftr_gate_state *state_before(const struct ftr_thread *self,
							const uintptr_t *loc)
{
	const struct ftr_frame *frame = self->top - 1;

	if (likely(!self->is_mixed && self->stacks == NULL && ftr_gate_is_open(self, frame)))
		return &ftr_gate_frame(self, frame)->after;
	if (self->stacks != NULL && !ftr_thread_is_signal(self, loc))
		return state_find_stack(self, loc);
	return state_find(self, loc);
}

static uint64_t word_of(const struct ftr_gate_frame *gated, const struct ftr_frame *frame,
			enum ftr_record_type type)
{
	return record_word_at(gated->after.recorded - 1, frame->func, type);
}

/* Before a record of @frame; @time is that of the record, 0 = now. */
static inline void stack_note(struct ftr_thread *self, const struct ftr_frame *frame,
			      enum ftr_record_type type, uint64_t time)
{
	enum ftr_stack_use use = FTR_STACK_EXIT;

	if (likely(self->stacks == NULL))
		return;
	if (type == FTR_RECORD_ENTRY)
		use = frame->kind != FTR_FRAME_RETURN || ftr_is_stub(frame->ret) ? FTR_STACK_SHARE :
										    FTR_STACK_ENTRY;
	ftr_stacks_note(self, frame->loc, use, time);
}

/*
 * The ENTRY of @frame, of @tick, has been put: unless a handler has switched to a coroutine that
 * took the call for left, and another call has the frame.
 */
static void waiting_is_put(struct ftr_frame *frame, const uintptr_t *loc, uint64_t tick)
{
	enum ftr_frame_kind kind = frame->kind;
	uint64_t begun = ftr_frame_begun(kind, tick);

	if (!ftr_arch_local_cas(&frame->state, ftr_frame_waiting(kind, tick), begun) &&
	    frame->loc == loc)		/* of a hook that a handler interrupted */
		ftr_arch_local_cas(&frame->state, kind, begun);
}

/* The ENTRY of @frame, which waits; a handler in between may put it, or find it put. */
static void waiting_put(struct ftr_thread *self, struct ftr_frame *frame)
{
	struct ftr_gate_frame *gated = ftr_gate_frame(self, frame);
	const uintptr_t *loc = frame->loc;
	struct ftr_dated_record record = {
		.time = gated->tick,
		.word = word_of(gated, frame, FTR_RECORD_ENTRY),
		.payload_bytes = gated->payload_bytes,
		.claim = &gated->status,
		.claim_from = FTR_GATE_WAITS,
		.claim_to = FTR_GATE_BEGUN,
	};

	if (record.payload_bytes != 0)
		record.payload = ftr_gate_payload(self, frame);
	stack_note(self, frame, FTR_RECORD_ENTRY, record.time);
	ftr_record_put_dated(self, &record);
	waiting_is_put(frame, loc, record.time);
}

/* Callers first: those up to @until of which an ENTRY waits. */
static void callers_put(struct ftr_thread *self, const struct ftr_frame *until)
{
	struct ftr_frame *frame = (struct ftr_frame *)until;
	const struct ftr_gate_frame *gated;

	for (; frame >= self->frames; frame--) {
		gated = ftr_gate_frame(self, frame);
		if (ftr_gate_is_open(self, frame) && !self->is_mixed &&
		    (gated->after.recorded == 0 || gated->status == FTR_GATE_BEGUN))
			break;
	}
	for (frame++; frame <= until; frame++) {
		if (ftr_gate_is_open(self, frame) &&
		    ftr_gate_frame(self, frame)->status == FTR_GATE_WAITS)
			waiting_put(self, frame);
	}
}

static inline bool callers_may_wait(const struct ftr_thread *self, const struct ftr_frame *frame)
{
	return frame > self->frames && self->gate->has_waited &&
	       (self->is_mixed || ftr_gate_frame(self, frame - 1)->status != FTR_GATE_BEGUN);
}

/* Has a call that began at @tick taken so long by @now that it is recorded? */
static bool is_late(const struct ftr_thread *self, const struct ftr_gate_frame *gated, uint64_t now)
{
	if ((self->gate->flags & FTR_CALLS_CALLERS) != 0 && !gated->is_caller)
		return false;
	return now - gated->tick >= gated->after.time;
}

/* What a program makes of the call of @frame goes to the frame's room for it.  Its bytes. */
static uint32_t values_capture(struct ftr_thread *self, const struct ftr_frame *frame,
			       const struct ftr_regs *regs, bool is_exit)
{
	struct ftr_values_programs programs = ftr_gate_programs(self, frame->func);
	const struct ftr_value_op *program = is_exit ? programs.exit : programs.entry;
	struct ftr_call call = ftr_gate_call(frame, regs);

	if (program == NULL || regs == NULL)
		return 0;
	call.result = *ftr_gate_result(self, frame);
	return ftr_values_run(program, &programs, &call, ftr_gate_payload(self, frame));
}

/* A record of @frame at @time with what has been captured. */
static void values_put(struct ftr_thread *self, const struct ftr_frame *frame, uint64_t time,
		       enum ftr_record_type type, uint32_t bytes)
{
	const struct ftr_dated_record record = {
		.time = time,
		.word = word_of(ftr_gate_frame(self, frame), frame, type),
		.payload = bytes != 0 ? ftr_gate_payload(self, frame) : NULL,
		.payload_bytes = bytes,
	};

	stack_note(self, frame, type, time);
	ftr_record_put_dated(self, &record);
	ftr_stall_report(self);
}

/*
 * A record of @frame with its values, the brief ones without a stop in its room for them.  An EXIT
 * is of @time, an ENTRY of the time when they have been taken, which is the answer.
 */
static uint64_t values_record(struct ftr_thread *self, const struct ftr_frame *frame,
			      const struct ftr_regs *regs, enum ftr_record_type type, uint64_t time)
{
	struct ftr_values_programs programs = ftr_gate_programs(self, frame->func);
	uint64_t brief = type == FTR_RECORD_EXIT ? programs.quick.exit : programs.quick.entry;
	uint64_t *words = (uint64_t *)ftr_gate_payload(self, frame);
	struct ftr_call call = ftr_gate_call(frame, regs);
	uint32_t bytes = 0;

	if (likely(brief != 0 && regs != NULL))
		bytes = ftr_values_run_brief(brief, &programs, &call, words);
	if (likely(bytes != 0)) {
		time = type == FTR_RECORD_EXIT ? time : ftr_clock_read();
		stack_note(self, frame, type, time);
		ftr_record_put_words(self, word_of(ftr_gate_frame(self, frame), frame, type), time,
				     words, bytes);
		return time;
	}
	bytes = values_capture(self, frame, regs, type == FTR_RECORD_EXIT);
	time = type == FTR_RECORD_EXIT ? time : ftr_clock_read();
	values_put(self, frame, time, type, bytes);
	return time;
}

static void begin_waiting(struct ftr_thread *self, struct ftr_frame *frame,
			  const struct ftr_regs *regs)
{
	struct ftr_gate_frame *gated = ftr_gate_frame(self, frame);
	const struct ftr_gate_frame *caller = gated - 1;

	if (gated->has_arguments)
		gated->payload_bytes = values_capture(self, frame, regs, false);
	gated->tick = ftr_clock_read();
	self->gate->tick = gated->tick;
	self->gate->has_waited = true;
	gated->status = FTR_GATE_WAITS;
	/* It may be moved from here on.  A handler may have put its ENTRY already. */
	ftr_arch_local_cas(&frame->state, frame->kind, ftr_frame_waiting(frame->kind, gated->tick));
	if (unlikely(self->gate->has_watch))
		ftr_watch_look(self, frame);
	if (frame > self->frames && caller->status == FTR_GATE_WAITS &&
	    is_late(self, caller, gated->tick)) {
		callers_put(self, frame - 1);
		ftr_stall_report(self);
	}
}

static void begin_recorded(struct ftr_thread *self, struct ftr_frame *frame,
			   const struct ftr_gated_call *call)
{
	struct ftr_gate_frame *gated = ftr_gate_frame(self, frame);
	uint64_t tick;

	if (callers_may_wait(self, frame))
		callers_put(self, frame - 1);
	if (unlikely(gated->actions != 0))
		ftr_actions_before(self, frame, call->site);
	if (unlikely(gated->has_arguments)) {
		tick = values_record(self, frame, call->regs, FTR_RECORD_ENTRY, 0);
	} else {
		stack_note(self, frame, FTR_RECORD_ENTRY, 0);
		tick = record_put_word(self, word_of(gated, frame, FTR_RECORD_ENTRY));
	}
	atomic_signal_fence(memory_order_seq_cst);
	gated->status = FTR_GATE_BEGUN;
	self->gate->tick = tick;
	frame_begun(frame, frame->kind, tick);
	if (unlikely(gated->actions != 0))
		ftr_actions_begin(self, frame);
	if (unlikely(self->gate->has_watch))
		ftr_watch_look(self, frame);
}

void ftr_gated_begin_values(struct ftr_thread *self, struct ftr_frame *frame,
			    const struct ftr_regs *regs)
{
	struct ftr_gate_frame *gated = ftr_gate_frame(self, frame);
	uint64_t tick = values_record(self, frame, regs, FTR_RECORD_ENTRY, 0);

	atomic_signal_fence(memory_order_seq_cst);
	gated->status = FTR_GATE_BEGUN;
	self->gate->tick = tick;
	frame_begun(frame, frame->kind, tick);
}

void ftr_gated_put_waiting(struct ftr_thread *self, const struct ftr_frame *frame)
{
	if (!self->gate->has_waited)
		return;
	callers_put(self, frame);
	ftr_stall_report(self);
}

/*
 * Without a record: its place among others of the same return slot is right behind the newest.  The
 * clock is much faster than calls are.
 */
static void begin_kept(struct ftr_thread *self, struct ftr_frame *frame)
{
	frame->state = ftr_frame_waiting(frame->kind, ++self->gate->tick);
	if (unlikely(self->stacks != NULL))
		ftr_stacks_see(self, frame->loc);
}

static struct ftr_frame *frame_get(struct ftr_thread *self, uintptr_t *loc)
{
	struct ftr_frame *frame = self->top;
	const struct ftr_frame *end = self->estimate_end != NULL ? self->estimate_end :
								   self->gate_end;

	if (likely(frame < end && frame_take(self, frame, loc)))
		return frame;
	return ftr_frame_take_slow(self, end, loc);
}

/* A busy frame becomes open, and its call comes back to us. */
static void gated_open(struct ftr_thread *self, struct ftr_frame *frame,
		       const struct ftr_gated_call *call, const struct ftr_gate_passage *passage)
{
	struct ftr_gate_frame *gated = ftr_gate_frame(self, frame);
	const struct ftr_call asked = { .regs = call->regs, .slot = call->loc, .func = call->func };
	bool is_return = call->kind == FTR_FRAME_RETURN;
	bool has_room = (uint64_t)(frame - self->frames) < self->gate->payload_nr;

	gated->status = FTR_GATE_UNRECORDED;
	gated->after = passage->after;
	gated->is_caller = passage->is_caller;
	gated->has_arguments = passage->has_arguments && has_room;
	gated->has_retval = passage->has_retval && has_room;
	if (gated->has_retval)
		ftr_gate_result_keep(self, frame, call->loc, call->regs);
	gated->payload_bytes = 0;
	gated->actions = passage->actions;
	if (unlikely((passage->actions & (FTR_GATE_READ | FTR_GATE_DUMP)) != 0))
		ftr_actions_expect(self, frame, &asked, passage->reads);
	frame_fill(frame, is_return ? *call->loc : 0, call->func, call->kind);
	if (is_return && self->stub != 0)
		*call->loc = self->stub;
	atomic_signal_fence(memory_order_seq_cst);
	frame_open(frame, call->loc);
}

static bool gated_begin(struct ftr_thread *self, const struct ftr_gated_call *call,
			bool *asks_dump)
{
	const struct ftr_gate_state *before = state_before(self, call->loc);
	struct ftr_gate_passage passage;
	const struct ftr_call asked = { .regs = call->regs, .slot = call->loc, .func = call->func };
	enum ftr_gate_way way = ftr_gate_decide(self, before, &asked, &passage);
	struct ftr_frame *frame;

	*asks_dump = passage.asks_dump;
	if (way == FTR_GATE_PASS) {
		if (call->kind == FTR_FRAME_RETURN)
			return false;
		passage = (struct ftr_gate_passage){ .after = *before };
	}
	frame = frame_get(self, call->loc);
	if (frame == NULL)
		return false;
	gated_open(self, frame, call, &passage);
	if (unlikely((passage.actions & FTR_GATE_RECOVER) != 0))
		ftr_recover_begin(self, call->loc);
	if (way == FTR_GATE_RECORD)
		begin_recorded(self, frame, call);
	else if (way == FTR_GATE_WAIT)
		begin_waiting(self, frame, call->regs);
	else
		begin_kept(self, frame);
	return true;
}

/* A dump is asked for last: it has the ENTRY of the call that asks. */
bool ftr_gated_begin(struct ftr_thread *self, const struct ftr_gated_call *call)
{
	bool asks_dump, is_taken = gated_begin(self, call, &asks_dump);

	if (unlikely(asks_dump))
		ftr_gate_dump(self);
	return is_taken;
}

/* The call took long enough, or it did not happen. */
static void exit_waiting(struct ftr_thread *self, struct ftr_frame *frame,
			 const struct ftr_regs *regs)
{
	struct ftr_gate_frame *gated = ftr_gate_frame(self, frame);
	uint64_t tick = ftr_clock_read();
	uint32_t bytes = 0;

	if (!is_late(self, gated, tick) &&
	    ftr_arch_local_cas(&gated->status, FTR_GATE_WAITS, FTR_GATE_NONE))
		return;		/* else a handler has put its ENTRY, for that of a callee */
	if (callers_may_wait(self, frame))
		callers_put(self, frame - 1);
	waiting_put(self, frame);
	frame->is_begun = false;
	if (gated->has_retval)
		bytes = values_capture(self, frame, regs, true);
	values_put(self, frame, tick, FTR_RECORD_EXIT, bytes);
}

static inline void exit_begun(struct ftr_thread *self, struct ftr_frame *frame,
			      const struct ftr_regs *regs)
{
	struct ftr_gate_frame *gated = ftr_gate_frame(self, frame);

	frame->is_begun = false;	/* first: who jumps out of here is not to put it again */
	atomic_signal_fence(memory_order_seq_cst);
	if (likely(!gated->has_retval)) {
		stack_note(self, frame, FTR_RECORD_EXIT, 0);
		record_put_word(self, word_of(gated, frame, FTR_RECORD_EXIT));
		return;
	}
	values_record(self, frame, regs, FTR_RECORD_EXIT, ftr_clock_read());
}

void ftr_gated_exit(struct ftr_thread *self, struct ftr_frame *frame, const struct ftr_regs *regs)
{
	struct ftr_gate_frame *gated = ftr_gate_frame(self, frame);
	bool is_dump = false;

	if (unlikely(self->gate->has_watch))
		ftr_watch_look(self, frame);
	if (unlikely(gated->actions != 0))
		is_dump = ftr_actions_end(self, frame, regs);
	if (gated->status == FTR_GATE_BEGUN && frame->is_begun)
		exit_begun(self, frame, regs);
	else if (gated->status == FTR_GATE_WAITS)
		exit_waiting(self, frame, regs);
	if (unlikely(is_dump))
		ftr_gate_dump(self);
	atomic_signal_fence(memory_order_seq_cst);
	gated->status = FTR_GATE_NONE;
}

uintptr_t ftr_gated_leave(struct ftr_thread *self, uintptr_t *loc, const struct ftr_regs *regs)
{
	struct ftr_frame *frame = self->top - 1;

	if (*loc != self->stub || frame->loc != loc || !ftr_frame_may_return(self, frame) ||
	    !frame_seize(frame, loc))
		return 0;
	if (unlikely(self->gate->recovering == loc))
		ftr_recover_end(self, loc);
	ftr_gated_exit(self, frame, regs);
	return frame_drop(self, frame);
}

void ftr_gated_flush(struct ftr_thread *self)
{
	struct ftr_frame *frame;

	if (self->gate == NULL || (self->gate->flags & FTR_CALLS_CALLERS) != 0)
		return;		/* of callers it is known that they led nowhere */
	for (frame = self->frames; frame < self->top; frame++) {
		if (ftr_gate_is_open(self, frame) &&
		    ftr_gate_frame(self, frame)->status == FTR_GATE_WAITS)
			waiting_put(self, frame);
	}
	ftr_stall_report(self);
}

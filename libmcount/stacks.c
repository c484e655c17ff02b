/* SPDX-License-Identifier: MIT */
/*
 * See stacks.h.  Part of the hook: without libc.
 *
 * A handler may interrupt any of this and make calls itself: what it spoils is a number in the
 * trace.  doc/adr/0033
 */
#include "libmcount/stacks.h"

#include "libmcount/frame.h"
#include "libmcount/gate.h"
#include "libmcount/leave.h"
#include "libmcount/state.h"

/*
 * A call this far below the last one is still on its stack, one further away is on another: stacks
 * of coroutines lie apart by their size, the frames of one follow each other closely.
 */
#define NEAR_BYTES 8192u

static const uintptr_t *loc_of(const struct ftr_frame *frame)
{
	return (const uintptr_t *)((uintptr_t)frame->loc & ~(uintptr_t)FTR_FRAME_BUSY);
}

static bool covers(const struct ftr_stack_range *range, uintptr_t loc)
{
	return range->base >= loc && loc + NEAR_BYTES > range->low;
}

/* The number of the stack that @loc is on; 0 = none that is known. */
static uint32_t stack_find(const struct ftr_stacks *stacks, uintptr_t loc)
{
	uintptr_t base = UINTPTR_MAX;
	uint32_t i, found = 0;

	for (i = 0; i < stacks->used; i++) {
		if (covers(&stacks->range[i], loc) && stacks->range[i].base < base) {
			base = stacks->range[i].base;
			found = i + 1;
		}
	}
	return found;
}

/* The most frequent answer first. */
static uint32_t stack_find_again(const struct ftr_stacks *stacks, uintptr_t loc)
{
	uint32_t n = stacks->told;

	if (n - 1 < stacks->used && stacks->range[n - 1].base >= loc &&
	    loc >= stacks->range[n - 1].low)
		return n;
	return stack_find(stacks, loc);
}

/* Its memory is used by another coroutine now: the calls that were open there have no ends. */
static void stack_drop(struct ftr_thread *self, struct ftr_stack_range *range)
{
	struct ftr_frame *frame;

	for (frame = self->frames; frame < self->top; frame++) {
		if (frame->loc != NULL && (uintptr_t)loc_of(frame) <= range->base &&
		    (uintptr_t)loc_of(frame) + NEAR_BYTES > range->low)
			frame->is_begun = false;
	}
	range->base = 0;
}

/* A free one, or that of a coroutine that was dropped just below @loc, or one that is forgotten. */
static uint32_t stack_take(struct ftr_thread *self, uintptr_t loc)
{
	struct ftr_stacks *stacks = self->stacks;
	uint32_t i, free = 0;

	for (i = 0; i < stacks->used; i++) {
		if (stacks->range[i].base != 0 && loc - stacks->range[i].base < NEAR_BYTES)
			stack_drop(self, &stacks->range[i]);
		if (stacks->range[i].base == 0 && free == 0)
			free = i + 1;
	}
	if (free != 0)
		return free;
	if (stacks->used < stacks->max)
		return ++stacks->used;
	stacks->victim = (stacks->victim + 1) % stacks->max;
	return stacks->victim + 1;
}

static uint32_t stack_new(struct ftr_thread *self, uintptr_t loc)
{
	uint32_t n = stack_take(self, loc);

	self->stacks->range[n - 1] = (struct ftr_stack_range){ loc, loc };
	return n;
}

static void event_put(struct ftr_thread *self, uint64_t id, uint64_t time)
{
	struct ftr_dated_record record = {
		.time = time,
		.word = ftr_record_word(FTR_RECORD_EVENT, 0, id),
	};

	if (time == 0)
		record_put_word(self, record.word);
	else
		ftr_record_put_dated(self, &record);
}

/* The stack of a record at @loc, and whether it was not known. */
static uint32_t stack_of_record(struct ftr_thread *self, uintptr_t loc, enum ftr_stack_use use,
				bool *is_new)
{
	struct ftr_stacks *stacks = self->stacks;
	uint32_t n = stack_find_again(stacks, loc);

	if (n != 0 && use == FTR_STACK_ENTRY && stacks->range[n - 1].base == loc) {
		stack_drop(self, &stacks->range[n - 1]);
		n = 0;
	}
	*is_new = n == 0 && use != FTR_STACK_EXIT;
	if (*is_new)
		n = stack_new(self, loc);
	if (n != 0)
		stacks->range[n - 1].low = loc;
	return n;
}

void ftr_stacks_note(struct ftr_thread *self, const uintptr_t *loc, enum ftr_stack_use use,
		     uint64_t time)
{
	struct ftr_stacks *stacks = self->stacks;
	uintptr_t at = (uintptr_t)loc & ~(uintptr_t)FTR_FRAME_BUSY;
	bool is_new = false;
	uint32_t n = 0;

	if (ftr_thread_is_signal(self, (const uintptr_t *)at))
		return;		/* a handler's calls belong to what it interrupted */
	if (!ftr_frame_is_home(self, (const uintptr_t *)at)) {
		n = stack_of_record(self, at, use, &is_new);
		if (n == 0)
			return;		/* forgotten, or another thread's */
	}
	if (n != stacks->told || is_new) {
		stacks->told = n;
		event_put(self, ftr_record_stack_id(n, is_new, 0), time);
	}
	if (n != 0 && use == FTR_STACK_EXIT && stacks->range[n - 1].base == at)
		stacks->range[n - 1].base = 0;
}

void ftr_stacks_see(struct ftr_thread *self, const uintptr_t *loc)
{
	uint32_t n;

	if (ftr_thread_is_signal(self, loc) || ftr_frame_is_home(self, loc))
		return;
	n = stack_find_again(self->stacks, (uintptr_t)loc);
	if (n != 0)
		self->stacks->range[n - 1].low = (uintptr_t)loc;
}

void ftr_stacks_bounds(const struct ftr_thread *self, const uintptr_t *loc, uintptr_t *low,
		       uintptr_t *high)
{
	uint32_t n = 0;

	*low = self->home_low;
	*high = self->home_high;
	if (ftr_frame_is_home(self, loc))
		return;
	n = stack_find_again(self->stacks, (uintptr_t)loc);
	*low = n == 0 ? 0 : self->stacks->range[n - 1].low - NEAR_BYTES;
	*high = n == 0 ? UINTPTR_MAX : self->stacks->range[n - 1].base;
}

static bool is_recorded(const struct ftr_thread *self, const struct ftr_frame *frame)
{
	if (self->gate != NULL)
		return ftr_gate_frame(self, frame)->status == FTR_GATE_BEGUN;
	return frame->is_begun;
}

/*
 * The newest calls, from @frame down, that lie on one stack other than the thread's: it gets a
 * number, and the recorder is told that so many calls are not its caller's.  Returns the first
 * frame that is not one of them.
 */
static struct ftr_frame *stack_split(struct ftr_thread *self, struct ftr_frame *frame)
{
	uintptr_t low = (uintptr_t)loc_of(frame), base = low;
	uint32_t nr = 0, n;

	for (; frame >= self->frames; frame--) {
		const uintptr_t *loc = loc_of(frame);

		if (loc == NULL)
			continue;
		if (ftr_frame_is_home(self, loc) || ftr_thread_is_signal(self, loc) ||
		    (uintptr_t)loc - base >= NEAR_BYTES)
			break;
		base = (uintptr_t)loc;
		nr += is_recorded(self, frame);
	}
	n = stack_new(self, base);
	self->stacks->range[n - 1].low = low;
	if (nr > FTR_STACK_MOVED_MAX)
		nr = FTR_STACK_MOVED_MAX;
	if (nr != 0)
		event_put(self, ftr_record_stack_id(n, true, nr), 0);
	return frame;
}

/* Until now all calls seemed to be made by the one below them. */
static void stacks_split(struct ftr_thread *self)
{
	struct ftr_frame *frame = self->top - 1;

	while (frame >= self->frames) {
		const uintptr_t *loc = loc_of(frame);

		if (loc == NULL) {
			frame--;
			continue;
		}
		if (ftr_frame_is_home(self, loc) || ftr_thread_is_signal(self, loc))
			break;
		frame = stack_split(self, frame);
	}
}

/* Does the newest open call lie on another stack than @loc? */
static bool is_switched(const struct ftr_thread *self, const uintptr_t *loc)
{
	const struct ftr_frame *frame = self->top - 1;
	const uintptr_t *last;

	while (frame >= self->frames && frame->loc == NULL)
		frame--;
	if (frame < self->frames)
		return false;
	last = loc_of(frame);
	if (ftr_thread_is_signal(self, last) || ftr_thread_is_signal(self, loc))
		return false;
	if (ftr_frame_is_home(self, last) || ftr_frame_is_home(self, loc))
		return ftr_frame_is_home(self, last) != ftr_frame_is_home(self, loc);
	return (uintptr_t)loc - (uintptr_t)last >= NEAR_BYTES;
}

/* Has a thread taken all steps of stacks_start?  A handler may jump out between two of them. */
static bool has_stacks(const struct ftr_thread *self)
{
	return self->stacks != NULL && self->hook == 0;
}

/* Not of a thread that has them already, that is paused, or whose returns are estimated. */
static bool may_start(const struct ftr_thread *self)
{
	return self->slot != NULL && self->slot->stacks != NULL && !has_stacks(self) &&
	       self->stub != 0 && !self->is_refused && self->estimate_end == NULL &&
	       (self->frames_end != self->frames || self->gate_end != NULL ||
		self->stacks_end != NULL);
}

/*
 * A handler that interrupts this may do the same, or jump out: each step leaves what calls can go
 * on with, and none undoes what was done.
 */
static void stacks_start(struct ftr_thread *self)
{
	struct ftr_frame *end = self->frames_end;

	if (self->stacks == NULL) {
		*self->slot->stacks = (struct ftr_stacks){ .max = self->slot->stack_nr };
		atomic_signal_fence(memory_order_seq_cst);
		self->stacks = self->slot->stacks;
	}
	if (self->gate_end != NULL)
		return;
	atomic_signal_fence(memory_order_seq_cst);
	if (end != self->frames)	/* else a handler was first */
		self->stacks_end = end;
	atomic_signal_fence(memory_order_seq_cst);
	self->frames_end = self->frames;
	atomic_signal_fence(memory_order_seq_cst);
	self->hook = 0;
}

void ftr_stacks_begin(struct ftr_thread *self, const uintptr_t *loc)
{
	if (!may_start(self) || !is_switched(self, loc))
		return;
	stacks_start(self);
	stacks_split(self);
}

void ftr_stacks_expect(void)
{
	struct ftr_thread *self = &ftr_self;

	atomic_store_explicit(&ftr_state.has_stacks, true, memory_order_relaxed);
	if (may_start(self))
		stacks_start(self);
}

void ftr_stacks_attach(struct ftr_thread *self)
{
	if (atomic_load_explicit(&ftr_state.has_stacks, memory_order_relaxed) && may_start(self))
		stacks_start(self);
}

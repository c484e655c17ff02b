/* SPDX-License-Identifier: MIT */
/*
 * See backtrace.h.  Part of the hook: without libc.  The stack is copied, not unwound: that takes
 * tables, memory and time that only the recorder has.  The copy begins in our own frames, which
 * have call frame information, so that all ways into the hook are alike.  doc/adr/0093
 */
#include "libmcount/backtrace.h"

#include "arch/stack_regs.h"
#include "libmcount/hook.h"
#include "libmcount/values_known.h"
#include "utils/proto/stack_part.h"

#define WORD_BYTES ((uint32_t)sizeof(uint64_t))
#define STEPS_MAX 65536u		/* frames that are looked at for one stack */

struct part {
	struct ftr_stack_part head;
	union {
		struct ftr_stack_head stack;
		uint64_t words[FTR_STACK_PART_BYTES / sizeof(uint64_t)];
	};
};
static_assert(sizeof(struct part) == FTR_STACK_PART_PAYLOAD, "wire layout");

/* Along the frames of a stack, from the newest on, as its addresses grow. */
struct walk {
	const struct ftr_frame *frame;
	uintptr_t end;			/* of the stack; 0 = not known */
	uint32_t steps;
};

static uintptr_t place_of(const struct ftr_frame *frame)
{
	return (uintptr_t)frame->loc & ~(uintptr_t)FTR_FRAME_BUSY;
}

uintptr_t ftr_backtrace_site(const struct ftr_thread *self, const struct ftr_frame *frame)
{
	uintptr_t place = place_of(frame), site = frame->ret;

	while (ftr_is_stub(site) && frame-- > self->frames) {	/* a tail call, of which one */
		if (place_of(frame) == place)
			site = frame->ret;
	}
	return ftr_is_stub(site) ? 0 : site;
}

/*
 * The true return address at @address, where a stub stands; 0 = no frame is known there: it is a
 * dead one's, or another thread's.
 */
static uintptr_t return_find(const struct ftr_thread *self, struct walk *walk, uintptr_t address)
{
	const struct ftr_frame *frame;

	for (frame = walk->frame; frame >= self->frames && walk->steps < STEPS_MAX; frame--) {
		uintptr_t place = place_of(frame);

		walk->steps++;
		if (place == address) {
			walk->frame = frame;
			return ftr_backtrace_site(self, frame);
		}
		if (place > address && place < walk->end) {	/* and all before it are, too */
			walk->frame = frame;
			return 0;
		}
	}
	return 0;
}

static void returns_restore(const struct ftr_thread *self, struct walk *walk, struct part *part,
			    uintptr_t at, uint32_t bytes)
{
	uint32_t i;

	for (i = 0; i < bytes / WORD_BYTES; i++) {
		uintptr_t site;

		if (likely(!ftr_is_stub(part->words[i])))
			continue;
		site = return_find(self, walk, at + i * WORD_BYTES);
		if (site != 0)
			part->words[i] = site;
	}
}

static void part_put(struct ftr_thread *self, const struct part *part, uint32_t bytes)
{
	ftr_record_put_wanted(self,
			      ftr_record_word(FTR_RECORD_EVENT, 0, FTR_RECORD_EVENT_STACK_PART),
			      part, (uint32_t)sizeof(part->head) + bytes);
}

/* The words at @address, which are not believed to be there. */
static uint64_t word_at(const struct ftr_thread *self, uintptr_t address)
{
	uint64_t word = 0;

	ftr_values_copy(self, (uint8_t *)&word, (const uintptr_t *)address, address, sizeof(word));
	return word;
}

/*
 * Where the stack is that the handler interrupted on whose stack (sigaltstack) @part, of @address,
 * is; 0 = the kernel has not kept that here.
 */
static uintptr_t interrupted_find(const struct ftr_thread *self, const struct part *part,
				  uintptr_t address, uint32_t bytes)
{
	uint32_t i;

	if (address - self->signal_low >= self->signal_bytes)
		return 0;
	for (i = 0; i < bytes / WORD_BYTES; i++, address += WORD_BYTES) {
		if (part->words[i] == self->signal_low &&
		    word_at(self, address + FTR_ARCH_SIGALTSTACK_SIZE) == self->signal_bytes)
			return word_at(self, address + FTR_ARCH_INTERRUPTED_SP);
	}
	return 0;
}

/* Where the stack that @at is on ends; 0 = not known.  Arguments and environment are no frames. */
static uintptr_t stack_end(const struct ftr_thread *self, uintptr_t at)
{
	uintptr_t end = ftr_values_stack_end(self, (const uintptr_t *)at);

	if (at < ftr_state.main_stack && ftr_state.main_stack < end)
		end = ftr_state.main_stack;
	return end;
}

/* The stack from @at on; answers with where the one goes on that it interrupted, 0 = none. */
static uintptr_t stack_put(struct ftr_thread *self, struct part *part, struct walk *walk,
			   uintptr_t at)
{
	uint32_t left = FTR_STACK_BYTES_MAX, wanted, bytes;
	uintptr_t outer = 0;

	walk->end = stack_end(self, at);
	if (walk->end != 0 && walk->end - at < left)
		left = (uint32_t)(walk->end - at) & ~(WORD_BYTES - 1);
	part->head.flags = 0;
	do {
		wanted = left < FTR_STACK_PART_BYTES ? left : FTR_STACK_PART_BYTES;
		bytes = ftr_values_copy(self, (uint8_t *)part->words, (const uintptr_t *)at, at,
					wanted) & ~(WORD_BYTES - 1);
		returns_restore(self, walk, part, at, bytes);
		if (outer == 0)
			outer = interrupted_find(self, part, at, bytes);
		part_put(self, part, bytes);
		part->head.offset += bytes;
		left -= bytes;
		at += bytes;
	} while (left > 0 && bytes == wanted);
	return outer;
}

__attribute__((noinline)) void ftr_backtrace_put(struct ftr_thread *self,
						 const struct ftr_frame *frame,
						 uintptr_t site)
{
	struct part part = { .head = { .number = ++self->gate->stack_nr,
				       .flags = FTR_STACK_PART_HEAD } };
	struct walk walk = { .frame = self->top - 1 };
	uintptr_t outer;

	ftr_arch_stack_regs(part.stack.regs);
	part.stack.outside = place_of(frame) + sizeof(uintptr_t);
	part.stack.site = site;
	outer = part.stack.regs[FTR_STACK_SP];
	part_put(self, &part, sizeof(part.stack));
	outer = stack_put(self, &part, &walk, outer);
	if (outer != 0) {
		part.head.flags = FTR_STACK_PART_OUTER;
		part.words[0] = outer;
		part_put(self, &part, sizeof(part.words[0]));
		stack_put(self, &part, &walk, outer);
	}
	part.head.flags = FTR_STACK_PART_LAST;
	part_put(self, &part, 0);
}

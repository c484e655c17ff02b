/* SPDX-License-Identifier: MIT */
/* See interposed.h. */
#include "libmcount/interposed.h"

#include "libmcount/hook.h"
#include "libmcount/module.h"
#include "libmcount/real.h"
#include "libmcount/state.h"
#include "libmcount/unwinding.h"
#include "libmcount/values.h"
#include "utils/base/rt/sys.h"

FTR_EXPORT void *ftr_interposed_real(void *_Atomic *kept, const void *inside, const char *name)
{
	void *real = ftr_real_after(inside, name);

	atomic_store_explicit(kept, real, memory_order_release);
	return real;
}

FTR_EXPORT void *ftr_interposed_in_scope(const char *name, uintptr_t caller)
{
	return ftr_real_in_scope(name, caller);
}

static __attribute__((noinline)) bool is_interposer(uintptr_t address)
{
	for (uint32_t i = 0; i < ftr_state.interposer_nr; i++) {
		if (address >= ftr_state.interposers[i].low &&
		    address < ftr_state.interposers[i].high)
			return true;
	}
	return false;
}

/*
 * Is @frame that of the call whose return address is in @slot?  Where that is not what names the
 * call, it is the innermost one that has not ended: its name lies above.
 */
static bool is_called_by(const struct ftr_frame *frame, const uintptr_t *slot)
{
	return FTR_ARCH_SLOT_STAYS ? frame->loc == slot :
				     frame->loc >= slot && !ftr_frame_is_busy(frame->loc) &&
					     !ftr_is_stub(frame->ret);
}

/* The address that the call returns to; @slot holds it, or a stub. */
static uintptr_t caller_of(const struct ftr_thread *self, const uintptr_t *slot)
{
	const struct ftr_frame *frame = self->top;
	const struct ftr_interposer *hull = &ftr_state.interposers_hull;

	if (unlikely(*slot - hull->low < hull->high - hull->low) && self->interposed != NULL &&
	    is_interposer(*slot))
		slot = self->interposed;
	if (likely(!ftr_is_stub(*slot)))
		return *slot;
	while (frame-- > self->frames) {
		if (is_called_by(frame, slot))
			return frame->ret;
	}
	return *slot;
}

/* Is @caller in a module that the recorder knows of?  It reports one that it does not. */
static void module_check(struct ftr_thread *self, uintptr_t caller)
{
	uintptr_t low = self->module_low, bytes = self->module_bytes;
	uint32_t generation = self->module_generation;

	ftr_module_check(self, caller);
	self->caller_low = self->module_low;
	self->caller_bytes = self->module_bytes;
	self->caller_generation = self->module_generation;
	self->module_low = low;			/* of the last call, which the hook looks at */
	self->module_bytes = bytes;
	self->module_generation = generation;
}

/* Of an event with the values of proto/record.h: a unit where they fit. */
static void values_put(struct ftr_thread *self, uint64_t word, const uint64_t *values, unsigned nr)
{
	if (likely(nr == 3 && ftr_small_fits(values[0], values[1], values[2])))
		ftr_record_put_unit(self, word, ftr_small_pack(values[0], values[1], values[2],
							       FTR_SMALL_GIVEN_BYTES));
	else if (nr == 2 && ftr_small_fits(values[0], 0, values[1]))
		ftr_record_put_unit(self, word, ftr_small_pack(values[0], 0, values[1],
							       FTR_SMALL_FREED_BYTES));
	else
		ftr_record_put_wanted(self, word, values, nr * (uint32_t)sizeof(*values));
}

/* The value that is the caller's address, whose module the recorder is told of. */
static uintptr_t caller_value(struct ftr_thread *self, const uintptr_t *slot)
{
	uintptr_t caller = caller_of(self, slot);

	if (unlikely(caller - self->caller_low >= self->caller_bytes ||
		     self->caller_generation !=
			     atomic_load_explicit(&ftr_state.module_generation,
						  memory_order_relaxed)))
		module_check(self, caller);
	return caller;
}

static bool is_wanted(struct ftr_thread *self)
{
	return atomic_load_explicit(&ftr_state.tracing, memory_order_relaxed) == FTR_TRACING_ON &&
	       ftr_record_is_wanted(self);
}

FTR_EXPORT void ftr_interposed_put(uint32_t id, uint64_t *values, unsigned nr, unsigned caller_at,
				   const uintptr_t *slot)
{
	struct ftr_thread *self = &ftr_self;

	if (!is_wanted(self))
		return;
	if (likely(caller_at != FTR_INTERPOSED_NO_CALLER))
		values[caller_at] = caller_value(self, slot);
	values_put(self, ftr_record_word(FTR_RECORD_EVENT, 0, id), values, nr);
}

#define LENGTH_BYTES 2u
#define TEXT_ALIGN 4u
#define TEXTS_MAX 2u			/* of an event */

/* A text as payloads have it, with its length before it; returns its end. */
static uint8_t *text_put(uint8_t *to, const uintptr_t *slot, const char *text, uint32_t room)
{
	uint32_t len = ftr_values_text(&ftr_self, to + LENGTH_BYTES, slot, (uintptr_t)text, room);
	uint8_t *end = to + LENGTH_BYTES + len;

	to[0] = (uint8_t)len;
	to[1] = (uint8_t)(len >> 8);
	for (; (uintptr_t)(end - to) % TEXT_ALIGN != 0; end++)
		*end = 0;
	return end;
}

/* Once the thread is attached, which takes room on its stack, too. */
static __attribute__((noinline)) void texts_put(struct ftr_thread *self, uint32_t id,
						const uint64_t values[3],
						unsigned caller_at,
						const uintptr_t *slot,
						const char *const *texts, unsigned nr)
{
	struct {
		uint64_t values[3];
		uint8_t texts[FTR_INTERPOSED_TEXT_MAX + TEXTS_MAX * 2 * TEXT_ALIGN];
	} payload;
	uint8_t *end = payload.texts;

	payload.values[0] = values[0];
	payload.values[1] = values[1];
	payload.values[2] = values[2];
	if (caller_at != FTR_INTERPOSED_NO_CALLER)
		payload.values[caller_at] = caller_value(self, slot);
	for (unsigned i = 0; i < nr; i++)
		end = text_put(end, slot, texts[i], FTR_INTERPOSED_TEXT_MAX / nr);
	ftr_record_put_wanted(self, ftr_record_word(FTR_RECORD_EVENT, 0, id), &payload,
			      (uint32_t)(end - (uint8_t *)&payload));
}

FTR_EXPORT void ftr_interposed_put_texts(uint32_t id, const uint64_t values[3],
					 unsigned caller_at, const uintptr_t *slot,
					 const char *const *texts, unsigned text_nr)
{
	struct ftr_thread *self = &ftr_self;

	if (is_wanted(self))
		texts_put(self, id, values, caller_at, slot, texts, text_nr);
}

static __attribute__((noinline)) void name_put(struct ftr_thread *self, uint32_t id,
					       const uint64_t *values, unsigned nr,
					       const uintptr_t *slot, const char *name)
{
	union {
		uint64_t values[3];
		uint8_t bytes[3 * sizeof(uint64_t) + LENGTH_BYTES + FTR_INTERPOSED_NAME_MAX +
			      TEXT_ALIGN];
	} payload;
	uint8_t *text = payload.bytes + nr * sizeof(uint64_t);
	uint32_t len = 0;

	for (unsigned i = 0; i < nr; i++)
		payload.values[i] = i + 1 < nr ? values[i] : caller_value(self, slot);
	for (; name != NULL && name[len] != '\0' && len < FTR_INTERPOSED_NAME_MAX; len++)
		text[LENGTH_BYTES + len] = (uint8_t)name[len];
	text[0] = (uint8_t)len;
	text[1] = (uint8_t)(len >> 8);
	for (len += LENGTH_BYTES; len % TEXT_ALIGN != 0; len++)
		text[len] = 0;
	ftr_record_put_wanted(self, ftr_record_word(FTR_RECORD_EVENT, 0, id), &payload,
			      nr * (uint32_t)sizeof(uint64_t) + len);
}

void ftr_interposed_put_name(uint32_t id, const uint64_t *values, unsigned nr,
			     const uintptr_t *slot, const char *name)
{
	struct ftr_thread *self = &ftr_self;

	if (is_wanted(self))
		name_put(self, id, values, nr, slot, name);
}

FTR_EXPORT bool ftr_interposed_copy(void *to, const void *from, uint32_t bytes,
				    const uintptr_t *slot)
{
	struct ftr_thread *self = &ftr_self;

	return is_wanted(self) &&
	       ftr_values_copy(self, to, slot, (uintptr_t)from, bytes) == bytes;
}

FTR_EXPORT bool ftr_interposed_is_vforked(void)
{
	return ftr_thread_is_vforked(&ftr_self);
}

FTR_EXPORT void ftr_interposed_library(const void *low, const void *high)
{
	const struct ftr_interposer made = { (uintptr_t)low, (uintptr_t)high };
	struct ftr_interposer *hull = &ftr_state.interposers_hull;

	if (ftr_state.interposer_nr == FTR_INTERPOSERS_MAX)
		return;
	if (ftr_state.interposer_nr == 0)
		*hull = made;
	hull->low = made.low < hull->low ? made.low : hull->low;
	hull->high = made.high > hull->high ? made.high : hull->high;
	ftr_state.interposers[ftr_state.interposer_nr++] = made;
}

FTR_EXPORT const uintptr_t *ftr_interposed_swap(const uintptr_t *slot)
{
	const uintptr_t *before = ftr_self.interposed;

	ftr_self.interposed = slot;
	return before;
}

FTR_EXPORT bool ftr_interposed_is_nested(const uintptr_t *slot)
{
	return ftr_self.interposed != NULL && is_interposer(*slot);
}

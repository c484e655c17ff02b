/* SPDX-License-Identifier: MIT */
/* See interposed.h. */
#include "libmcount/interposed.h"

#include "libmcount/hook.h"
#include "libmcount/module.h"
#include "libmcount/real.h"
#include "libmcount/state.h"
#include "libmcount/unwinding.h"

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

/* The address that the call returns to; @slot holds it, or a stub. */
static uintptr_t caller_of(const struct ftr_thread *self, const uintptr_t *slot)
{
	const struct ftr_frame *frame = self->top;

	if (likely(!ftr_is_stub(*slot)))
		return *slot;
	while (frame-- > self->frames) {
		if (frame->loc == slot)
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

FTR_EXPORT void ftr_interposed_put(uint32_t id, uint64_t *values, unsigned nr, unsigned caller_at,
				   const uintptr_t *slot)
{
	struct ftr_thread *self = &ftr_self;

	if (atomic_load_explicit(&ftr_state.tracing, memory_order_relaxed) != FTR_TRACING_ON ||
	    !ftr_record_is_wanted(self))
		return;
	if (likely(caller_at != FTR_INTERPOSED_NO_CALLER))
		values[caller_at] = caller_value(self, slot);
	values_put(self, ftr_record_word(FTR_RECORD_EVENT, 0, id), values, nr);
}

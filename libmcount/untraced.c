/* SPDX-License-Identifier: MIT */
/* See untraced.h. */
#include "libmcount/untraced.h"

#include "libmcount/state.h"

/* Threads would get in each other's way if each counted each call where all do. */
#define COUNTED_AT_ONCE 256u

/* Rings stay mapped; what a forked child inherits of its parent's is wiped. */
static struct ftr_ring_header *header_find(void)
{
	const struct ftr_slot *slot = atomic_load(&ftr_state.slots);

	while (slot != NULL && slot->producer->header == NULL)
		slot = slot->next;
	return slot != NULL ? slot->producer->header : NULL;
}

bool ftr_untraced_begin(struct ftr_thread *self, enum ftr_untraced_cause cause)
{
	struct ftr_ring_header *header = header_find();

	if (header == NULL)
		return false;
	if (self->untraced == NULL)
		atomic_fetch_add_explicit(&header->untraced, 1, memory_order_relaxed);
	atomic_fetch_or_explicit(&header->untraced_causes, FTR_UNTRACED_BIT(cause),
				 memory_order_relaxed);
	self->untraced = header;
	return true;
}

void ftr_untraced_call(struct ftr_thread *self)
{
	uint64_t nr = 1;

	if (++self->untraced_calls > COUNTED_AT_ONCE) {
		nr = COUNTED_AT_ONCE;
		if (self->untraced_calls % COUNTED_AT_ONCE != 0)
			return;
	}
	atomic_fetch_add_explicit(&self->untraced->untraced_calls, nr, memory_order_relaxed);
}

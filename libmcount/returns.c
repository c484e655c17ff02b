/* SPDX-License-Identifier: MIT */
/* See returns.h.  Part of the hook: without libc. */
#include "libmcount/returns.h"

#include "libmcount/state.h"
#include "libmcount/thread.h"

static struct ftr_return *returns_of(const struct ftr_slot *slot, const uintptr_t *loc)
{
	uint64_t hash = ((uint64_t)loc >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	return slot->returns + (hash & (slot->return_nr - 1) & ~(uint64_t)(FTR_RETURN_WAYS - 1));
}

/* A handler in between may do the same: at worst an older entry is lost for it. */
void ftr_return_keep(const struct ftr_slot *slot, uintptr_t *loc, uintptr_t ret, uint64_t tick)
{
	struct ftr_return *set = returns_of(slot, loc);
	unsigned i = 0;

	while (i < FTR_RETURN_WAYS - 1 && set[i].loc != loc && set[i].loc != NULL)
		i++;
	for (; i > 0; i--)
		set[i] = set[i - 1];
	set[0] = (struct ftr_return){ loc, ret, tick << 16 };
}

static const struct ftr_return *return_find(const struct ftr_slot *slot, const uintptr_t *loc)
{
	const struct ftr_return *set = returns_of(slot, loc);
	unsigned i;

	for (i = 0; i < FTR_RETURN_WAYS; i++) {
		if (set[i].loc == loc)
			return &set[i];
	}
	return NULL;
}

uintptr_t ftr_return_find_of(const struct ftr_slot *slot, const uintptr_t *loc)
{
	const struct ftr_return *entry = return_find(slot, loc);

	return entry != NULL ? entry->ret : 0;
}

uintptr_t ftr_return_find(const uintptr_t *loc)
{
	const struct ftr_slot *slot = atomic_load(&ftr_state.slots);
	const struct ftr_return *entry, *last = NULL;

	for (; slot != NULL; slot = slot->next) {
		entry = return_find(slot, loc);
		if (entry != NULL && (last == NULL || (int64_t)(entry->tick - last->tick) > 0))
			last = entry;
	}
	return last != NULL ? last->ret : 0;
}

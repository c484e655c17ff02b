/* SPDX-License-Identifier: MIT */
/* See returns.h.  Part of the hook: without libc. */
#include "libmcount/returns.h"

#include "libmcount/frame.h"
#include "libmcount/state.h"

static struct ftr_return *returns_of(const struct ftr_slot *slot, const uintptr_t *loc)
{
	uint64_t hash = ((uint64_t)loc >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	return slot->returns + (hash & (slot->return_nr - 1) & ~(uint64_t)(FTR_RETURN_WAYS - 1));
}

/* That of @loc, or a free one, or the oldest; NULL: handlers interrupted the filling of each. */
static struct ftr_return *entry_for(struct ftr_return *set, const uintptr_t *loc)
{
	struct ftr_return *entry, *oldest = NULL, *end = set + FTR_RETURN_WAYS;

	for (entry = set; entry < end; entry++) {
		if (entry->loc == loc)
			return entry;
		if (ftr_frame_is_busy(entry->loc))
			continue;
		if (oldest == NULL || entry->loc == NULL ||
		    (oldest->loc != NULL && ftr_stamp_is_newer(oldest->stamp, entry->stamp)))
			oldest = entry;
	}
	return oldest;
}

void ftr_return_keep(const struct ftr_slot *slot, uintptr_t *loc, uintptr_t ret, uint64_t stamp)
{
	struct ftr_return *set = returns_of(slot, loc), *entry;
	uintptr_t *before;

	do {
		entry = entry_for(set, loc);
		if (entry == NULL)
			return;
		before = entry->loc;
		if (before == loc && ftr_stamp_is_newer(entry->stamp, stamp))
			return;
	} while (!ftr_arch_local_cas((uint64_t *)&entry->loc, (uint64_t)before,
				     (uint64_t)loc | FTR_FRAME_BUSY));
	atomic_thread_fence(memory_order_release);
	entry->ret = ret;
	entry->stamp = stamp;
	__atomic_store_n(&entry->loc, loc, __ATOMIC_RELEASE);
}

/* One state of it; false: it is not of @loc. */
static bool entry_look(const struct ftr_return *entry, const uintptr_t *loc,
		       struct ftr_return *copy)
{
	do {
		copy->loc = __atomic_load_n(&entry->loc, __ATOMIC_ACQUIRE);
		copy->ret = __atomic_load_n(&entry->ret, __ATOMIC_RELAXED);
		copy->stamp = __atomic_load_n(&entry->stamp, __ATOMIC_RELAXED);
		atomic_thread_fence(memory_order_acquire);
		if (copy->loc != loc || __atomic_load_n(&entry->loc, __ATOMIC_RELAXED) != loc)
			return false;
	} while (__atomic_load_n(&entry->stamp, __ATOMIC_RELAXED) != copy->stamp);
	return true;
}

struct ftr_return ftr_return_find_of(const struct ftr_slot *slot, const uintptr_t *loc)
{
	const struct ftr_return *set = returns_of(slot, loc);
	struct ftr_return copy, newest = { 0 };
	unsigned i;

	/* There are two where a handler kept one while another was about to be. */
	for (i = 0; i < FTR_RETURN_WAYS; i++) {
		if (entry_look(&set[i], loc, &copy) &&
		    (newest.ret == 0 || ftr_stamp_is_newer(copy.stamp, newest.stamp)))
			newest = copy;
	}
	return newest;
}

uintptr_t ftr_return_find(const uintptr_t *loc)
{
	const struct ftr_slot *slot = atomic_load(&ftr_state.slots);
	struct ftr_return entry, newest = { 0 };

	for (; slot != NULL; slot = slot->next) {
		entry = ftr_return_find_of(slot, loc);
		if (entry.ret != 0 &&
		    (newest.ret == 0 || ftr_stamp_is_newer(entry.stamp, newest.stamp)))
			newest = entry;
	}
	return newest.ret;
}

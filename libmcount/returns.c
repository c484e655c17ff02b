/* SPDX-License-Identifier: MIT */
/* See returns.h.  Part of the hook: without libc. */
#include "libmcount/returns.h"

#include "libmcount/frame.h"
#include "libmcount/state.h"

/*
 * A set for each place in each of the levels, [0, n), [n, 2n), [2n, 4n) ...: a level is looked at
 * where the sets of the place in those before it are full, so memory is touched when it is needed.
 */
#define LEVEL_BITS 8			/* levels but the first: the last one is half of all */

struct level {
	struct ftr_return *set;
	uint64_t at, nr;		/* where it begins, and its entries */
};

static struct ftr_return *set_in(const struct ftr_slot *slot, const struct level *level,
				 const uintptr_t *loc)
{
	uint64_t hash = ((uint64_t)(uintptr_t)loc >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	return slot->returns + level->at +
	       (hash & (level->nr - 1) & ~(uint64_t)(FTR_RETURN_WAYS - 1));
}

static struct level level_first(const struct ftr_slot *slot, const uintptr_t *loc)
{
	uint64_t nr = slot->return_nr >> LEVEL_BITS;
	struct level level = { .nr = nr < FTR_RETURN_WAYS ? FTR_RETURN_WAYS : nr };

	level.set = set_in(slot, &level, loc);
	return level;
}

/* False: there is none. */
static bool level_next(const struct ftr_slot *slot, struct level *level, const uintptr_t *loc)
{
	level->at += level->nr;
	level->nr = level->at;
	if (level->at + level->nr > slot->return_nr)
		return false;
	level->set = set_in(slot, level, loc);
	return true;
}

static struct ftr_return *entry_in(struct ftr_return *set, const uintptr_t *loc)
{
	unsigned i;

	for (i = 0; i < FTR_RETURN_WAYS; i++) {
		if (set[i].loc == loc)
			return &set[i];
	}
	return NULL;
}

/* That of @loc, or a free one; NULL: there is none. */
static struct ftr_return *entry_for(const struct ftr_slot *slot, const uintptr_t *loc)
{
	struct level level = level_first(slot, loc);
	struct ftr_return *entry, *free;

	do {
		free = entry_in(level.set, NULL);
		entry = entry_in(level.set, loc);
		if (entry != NULL || free != NULL)
			return entry != NULL ? entry : free;
	} while (level_next(slot, &level, loc));
	return NULL;
}

bool ftr_return_keep(const struct ftr_slot *slot, uintptr_t *loc, uintptr_t ret, uint64_t stamp)
{
	struct ftr_return *entry;
	uintptr_t *before;

	do {
		entry = entry_for(slot, loc);
		if (entry == NULL)
			return false;
		before = entry->loc;
		if (before == loc && ftr_stamp_is_newer(entry->stamp, stamp))
			return true;
		if (before != loc && before != NULL)
			continue;	/* a handler took it just now */
	} while (!ftr_arch_local_cas_word((uintptr_t *)&entry->loc, (uintptr_t)before,
					  (uintptr_t)loc | FTR_FRAME_BUSY));
	atomic_thread_fence(memory_order_release);
	entry->ret = ret;
	entry->stamp = stamp;
	__atomic_store_n(&entry->loc, loc, __ATOMIC_RELEASE);
	return true;
}

static bool has_full_set(const struct ftr_return *entry, const struct ftr_return *end)
{
	for (; entry < end; entry += FTR_RETURN_WAYS) {
		if (entry_in((struct ftr_return *)entry, NULL) == NULL)
			return true;
	}
	return false;
}

uint64_t ftr_returns_used(const struct ftr_slot *slot)
{
	struct level level = level_first(slot, NULL);

	while (has_full_set(slot->returns + level.at, slot->returns + level.at + level.nr)) {
		if (!level_next(slot, &level, NULL))
			return slot->return_nr;
	}
	return level.at + level.nr;
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

static void newest_in(const struct ftr_return *set, const uintptr_t *loc, struct ftr_return *newest)
{
	struct ftr_return copy;
	unsigned i;

	for (i = 0; i < FTR_RETURN_WAYS; i++) {
		if (entry_look(&set[i], loc, &copy) &&
		    (newest->ret == 0 || ftr_stamp_is_newer(copy.stamp, newest->stamp)))
			*newest = copy;
	}
}

/* There are two where a handler kept one while another was about to be. */
struct ftr_return ftr_return_find_of(const struct ftr_slot *slot, const uintptr_t *loc)
{
	struct level level = level_first(slot, loc);
	struct ftr_return newest = { 0 };

	do {
		newest_in(level.set, loc, &newest);
	} while (entry_in(level.set, NULL) == NULL && level_next(slot, &level, loc));
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

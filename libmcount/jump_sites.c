/* SPDX-License-Identifier: MIT */
/* See jump_sites.h.  Sites are never removed; where the table is full, further ones are missed. */
#include "libmcount/jump_sites.h"

#include "libmcount/state.h"

#define PROBES 16u
#define HASH_SHIFT 56

static struct ftr_jump_site *site_at(uintptr_t ip, uint32_t i)
{
	uint64_t hash = ip * UINT64_C(0x9e3779b97f4a7c15) >> HASH_SHIFT;

	static_assert(FTR_JUMP_SITES == 1 << (64 - HASH_SHIFT), "the hash is an index");
	return &ftr_state.jump_sites[(hash + i) % FTR_JUMP_SITES];
}

void ftr_jump_site_note(uintptr_t ip, uintptr_t addr)
{
	uint32_t i;

	for (i = 0; i < PROBES; i++) {
		struct ftr_jump_site *site = site_at(ip, i);
		uintptr_t found = 0;

		if (atomic_load_explicit(&site->ip, memory_order_relaxed) != ip &&
		    !atomic_compare_exchange_strong(&site->ip, &found, ip) && found != ip)
			continue;
		atomic_store_explicit(&site->addr, addr, memory_order_relaxed);
		return;
	}
}

uintptr_t ftr_jump_site_find(uintptr_t ip)
{
	uint32_t i;

	for (i = 0; i < PROBES; i++) {
		struct ftr_jump_site *site = site_at(ip, i);

		if (atomic_load_explicit(&site->ip, memory_order_relaxed) == ip)
			return atomic_load_explicit(&site->addr, memory_order_relaxed);
	}
	return 0;
}

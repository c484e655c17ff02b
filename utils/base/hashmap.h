/* SPDX-License-Identifier: MIT */
/* Open-addressing maps from a 64-bit number, or from bytes, to a pointer that is never NULL. */
#ifndef FTR_BASE_HASHMAP_H
#define FTR_BASE_HASHMAP_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/bits.h"

struct ftr_hashmap_slot {
	uint64_t key;
	void    *value;		/* NULL = free slot */
};

struct ftr_hashmap {
	struct ftr_hashmap_slot *slots;	/* (owned) */
	size_t cap;			/* power of two, or 0 */
	size_t nr;
};

void  ftr_hashmap_init(struct ftr_hashmap *map);
void  ftr_hashmap_fini(struct ftr_hashmap *map);
void *ftr_hashmap_find(const struct ftr_hashmap *map, uint64_t key);
/* Insert or replace.  0 or -ENOMEM. */
int   ftr_hashmap_set(struct ftr_hashmap *map, uint64_t key, void *value);
/* Take @key's value out; NULL where there is none. */
void *ftr_hashmap_take(struct ftr_hashmap *map, uint64_t key);
/* Iterate: *pos starts at 0; returns the next slot, or NULL at the end. */
const struct ftr_hashmap_slot *ftr_hashmap_next(const struct ftr_hashmap *map, size_t *pos);

/* Mix a 64-bit key; good in its upper and lower bits. */
static inline uint64_t ftr_hash_u64(uint64_t key)
{
	key ^= key >> 32;
	key *= FTR_HASH_FACTOR;
	return key ^ key >> 29;
}

uint64_t ftr_hash_bytes(const void *bytes, size_t len);

#endif /* FTR_BASE_HASHMAP_H */

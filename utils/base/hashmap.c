/* SPDX-License-Identifier: MIT */
/* Open addressing with linear probing, at most two thirds full. */
#include "utils/base/hashmap.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CAP_MIN 16

void ftr_hashmap_init(struct ftr_hashmap *map)
{
	*map = (struct ftr_hashmap){ 0 };
}

void ftr_hashmap_fini(struct ftr_hashmap *map)
{
	free(map->slots);
	ftr_hashmap_init(map);
}

/* The slot of @key, or the free one where it belongs; needs a free slot. */
static struct ftr_hashmap_slot *slot_find(const struct ftr_hashmap *map, uint64_t key)
{
	size_t mask = map->cap - 1;
	size_t i = ftr_hash_u64(key) & mask;

	while (map->slots[i].value != NULL && map->slots[i].key != key)
		i = (i + 1) & mask;
	return &map->slots[i];
}

void *ftr_hashmap_find(const struct ftr_hashmap *map, uint64_t key)
{
	return map->nr == 0 ? NULL : slot_find(map, key)->value;
}

static int hashmap_grow(struct ftr_hashmap *map)
{
	struct ftr_hashmap larger = { .cap = map->cap == 0 ? CAP_MIN : map->cap * 2,
				      .nr = map->nr };

	larger.slots = calloc(larger.cap, sizeof(*larger.slots));
	if (larger.slots == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < map->cap; i++) {
		if (map->slots[i].value != NULL)
			*slot_find(&larger, map->slots[i].key) = map->slots[i];
	}
	free(map->slots);
	*map = larger;
	return 0;
}

int ftr_hashmap_set(struct ftr_hashmap *map, uint64_t key, void *value)
{
	struct ftr_hashmap_slot *slot;

	assert(value != NULL);
	if (map->nr >= map->cap / 3 * 2 && hashmap_grow(map) < 0)
		return -ENOMEM;
	slot = slot_find(map, key);
	if (slot->value == NULL)
		map->nr++;
	*slot = (struct ftr_hashmap_slot){ key, value };
	return 0;
}

/* Those behind the freed slot that would no longer be found move up. */
void *ftr_hashmap_take(struct ftr_hashmap *map, uint64_t key)
{
	struct ftr_hashmap_slot *freed = map->nr == 0 ? NULL : slot_find(map, key);
	void *value = freed == NULL ? NULL : freed->value;
	size_t free_at, mask = map->cap - 1;

	if (value == NULL)
		return NULL;
	map->nr--;
	free_at = (size_t)(freed - map->slots);
	for (size_t i = (free_at + 1) & mask; map->slots[i].value != NULL; i = (i + 1) & mask) {
		size_t home = ftr_hash_u64(map->slots[i].key) & mask;

		if (((i - home) & mask) < ((i - free_at) & mask))
			continue; /* found from its home without passing the free slot */
		map->slots[free_at] = map->slots[i];
		free_at = i;
	}
	map->slots[free_at].value = NULL;
	return value;
}

const struct ftr_hashmap_slot *ftr_hashmap_next(const struct ftr_hashmap *map, size_t *pos)
{
	while (*pos < map->cap) {
		const struct ftr_hashmap_slot *slot = &map->slots[(*pos)++];

		if (slot->value != NULL)
			return slot;
	}
	return NULL;
}

/* Multiply to 128 bits and fold: every input bit reaches every output bit. */
static inline uint64_t fold_multiply(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t ftr_hash_bytes(const void *bytes, size_t len)
{
	const uint64_t odd = FTR_HASH_FACTOR;
	const char *p = bytes;
	uint64_t hash = len * odd + 1;
	uint64_t word;
	size_t left;

	for (left = len; left >= sizeof(word); left -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		hash = fold_multiply(hash ^ word, odd);
		p += sizeof(word);
	}
	word = 0;
	if (left > 0)
		memcpy(&word, p, left);
	return fold_multiply(hash ^ word, odd) + hash;
}

/* SPDX-License-Identifier: MIT */
/* Interned strings: an open-addressing table of pointers into an arena. */
#include "utils/base/strpool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/hashmap.h"

#define CAP_MIN 64

void ftr_strpool_init(struct ftr_strpool *pool)
{
	*pool = (struct ftr_strpool){ 0 };
	ftr_arena_init(&pool->arena);
}

void ftr_strpool_fini(struct ftr_strpool *pool)
{
	free(pool->slots);
	ftr_arena_fini(&pool->arena);
	*pool = (struct ftr_strpool){ 0 };
}

static int strpool_grow(struct ftr_strpool *pool)
{
	size_t cap = pool->cap == 0 ? CAP_MIN : pool->cap * 2;
	struct ftr_str **slots = calloc(cap, sizeof(struct ftr_str *));

	if (slots == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < pool->cap; i++) {
		struct ftr_str *str = pool->slots[i];
		size_t to;

		if (str == NULL)
			continue;
		to = str->hash & (cap - 1);
		while (slots[to] != NULL)
			to = (to + 1) & (cap - 1);
		slots[to] = str;
	}
	free(pool->slots);
	pool->slots = slots;
	pool->cap = cap;
	return 0;
}

static struct ftr_str *str_new(struct ftr_strpool *pool, const char *s, size_t len, uint64_t hash)
{
	struct ftr_str *str = ftr_arena_alloc(&pool->arena, sizeof(*str));

	if (str == NULL)
		return NULL;
	str->s = ftr_arena_strndup(&pool->arena, s, len);
	if (str->s == NULL)
		return NULL;
	str->len = (uint32_t)len;
	str->id = (uint32_t)pool->nr;
	str->hash = hash;
	return str;
}

const struct ftr_str *ftr_strpool_get(struct ftr_strpool *pool, const char *s, size_t len)
{
	uint64_t hash = ftr_hash_bytes(s, len);
	size_t i;

	if (len > UINT32_MAX || pool->nr == UINT32_MAX)
		return NULL;
	if (pool->nr >= pool->cap / 3 * 2 && strpool_grow(pool) < 0)
		return NULL;
	for (i = hash & (pool->cap - 1); pool->slots[i] != NULL; i = (i + 1) & (pool->cap - 1)) {
		const struct ftr_str *str = pool->slots[i];

		if (str->hash == hash && str->len == len && memcmp(str->s, s, len) == 0)
			return str;
	}
	pool->slots[i] = str_new(pool, s, len, hash);
	if (pool->slots[i] != NULL)
		pool->nr++;
	return pool->slots[i];
}

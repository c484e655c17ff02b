/* SPDX-License-Identifier: MIT */
/* Bump allocation: blocks double in size up to a limit; large requests get a block of their own. */
#include "utils/base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 16
#define BLOCK_MIN ((size_t)4 << 10)
#define BLOCK_MAX ((size_t)1 << 20)

struct ftr_arena_block {
	struct ftr_arena_block *older;
	size_t bytes;		/* of data */
	_Alignas(ALIGNMENT) char data[];
};

void ftr_arena_init(struct ftr_arena *arena)
{
	*arena = (struct ftr_arena){ 0 };
}

static void blocks_free(struct ftr_arena_block *block)
{
	while (block != NULL) {
		struct ftr_arena_block *older = block->older;

		free(block);
		block = older;
	}
}

void ftr_arena_fini(struct ftr_arena *arena)
{
	blocks_free(arena->blocks);
	ftr_arena_init(arena);
}

void ftr_arena_clear(struct ftr_arena *arena)
{
	struct ftr_arena_block *block = arena->blocks;

	if (block == NULL)
		return;
	blocks_free(block->older);
	block->older = NULL;
	memset(block->data, 0, (size_t)(arena->next - block->data));
	arena->next = block->data;
}

static struct ftr_arena_block *block_new(size_t bytes)
{
	struct ftr_arena_block *block;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	block = calloc(1, sizeof(*block) + bytes);
	if (block != NULL)
		block->bytes = bytes;
	return block;
}

/* Behind the newest block, whose free room stays in use. */
static void *alloc_own_block(struct ftr_arena *arena, size_t bytes)
{
	struct ftr_arena_block *block = block_new(bytes);

	if (block == NULL)
		return NULL;
	block->older = arena->blocks->older;
	arena->blocks->older = block;
	return block->data;
}

static void *alloc_slow(struct ftr_arena *arena, size_t bytes)
{
	struct ftr_arena_block *block;
	size_t usual = BLOCK_MIN;

	if (arena->blocks != NULL && bytes > BLOCK_MIN / 2 && bytes > arena->blocks->bytes / 4)
		return alloc_own_block(arena, bytes);
	if (arena->blocks != NULL)
		usual = arena->blocks->bytes * 2;
	if (usual > BLOCK_MAX)
		usual = BLOCK_MAX;
	block = block_new(bytes > usual ? bytes : usual);
	if (block == NULL)
		return NULL;
	block->older = arena->blocks;
	arena->blocks = block;
	arena->next = block->data + bytes;
	arena->end = block->data + block->bytes;
	return block->data;
}

void *ftr_arena_alloc(struct ftr_arena *arena, size_t bytes)
{
	size_t pad = -(uintptr_t)arena->next % ALIGNMENT;
	size_t room = (size_t)(arena->end - arena->next);
	char *p;

	if (room < pad || room - pad < bytes || arena->next == NULL)
		return alloc_slow(arena, bytes);
	p = arena->next + pad;
	arena->next = p + bytes;
	return p;
}

char *ftr_arena_strndup(struct ftr_arena *arena, const char *s, size_t len)
{
	char *copy = arena->next;

	if (len >= SIZE_MAX / 2)
		return NULL;
	if ((size_t)(arena->end - arena->next) > len)	/* strings need no alignment */
		arena->next += len + 1;
	else
		copy = alloc_slow(arena, len + 1);
	if (copy != NULL) {
		if (len > 0)	/* an empty slice may have no address */
			memcpy(copy, s, len);
		copy[len] = '\0';
	}
	return copy;
}

char *ftr_arena_strdup(struct ftr_arena *arena, const char *s)
{
	return ftr_arena_strndup(arena, s, strlen(s));
}

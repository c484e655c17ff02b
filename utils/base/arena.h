/* SPDX-License-Identifier: MIT */
/* Bump allocation for data that lives as long as its owner: parts are never freed one by one. */
#ifndef FTR_BASE_ARENA_H
#define FTR_BASE_ARENA_H

#include <stddef.h>

struct ftr_arena_block;

struct ftr_arena {
	struct ftr_arena_block *blocks;	/* (owned) newest first */
	char *next;
	char *end;
};

void ftr_arena_init(struct ftr_arena *arena);
void ftr_arena_fini(struct ftr_arena *arena);
/* Nothing that was allocated lives on; memory is kept for what comes next. */
void ftr_arena_clear(struct ftr_arena *arena);

/* Zeroed memory aligned to 16 bytes, or NULL when there is none. */
void *ftr_arena_alloc(struct ftr_arena *arena, size_t bytes);
char *ftr_arena_strdup(struct ftr_arena *arena, const char *s);
char *ftr_arena_strndup(struct ftr_arena *arena, const char *s, size_t len);

#endif /* FTR_BASE_ARENA_H */

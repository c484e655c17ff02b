/* SPDX-License-Identifier: MIT */
/*
 * Interned strings: equal strings get equal pointers and a dense id, for as long as the pool lives.
 */
#ifndef FTR_BASE_STRPOOL_H
#define FTR_BASE_STRPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/arena.h"

struct ftr_str {
	const char *s;		/* NUL-terminated; may hold further NULs */
	uint32_t len;
	uint32_t id;		/* 0, 1, 2 ... in order of first use */
	uint64_t hash;
};

struct ftr_strpool {
	struct ftr_arena arena;
	struct ftr_str **slots;	/* (owned) */
	size_t cap;
	size_t nr;
};

void ftr_strpool_init(struct ftr_strpool *pool);
void ftr_strpool_fini(struct ftr_strpool *pool);
/* Find or add; NULL when out of memory. */
const struct ftr_str *ftr_strpool_get(struct ftr_strpool *pool, const char *s, size_t len);

#endif /* FTR_BASE_STRPOOL_H */

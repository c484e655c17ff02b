/* SPDX-License-Identifier: MIT */
/*
 * Padding between functions, where nothing runs: bytes for jumps are taken from both ends of each
 * gap.
 */
#ifndef FTR_PATCH_GAPS_H
#define FTR_PATCH_GAPS_H

#include <stdint.h>

#include "utils/patch/functions.h"

struct ftr_gaps {
	const struct ftr_functions *functions;
	uint32_t *v;			/* (owned) behind each function, see gaps.c */
};

int  ftr_gaps_init(struct ftr_gaps *gaps, const struct ftr_functions *functions);
void ftr_gaps_fini(struct ftr_gaps *gaps);	/* zeroed is fine */

/* Free bytes behind function @n; *at: of the first. */
uint32_t ftr_gap_get(struct ftr_gaps *gaps, size_t n, uint64_t *at);

/* Take bytes from its start. */
void ftr_gap_take_first(struct ftr_gaps *gaps, size_t n, uint32_t bytes);

/* Room for a jump, taken, that a short one in function @n, ending at @from, can reach; 0 = none. */
uint64_t ftr_gap_find(struct ftr_gaps *gaps, size_t n, uint64_t from);

#endif /* FTR_PATCH_GAPS_H */

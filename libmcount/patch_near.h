/* SPDX-License-Identifier: MIT */
/* Where patched entries call to: within the reach of a call instruction. */
#ifndef FTR_LIBMCOUNT_PATCH_NEAR_H
#define FTR_LIBMCOUNT_PATCH_NEAR_H

#include <stdbool.h>
#include <stdint.h>

#define FTR_PATCH_NEAR_MAX 64

/* Blocks mapped so far; never unmapped.  One caller at a time. */
struct ftr_patch_near {
	uint32_t block_nr;
	uintptr_t blocks[FTR_PATCH_NEAR_MAX];
};

struct ftr_patch_targets {
	uintptr_t entry;		/* of enum ftr_patch_kind FTR_PATCH_ENTRY */
	uintptr_t prologue;		/* and FTR_PATCH_PROLOGUE */
};

/* What code in @low..@high can call; false: there is no free memory within its reach. */
bool ftr_patch_near(struct ftr_patch_near *near, uintptr_t low, uintptr_t high,
		    struct ftr_patch_targets *targets) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_PATCH_NEAR_H */

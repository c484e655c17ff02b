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
	uintptr_t plain;		/* of heads (arch/ISA/plain.h) of functions */
	uintptr_t site;			/* ... and of the sites of events */
};

/* What code in @low..@high can call; false: there is no free memory within its reach. */
bool ftr_patch_near(struct ftr_patch_near *near, uintptr_t low, uintptr_t high,
		    struct ftr_patch_targets *targets) __attribute__((visibility("hidden")));

/* Free memory near code in @low..@high, mapped to be written, for something of ours; 0: none. */
uintptr_t ftr_patch_near_reserve(uintptr_t low, uintptr_t high, unsigned long bytes)
	__attribute__((visibility("hidden")));

/* Does all code in @low..@high reach @target? */
bool ftr_patch_is_in_reach(uintptr_t target, uintptr_t low, uintptr_t high)
	__attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_PATCH_NEAR_H */

/* SPDX-License-Identifier: MIT */
/*
 * Libraries mostly lie near libmcount.so and call it directly; else a block of jumps is mapped near
 * them, and used for all that it is near to.
 */
#include "libmcount/patch_near.h"

#include <sys/mman.h>

#include "arch/patch.h"
#include "libmcount/hook.h"
#include "libmcount/own_text.h"
#include "utils/base/rt/sys.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define PAGE 4096ul
#define BLOCK_JUMP_BYTES 16
#define STEP_FIRST 0x10000ul
#define STEP_LAST 0x40000000ul

extern const char ftr_patch_block[] FTR_HIDDEN;
extern const char ftr_fentry[] FTR_HIDDEN;
extern const char ftr_mcount[] FTR_HIDDEN;

/* The page behind a block, as the block's code reads it. */
struct near_data {
	uintptr_t entry, prologue;
};

static bool is_in_reach(uintptr_t target, uintptr_t low, uintptr_t high)
{
	uintptr_t from = target < low ? target : low, to = target > high ? target : high;

	return to - from < FTR_ARCH_PATCH_REACH;
}

/* A free place for a block, at @hint; older kernels take that for a wish. */
static uintptr_t block_reserve(uintptr_t hint)
{
	unsigned long bytes = FTR_ARCH_BLOCK_BYTES + PAGE;
	long mem = ftr_sys6(SYS_mmap, hint, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (ftr_sys_map_failed(mem))
		return 0;
	if ((uintptr_t)mem == hint)
		return hint;
	ftr_sys2(SYS_munmap, mem, bytes);
	return 0;
}

/* Below first: what is above a program is its heap's. */
static uintptr_t block_place(uintptr_t low, uintptr_t high)
{
	uintptr_t step, mem = 0;

	low &= ~(PAGE - 1);
	high = (high + PAGE - 1) & ~(PAGE - 1);
	for (step = STEP_FIRST; mem == 0 && step <= STEP_LAST && step < low; step *= 2)
		mem = block_reserve(low - step);
	for (step = STEP_LAST; mem == 0 && step >= STEP_FIRST; step /= 2)
		mem = block_reserve(high + step);
	return mem;
}

static uintptr_t block_new(uintptr_t low, uintptr_t high)
{
	uintptr_t mem = block_place(low, high);
	struct near_data *data = (struct near_data *)(mem + FTR_ARCH_BLOCK_BYTES);

	if (mem == 0)
		return 0;
	if (!ftr_own_text_map(mem, ftr_patch_block, FTR_ARCH_BLOCK_BYTES)) {
		ftr_sys2(SYS_munmap, mem, FTR_ARCH_BLOCK_BYTES + PAGE);
		return 0;
	}
	data->entry = (uintptr_t)ftr_fentry;
	data->prologue = (uintptr_t)ftr_mcount;
	ftr_sys3(SYS_mprotect, data, PAGE, PROT_READ);
	return mem;
}

/* A block that the code reaches; 0 = there is none. */
static uintptr_t block_find(struct ftr_patch_near *near, uintptr_t low, uintptr_t high)
{
	uintptr_t block;
	uint32_t i;

	for (i = 0; i < near->block_nr; i++) {
		if (is_in_reach(near->blocks[i], low, high))
			return near->blocks[i];
	}
	block = near->block_nr < FTR_PATCH_NEAR_MAX ? block_new(low, high) : 0;
	if (block != 0)
		near->blocks[near->block_nr++] = block;
	return block != 0 && is_in_reach(block, low, high) ? block : 0;
}

bool ftr_patch_near(struct ftr_patch_near *near, uintptr_t low, uintptr_t high,
		    struct ftr_patch_targets *targets)
{
	uintptr_t block;

	targets->entry = (uintptr_t)ftr_fentry;
	targets->prologue = (uintptr_t)ftr_mcount;
	if (is_in_reach(targets->entry, low, high) && is_in_reach(targets->prologue, low, high))
		return true;
	block = block_find(near, low, high);
	targets->entry = block;
	targets->prologue = block + BLOCK_JUMP_BYTES;
	return block != 0;
}

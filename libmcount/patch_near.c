/* SPDX-License-Identifier: MIT */
/*
 * Libraries mostly lie near libmcount.so and call it directly; else a block of jumps is mapped near
 * them, and used for all that it is near to.
 */
#include "libmcount/patch_near.h"

#include <stddef.h>
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
#define STEP_PLACES 8

extern const char ftr_patch_block[] FTR_HIDDEN;

#define DECLARE(name, symbol) extern const char symbol[] FTR_HIDDEN;
FTR_ARCH_PATCH_TARGETS(DECLARE)

#define ADDRESS(name, symbol) (uintptr_t)symbol,
#define MEMBER(name, symbol) offsetof(struct ftr_patch_targets, name),
#define TARGET_NR (sizeof(members) / sizeof(members[0]))
static const size_t members[] = { FTR_ARCH_PATCH_TARGETS(MEMBER) };

/* The page behind a block, as the block's code reads it. */
struct near_data {
	uintptr_t targets[TARGET_NR];
};

/* In the order of the block's jumps. */
static struct near_data own_targets(void)
{
	return (struct near_data){ { FTR_ARCH_PATCH_TARGETS(ADDRESS) } };
}

static void target_set(struct ftr_patch_targets *targets, unsigned nr, uintptr_t target)
{
	*(uintptr_t *)((char *)targets + members[nr]) = target;
}

bool ftr_patch_is_in_reach(uintptr_t target, uintptr_t low, uintptr_t high)
{
	uintptr_t from = target < low ? target : low, to = target > high ? target : high;

	return to - from < FTR_ARCH_PATCH_REACH;
}

/* A free place at @hint; older kernels take that for a wish. */
static uintptr_t place_reserve(uintptr_t hint, unsigned long bytes)
{
	long mem = ftr_sys_map(hint, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (ftr_sys_map_failed(mem))
		return 0;
	if ((uintptr_t)mem == hint)
		return hint;
	ftr_sys2(SYS_munmap, mem, bytes);
	return 0;
}

/* What is looked for: @bytes in the reach of all that lies in @low..@high. */
struct wish {
	uintptr_t low, high;
	unsigned long bytes;
};

/* Many libraries lie close together, and each may want something. */
static uintptr_t places_try(const struct wish *wish, uintptr_t from, uintptr_t step)
{
	uintptr_t mem = 0;
	unsigned i;

	for (i = 0; mem == 0 && i < STEP_PLACES; i++) {
		uintptr_t place = from + (i * (step / STEP_PLACES) & ~(PAGE - 1));

		if (ftr_patch_is_in_reach(place, wish->low, wish->high) &&
		    ftr_patch_is_in_reach(place + wish->bytes, wish->low, wish->high))
			mem = place_reserve(place, wish->bytes);
	}
	return mem;
}

/* Below first: what is above a program is its heap's. */
uintptr_t ftr_patch_near_reserve(uintptr_t low, uintptr_t high, unsigned long bytes)
{
	struct wish wish = { low & ~(PAGE - 1), (high + PAGE - 1) & ~(PAGE - 1), bytes };
	uintptr_t step, mem = 0;

	for (step = STEP_FIRST; mem == 0 && step <= STEP_LAST && step < wish.low; step *= 2)
		mem = places_try(&wish, wish.low - step, step / 2);
	for (step = STEP_LAST; mem == 0 && step >= STEP_FIRST; step /= 2)
		mem = places_try(&wish, wish.high + step, step / 2);
	return mem;
}

static uintptr_t block_new(uintptr_t low, uintptr_t high)
{
	uintptr_t mem = ftr_patch_near_reserve(low, high, FTR_ARCH_BLOCK_BYTES + PAGE);
	struct near_data *data = (struct near_data *)(mem + FTR_ARCH_BLOCK_BYTES);

	if (mem == 0)
		return 0;
	if (!ftr_own_text_map(mem, ftr_patch_block, FTR_ARCH_BLOCK_BYTES)) {
		ftr_sys2(SYS_munmap, mem, FTR_ARCH_BLOCK_BYTES + PAGE);
		return 0;
	}
	*data = own_targets();
	ftr_sys3(SYS_mprotect, data, PAGE, PROT_READ);
	return mem;
}

/* A block that the code reaches; 0 = there is none. */
static uintptr_t block_find(struct ftr_patch_near *near, uintptr_t low, uintptr_t high)
{
	uintptr_t block;
	uint32_t i;

	for (i = 0; i < near->block_nr; i++) {
		if (ftr_patch_is_in_reach(near->blocks[i], low, high))
			return near->blocks[i];
	}
	block = near->block_nr < FTR_PATCH_NEAR_MAX ? block_new(low, high) : 0;
	if (block != 0)
		near->blocks[near->block_nr++] = block;
	return block != 0 && ftr_patch_is_in_reach(block, low, high) ? block : 0;
}

bool ftr_patch_near(struct ftr_patch_near *near, uintptr_t low, uintptr_t high,
		    struct ftr_patch_targets *targets)
{
	const struct near_data own = own_targets();
	uintptr_t block;
	unsigned i;

	*targets = (struct ftr_patch_targets){ 0 };
	for (i = 0; i < TARGET_NR && ftr_patch_is_in_reach(own.targets[i], low, high); i++)
		target_set(targets, i, own.targets[i]);
	if (i == TARGET_NR)
		return true;
	block = block_find(near, low, high);
	for (i = 0; i < TARGET_NR; i++)
		target_set(targets, i, block + i * BLOCK_JUMP_BYTES);
	return block != 0;
}

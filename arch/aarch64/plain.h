/* SPDX-License-Identifier: MIT */
/*
 * What takes the place of a function's first instruction, a branch, and the head before it where it
 * runs now:
 *
 *	.long	distance from here, the end of this field, to the function
 *	nop				or autiasp, where the function began with paciasp
 *	stp	x17, x30, [sp, #-16]!	no register belongs to us: parts of functions look like
 *	bl	ftr_plain_entry		functions, and assembly may do as it likes.  A way of
 *	ldp	x17, x30, [sp], #16	patch.S may be between, which takes x17.
 *	that paciasp; the instruction; a branch behind it in the function
 *
 * x30 comes to lie in the word that names the call (doc/adr/0090), where the hook exchanges it.
 * The head is found by the address that its call leaves in x30.
 */
#ifndef FTR_ARCH_AARCH64_PLAIN_H
#define FTR_ARCH_AARCH64_PLAIN_H

#define FTR_ARCH_PLAIN_START 4		/* of the head, where it is jumped to */
#define FTR_ARCH_PLAIN_CODE 12		/* its bytes from there on, up to where its call returns */
#define FTR_ARCH_PLAIN_BEHIND 4		/* the others, behind its call */
#define FTR_ARCH_PLAIN_HEAD 20
#define FTR_ARCH_PLAIN_PUSHED 16	/* what it keeps on the stack */
#define FTR_ARCH_PLAIN_JUMP_BYTES 4
#define FTR_ARCH_RED_ZONE 0

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

#include "arch/aarch64/patch.h"

#define FTR_ARCH_BRANCH_FIELD 0x03ffffffu

/* The field at @at of a head, which calls @hook. */
static inline uint32_t ftr_arch_plain_call(uintptr_t at, uintptr_t hook)
{
	return FTR_ARCH_BL | ((uint32_t)((hook - at) >> 2) & FTR_ARCH_BRANCH_FIELD);
}

/* The branch @word, which is to lead @distance further. */
static inline uint32_t ftr_arch_plain_branch(uint32_t word, uintptr_t distance)
{
	return (word & ~FTR_ARCH_BRANCH_FIELD) |
	       ((word + (uint32_t)(distance >> 2)) & FTR_ARCH_BRANCH_FIELD);
}

/* A branch at @addr to @target. */
static inline void ftr_arch_plain_jump(uint8_t *code, uintptr_t addr, uintptr_t target)
{
	ftr_arch_word_put(code, ftr_arch_plain_branch(FTR_ARCH_B, target - addr));
}

/* Where the branch at @code, which runs at @addr, leads; 0 = it is none. */
static inline uintptr_t ftr_arch_plain_target(const uint8_t *code, uintptr_t addr)
{
	uint32_t word = ftr_arch_word(code);

	if ((word & ~FTR_ARCH_BRANCH_FIELD) != FTR_ARCH_B)
		return 0;
	return addr + (uintptr_t)(intptr_t)((int32_t)(word << 6) >> 4);
}

/* A branch has room everywhere: there are no shorter ones. */
static inline bool ftr_arch_plain_step(uint8_t *code, int8_t step)
{
	return false;
}

#endif /* __ASSEMBLER__ */
#endif /* FTR_ARCH_AARCH64_PLAIN_H */

/* SPDX-License-Identifier: MIT */
/*
 * What takes the place of a function's first instructions, and the head before them where they run
 * now:
 *
 *	.long	distance from here, the end of this field, to the function
 *	lea	-128(%rsp), %rsp	what lies below may be in use: parts of functions look like
 *					functions, and assembly may do as it likes
 *	call	ftr_plain_entry		(arch/x86_64/plain.S), which puts the stack right
 *	the instructions; a jump behind them in the function
 *
 * The head is found by the address that its call pushes.
 */
#ifndef FTR_ARCH_X86_64_PLAIN_H
#define FTR_ARCH_X86_64_PLAIN_H

#define FTR_ARCH_PLAIN_START 4		/* of the head, where it is jumped to */
#define FTR_ARCH_PLAIN_CODE 10		/* its bytes from there on */
#define FTR_ARCH_PLAIN_HEAD 14
#define FTR_ARCH_PLAIN_JUMP_BYTES 5
#define FTR_ARCH_RED_ZONE 128

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

/* The field at @at of a head, the distance to @hook. */
static inline uint32_t ftr_arch_plain_call(uintptr_t at, uintptr_t hook)
{
	return (uint32_t)(hook - (at + sizeof(uint32_t)));
}

/* The distance @field of a branch, which is to lead @distance further. */
static inline uint32_t ftr_arch_plain_branch(uint32_t field, uintptr_t distance)
{
	return field + (uint32_t)distance;
}

/* A jump of five bytes at @addr to @target. */
static inline void ftr_arch_plain_jump(uint8_t *code, uintptr_t addr, uintptr_t target)
{
	uint32_t distance = (uint32_t)(target - (addr + 5));
	unsigned at;

	code[0] = 0xe9;
	for (at = 1; at < 5; at++, distance >>= 8)
		code[at] = (uint8_t)distance;
}

/* Where the jump of five bytes at @code, which runs at @addr, leads; 0 = it is none. */
static inline uintptr_t ftr_arch_plain_target(const uint8_t *code, uintptr_t addr)
{
	uint32_t distance = 0;
	unsigned at;

	if (code[0] != 0xe9)
		return 0;
	for (at = 4; at > 0; at--)
		distance = distance << 8 | code[at];
	return addr + 5 + (uintptr_t)(intptr_t)(int32_t)distance;
}

/* A jump of two bytes, @step from its end; false: there is none. */
static inline bool ftr_arch_plain_step(uint8_t *code, int8_t step)
{
	code[0] = 0xeb;
	code[1] = (uint8_t)step;
	return true;
}

#endif /* __ASSEMBLER__ */
#endif /* FTR_ARCH_X86_64_PLAIN_H */

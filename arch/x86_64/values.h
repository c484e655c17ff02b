/* SPDX-License-Identifier: MIT */
/* The registers that arguments and return values are in (System V ABI for x86-64). */
#ifndef FTR_ARCH_X86_64_VALUES_H
#define FTR_ARCH_X86_64_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/x86_64/regs.h"

/* Integer argument @nr, from 0; 0 of one that has no register. */
static inline uint64_t ftr_arch_argument(const struct ftr_regs *regs, unsigned nr)
{
	switch (nr) {
	case 0: return regs->rdi;
	case 1: return regs->rsi;
	case 2: return regs->rdx;
	case 3: return regs->rcx;
	case 4: return regs->r8;
	case 5: return regs->r9;
	default: return 0;
	}
}

/* Where it stands among the words of struct ftr_regs; -1: nowhere. */
static inline int ftr_arch_argument_place(unsigned nr)
{
	static const uint8_t places[] = {
		offsetof(struct ftr_regs, rdi) / 8, offsetof(struct ftr_regs, rsi) / 8,
		offsetof(struct ftr_regs, rdx) / 8, offsetof(struct ftr_regs, rcx) / 8,
		offsetof(struct ftr_regs, r8) / 8,  offsetof(struct ftr_regs, r9) / 8,
	};

	return nr < sizeof(places) ? places[nr] : -1;
}

static inline int ftr_arch_retval_place(unsigned nr)
{
	static const uint8_t places[] = {
		offsetof(struct ftr_regs, rax) / 8, offsetof(struct ftr_regs, rdx) / 8,
	};

	return nr < sizeof(places) ? places[nr] : -1;
}

/* Integer register @nr of a return value. */
static inline uint64_t ftr_arch_retval(const struct ftr_regs *regs, unsigned nr)
{
	return nr == 0 ? regs->rax : nr == 1 ? regs->rdx : 0;
}

/* At an entry, whose return address is in *@slot: where a value goes that is in no register. */
static inline uintptr_t ftr_arch_result(const struct ftr_regs *regs, const uintptr_t *slot)
{
	return regs->rdi;
}

static inline bool ftr_arch_has_vector(unsigned nr)
{
	return nr < 8;
}

/* Lower half of vector register @nr, as the program left it. */
static inline uint64_t ftr_arch_vector(unsigned nr)
{
	uint64_t value = 0;

	switch (nr) {
	case 0: __asm__ volatile("movq %%xmm0, %0" : "=r"(value)); break;
	case 1: __asm__ volatile("movq %%xmm1, %0" : "=r"(value)); break;
	case 2: __asm__ volatile("movq %%xmm2, %0" : "=r"(value)); break;
	case 3: __asm__ volatile("movq %%xmm3, %0" : "=r"(value)); break;
	case 4: __asm__ volatile("movq %%xmm4, %0" : "=r"(value)); break;
	case 5: __asm__ volatile("movq %%xmm5, %0" : "=r"(value)); break;
	case 6: __asm__ volatile("movq %%xmm6, %0" : "=r"(value)); break;
	case 7: __asm__ volatile("movq %%xmm7, %0" : "=r"(value)); break;
	default: break;
	}
	return value;
}

#define FTR_ARCH_X87_BYTES 10
#define FTR_ARCH_X87_CONDITION 0x4500u	/* C3, C2, C0 */
#define FTR_ARCH_X87_EMPTY 0x4100u

/* What is below the top of the floating-point stack, which stays there; false: nothing is. */
static inline bool ftr_arch_x87_second(uint8_t to[FTR_ARCH_X87_BYTES])
{
	uint16_t environment[14];		/* [2]: its top, [4]: two bits of each register */
	unsigned second;

	/* Storing it masks exceptions: it is loaded back. */
	__asm__ volatile("fnstenv %0\n\tfldenv %0" : "=m"(environment));
	second = ((environment[2] >> 11) + 1u) % 8;
	if ((environment[4] >> 2 * second & 3) == 3)
		return false;
	__asm__ volatile("fxch\n\tfstpt %0\n\tfldt %0\n\tfxch"
			 : "=m"(*(uint8_t(*)[FTR_ARCH_X87_BYTES])to));
	return true;
}

/*
 * The top of the floating-point stack, or what is @nr below, which stays there.  False when there
 * is none: popping it would raise a flag of the program's.
 */
static inline bool ftr_arch_x87(uint8_t to[FTR_ARCH_X87_BYTES], unsigned nr)
{
	uint16_t status;

	__asm__ volatile("fxam\n\tfnstsw %0" : "=a"(status));
	if ((status & FTR_ARCH_X87_CONDITION) == FTR_ARCH_X87_EMPTY)
		return false;
	if (nr == 1)
		return ftr_arch_x87_second(to);
	__asm__ volatile("fstpt %0\n\tfldt %0" : "=m"(*(uint8_t(*)[FTR_ARCH_X87_BYTES])to));
	return true;
}

#endif /* FTR_ARCH_X86_64_VALUES_H */

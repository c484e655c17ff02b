/* SPDX-License-Identifier: MIT */
/*
 * The registers that values are in (System V ABI for i386): arguments of functions with attributes,
 * and of those that only their own file calls.  All others' are on the stack.
 */
#ifndef FTR_ARCH_I386_VALUES_H
#define FTR_ARCH_I386_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/i386/regs.h"

/* Where register @nr of arguments stands among the words of struct ftr_regs; -1: nowhere. */
static inline int ftr_arch_argument_place(unsigned nr)
{
	return nr == 0 ? (int)(offsetof(struct ftr_regs, eax) / 8) :
	       nr == 1 ? (int)(offsetof(struct ftr_regs, edx) / 8) :
	       nr == 2 ? (int)(offsetof(struct ftr_regs, ecx) / 8) : -1;
}

static inline uint64_t ftr_arch_argument(const struct ftr_regs *regs, unsigned nr)
{
	return nr == 0 ? regs->eax : nr == 1 ? regs->edx : nr == 2 ? regs->ecx : 0;
}

static inline int ftr_arch_retval_place(unsigned nr)
{
	return nr == 0 ? (int)(offsetof(struct ftr_regs, eax) / 8) :
	       nr == 1 ? (int)(offsetof(struct ftr_regs, edx) / 8) : -1;
}

/* Integer register @nr of a return value. */
static inline uint64_t ftr_arch_retval(const struct ftr_regs *regs, unsigned nr)
{
	return nr == 0 ? regs->eax : nr == 1 ? regs->edx : 0;
}

/* At an entry, whose return address is in *@slot: where a value goes that is in no register. */
static inline uintptr_t ftr_arch_result(const struct ftr_regs *regs, const uintptr_t *slot)
{
	return (uint32_t)slot[1];
}

/* No value is in a vector register. */
static inline bool ftr_arch_has_vector(unsigned nr)
{
	return false;
}

static inline uint64_t ftr_arch_vector(unsigned nr)
{
	return 0;
}

#define FTR_ARCH_X87_BYTES 10
#define FTR_ARCH_X87_CONDITION 0x4500u	/* C3, C2, C0 */
#define FTR_ARCH_X87_EMPTY 0x4100u

/*
 * The top of the floating-point stack, which stays there.  False when it is empty: popping it would
 * raise a flag of the program's.
 */
static inline bool ftr_arch_x87(uint8_t to[FTR_ARCH_X87_BYTES], unsigned nr)
{
	uint16_t status;

	if (nr > 0)		/* no value has two */
		return false;
	__asm__ volatile("fxam\n\tfnstsw %0" : "=a"(status));
	if ((status & FTR_ARCH_X87_CONDITION) == FTR_ARCH_X87_EMPTY)
		return false;
	__asm__ volatile("fstpt %0\n\tfldt %0" : "=m"(*(uint8_t(*)[FTR_ARCH_X87_BYTES])to));
	return true;
}

#endif /* FTR_ARCH_I386_VALUES_H */

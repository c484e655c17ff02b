/* SPDX-License-Identifier: MIT */
/* The registers that arguments and return values are in (AAPCS64). */
#ifndef FTR_ARCH_AARCH64_VALUES_H
#define FTR_ARCH_AARCH64_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/aarch64/regs.h"

#define FTR_ARCH_ARGUMENT_NR 8u
#define FTR_ARCH_RETVAL_NR 2u

/* Integer argument @nr, from 0; 0 of one that has no register. */
static inline uint64_t ftr_arch_argument(const struct ftr_regs *regs, unsigned nr)
{
	return nr < FTR_ARCH_ARGUMENT_NR ? regs->x[nr] : 0;
}

/* Where it stands among the words of struct ftr_regs; -1: nowhere. */
static inline int ftr_arch_argument_place(unsigned nr)
{
	return nr < FTR_ARCH_ARGUMENT_NR ? (int)nr : -1;
}

static inline int ftr_arch_retval_place(unsigned nr)
{
	return nr < FTR_ARCH_RETVAL_NR ? (int)nr : -1;
}

/* Integer register @nr of a return value. */
static inline uint64_t ftr_arch_retval(const struct ftr_regs *regs, unsigned nr)
{
	return nr < FTR_ARCH_RETVAL_NR ? regs->x[nr] : 0;
}

/* At an entry, whose return address is in *@slot: where a value goes that is in no register. */
static inline uintptr_t ftr_arch_result(const struct ftr_regs *regs, const uintptr_t *slot)
{
	return regs->x[8];
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
	case 0: __asm__ volatile("fmov %0, d0" : "=r"(value)); break;
	case 1: __asm__ volatile("fmov %0, d1" : "=r"(value)); break;
	case 2: __asm__ volatile("fmov %0, d2" : "=r"(value)); break;
	case 3: __asm__ volatile("fmov %0, d3" : "=r"(value)); break;
	case 4: __asm__ volatile("fmov %0, d4" : "=r"(value)); break;
	case 5: __asm__ volatile("fmov %0, d5" : "=r"(value)); break;
	case 6: __asm__ volatile("fmov %0, d6" : "=r"(value)); break;
	case 7: __asm__ volatile("fmov %0, d7" : "=r"(value)); break;
	default: break;
	}
	return value;
}

#define FTR_ARCH_X87_BYTES 10

/* There is no such stack. */
static inline bool ftr_arch_x87(uint8_t to[FTR_ARCH_X87_BYTES], unsigned nr)
{
	return false;
}

#endif /* FTR_ARCH_AARCH64_VALUES_H */

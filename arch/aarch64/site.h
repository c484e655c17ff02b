/* SPDX-License-Identifier: MIT */
/* The registers at the site of an event, as arch/aarch64/site.S saved them, by their numbers. */
#ifndef FTR_ARCH_AARCH64_SITE_H
#define FTR_ARCH_AARCH64_SITE_H

#include <stdint.h>

#define FTR_ARCH_SITE_REGISTERS 32
#define FTR_ARCH_SITE_STACK 31		/* the number of the stack pointer */
#define FTR_ARCH_SITE_FRAME 29		/* ... and of the frame pointer, where it is one */

struct ftr_site_regs {
	uint64_t v[FTR_ARCH_SITE_REGISTERS];
};

/* Lower half of vector register @nr. */
static inline uint64_t ftr_arch_site_vector(unsigned nr)
{
	uint64_t value = 0;

#define FTR_VECTOR(n) case n: __asm__ volatile("fmov %0, d" #n : "=r"(value)); break
	switch (nr) {
	FTR_VECTOR(0); FTR_VECTOR(1); FTR_VECTOR(2); FTR_VECTOR(3); FTR_VECTOR(4); FTR_VECTOR(5);
	FTR_VECTOR(6); FTR_VECTOR(7); FTR_VECTOR(8); FTR_VECTOR(9); FTR_VECTOR(10);
	FTR_VECTOR(11); FTR_VECTOR(12); FTR_VECTOR(13); FTR_VECTOR(14); FTR_VECTOR(15);
	FTR_VECTOR(16); FTR_VECTOR(17); FTR_VECTOR(18); FTR_VECTOR(19); FTR_VECTOR(20);
	FTR_VECTOR(21); FTR_VECTOR(22); FTR_VECTOR(23); FTR_VECTOR(24); FTR_VECTOR(25);
	FTR_VECTOR(26); FTR_VECTOR(27); FTR_VECTOR(28); FTR_VECTOR(29); FTR_VECTOR(30);
	FTR_VECTOR(31);
	default: break;
	}
#undef FTR_VECTOR
	return value;
}

#endif /* FTR_ARCH_AARCH64_SITE_H */

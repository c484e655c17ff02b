/* SPDX-License-Identifier: MIT */
/* What glibc's setjmp keeps on x86-64. */
#ifndef FTR_ARCH_X86_64_JMPBUF_H
#define FTR_ARCH_X86_64_JMPBUF_H

#include <stdint.h>

/*
 * The stack pointer that a longjmp to @buf restores.  glibc keeps it in word 6, rotated left by 17
 * bits and xored with the pointer guard of the thread control block (%fs:0x30).
 */
static inline uintptr_t ftr_arch_jmpbuf_sp(const void *buf)
{
	uintptr_t sp = ((const uintptr_t *)buf)[6];
	uintptr_t guard;

	__asm__("movq %%fs:0x30, %0" : "=r"(guard));
	sp = sp >> 17 | sp << 47;
	return sp ^ guard;
}

#endif /* FTR_ARCH_X86_64_JMPBUF_H */

/* SPDX-License-Identifier: MIT */
/* What glibc's setjmp keeps on 64-bit Arm. */
#ifndef FTR_ARCH_AARCH64_JMPBUF_H
#define FTR_ARCH_AARCH64_JMPBUF_H

#include <stdint.h>
#include <setjmp.h>

#define FTR_JMPBUF_LR 11
#define FTR_JMPBUF_SP 13

/*
 * glibc xors addresses with a guard that it tells nobody: a setjmp where the stack pointer is known
 * does.  (Not inlined: between the two the stack pointer stays.)
 */
static __attribute__((noinline, unused)) uintptr_t ftr_arch_jmpbuf_guard(void)
{
	uintptr_t sp;
	jmp_buf here;

	(void)_setjmp(here);
	__asm__ volatile("mov %0, sp" : "=r"(sp));
	return ((const uintptr_t *)here)[FTR_JMPBUF_SP] ^ sp;
}

/* The stack pointer that a longjmp to @buf restores, and where it goes on. */
static inline uintptr_t ftr_arch_jmpbuf_sp(const void *buf)
{
	return ((const uintptr_t *)buf)[FTR_JMPBUF_SP] ^ ftr_arch_jmpbuf_guard();
}

static inline uintptr_t ftr_arch_jmpbuf_ip(const void *buf)
{
	return ((const uintptr_t *)buf)[FTR_JMPBUF_LR] ^ ftr_arch_jmpbuf_guard();
}

#endif /* FTR_ARCH_AARCH64_JMPBUF_H */

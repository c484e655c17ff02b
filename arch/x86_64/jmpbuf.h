/* SPDX-License-Identifier: MIT */
/* What glibc's setjmp keeps on x86-64. */
#ifndef FTR_ARCH_X86_64_JMPBUF_H
#define FTR_ARCH_X86_64_JMPBUF_H

#include <stdint.h>

#include "arch/x86/jmpbuf.h"

/* glibc rotates addresses left by 17 bits and xors them with the pointer guard (%fs:0x30). */
static inline uintptr_t ftr_arch_jmpbuf_word(const void *buf, int i)
{
	uintptr_t guard;

	__asm__("movq %%fs:0x30, %0" : "=r"(guard));
	return ftr_x86_unmix(((const uintptr_t *)buf)[i], 17, guard);
}

/* The stack pointer that a longjmp to @buf restores, and where it goes on. */
static inline uintptr_t ftr_arch_jmpbuf_sp(const void *buf)
{
	return ftr_arch_jmpbuf_word(buf, 6);
}

static inline uintptr_t ftr_arch_jmpbuf_ip(const void *buf)
{
	return ftr_arch_jmpbuf_word(buf, 7);
}

#endif /* FTR_ARCH_X86_64_JMPBUF_H */

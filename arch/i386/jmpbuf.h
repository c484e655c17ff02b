/* SPDX-License-Identifier: MIT */
/* What glibc's setjmp keeps on i386. */
#ifndef FTR_ARCH_I386_JMPBUF_H
#define FTR_ARCH_I386_JMPBUF_H

#include <stdint.h>

/* glibc rotates addresses left by 9 bits and xors them with the pointer guard (%gs:0x18). */
static inline uintptr_t ftr_arch_jmpbuf_word(const void *buf, int i)
{
	uintptr_t word = ((const uintptr_t *)buf)[i];
	uintptr_t guard;

	__asm__("movl %%gs:0x18, %0" : "=r"(guard));
	word = word >> 9 | word << 23;
	return word ^ guard;
}

/* The stack pointer that a longjmp to @buf restores, and where it goes on. */
static inline uintptr_t ftr_arch_jmpbuf_sp(const void *buf)
{
	return ftr_arch_jmpbuf_word(buf, 4);
}

static inline uintptr_t ftr_arch_jmpbuf_ip(const void *buf)
{
	return ftr_arch_jmpbuf_word(buf, 5);
}

#endif /* FTR_ARCH_I386_JMPBUF_H */

/* SPDX-License-Identifier: MIT */
/* What glibc's setjmp keeps on i386. */
#ifndef FTR_ARCH_I386_JMPBUF_H
#define FTR_ARCH_I386_JMPBUF_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/x86/jmpbuf.h"

/* glibc rotates addresses left by 9 bits and xors them with the pointer guard (%gs:0x18). */
static inline uintptr_t ftr_arch_jmpbuf_word(const void *buf, int i)
{
	uintptr_t guard;

	__asm__("movl %%gs:0x18, %0" : "=r"(guard));
	return ftr_x86_unmix(((const uintptr_t *)buf)[i], 9, guard);
}

static inline uintptr_t ftr_arch_jmpbuf_ip(const void *buf)
{
	return ftr_arch_jmpbuf_word(buf, 5);
}

/*
 * gcc has pushed setjmp's argument, with padding, and takes all that off behind the call, before
 * anything depends on flags (add $16, %esp).  clang keeps the room.
 */
#define FTR_JMPBUF_PUSHED 16u
#define FTR_JMPBUF_WINDOW 16u

static inline bool ftr_arch_jmpbuf_is_popped(const uint8_t *code)
{
	unsigned i;

	for (i = 0; i < FTR_JMPBUF_WINDOW; i++) {
		if (code[i] == 0x83 && code[i + 1] == 0xc4)
			return code[i + 2] == FTR_JMPBUF_PUSHED;
	}
	return false;
}

/*
 * The stack pointer that a longjmp to @buf restores, or rather the one that the function has when
 * it calls something without arguments: calls that are left may lie that high.
 */
static inline uintptr_t ftr_arch_jmpbuf_sp(const void *buf)
{
	uintptr_t sp = ftr_arch_jmpbuf_word(buf, 4);
	const uint8_t *code = (const uint8_t *)ftr_arch_jmpbuf_ip(buf);

	return ftr_arch_jmpbuf_is_popped(code) ? sp + FTR_JMPBUF_PUSHED : sp;
}

#endif /* FTR_ARCH_I386_JMPBUF_H */

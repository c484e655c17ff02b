/* SPDX-License-Identifier: MIT */
/* How glibc's setjmp keeps addresses: rotated, and mixed with the pointer guard of the thread. */
#ifndef FTR_ARCH_X86_JMPBUF_H
#define FTR_ARCH_X86_JMPBUF_H

#include <stdint.h>

static inline uintptr_t ftr_x86_unmix(uintptr_t word, unsigned rotated, uintptr_t guard)
{
	return (word >> rotated | word << (sizeof(word) * 8 - rotated)) ^ guard;
}

#endif /* FTR_ARCH_X86_JMPBUF_H */

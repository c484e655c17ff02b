/* SPDX-License-Identifier: MIT */
/* What room for a call has of code of 32 bits: see arch/x86/patch.h. */
#ifndef FTR_ARCH_I386_PATCH_H
#define FTR_ARCH_I386_PATCH_H

#include "arch/x86/patch.h"

#define FTR_ARCH_PATCH_REACH UINTPTR_MAX	/* from a site to what it calls: all there is */
#define FTR_ARCH_PATCH_REACH_TEXT "4 GB"
/* Where rooms lead, by name and symbol, in the order of the block's jumps. */
#define FTR_ARCH_PATCH_TARGETS(TARGET) TARGET(entry, ftr_fentry) TARGET(prologue, ftr_mcount)

/* Bytes of endbr32, 0 = there is none. */
static inline unsigned ftr_arch_landing_bytes(const uint8_t *code, uint32_t size)
{
	return ftr_x86_landing_bytes(code, size, 0xfb);
}

/* ... or of the push of %ecx, of a nested function. */
static inline unsigned ftr_arch_before_entry(const uint8_t *code, uint32_t size)
{
	if (code[0] == 0x51)
		return 1;
	return ftr_arch_landing_bytes(code, size);
}

/* See ftr_x86_is_entry. */
static inline bool ftr_arch_patch_is_entry(const uint8_t *code, uint32_t size)
{
	return ftr_x86_is_entry(code, size, ftr_arch_before_entry);
}

#endif /* FTR_ARCH_I386_PATCH_H */

/* SPDX-License-Identifier: MIT */
/* What room for a call has of code of 64 bits: see arch/x86/patch.h. */
#ifndef FTR_ARCH_X86_64_PATCH_H
#define FTR_ARCH_X86_64_PATCH_H

#include "arch/x86/patch.h"

#define FTR_ARCH_PATCH_REACH 0x7fff0000	/* from a site to what it calls */
#define FTR_ARCH_PATCH_REACH_TEXT "2 GB"
/* Where rooms and heads lead, by name and symbol, in the order of the block's jumps. */
#define FTR_ARCH_PATCH_TARGETS(TARGET) \
	TARGET(entry, ftr_fentry) TARGET(prologue, ftr_mcount) TARGET(plain, ftr_plain_entry) \
	TARGET(site, ftr_site_entry)

/* Bytes of endbr64, 0 = there is none. */
static inline unsigned ftr_arch_landing_bytes(const uint8_t *code, uint32_t size)
{
	return ftr_x86_landing_bytes(code, size, 0xfa);
}

/* ... or of the push of %r10, of a nested function. */
static inline unsigned ftr_arch_before_entry(const uint8_t *code, uint32_t size)
{
	if (size >= 2 && code[0] == 0x41 && code[1] == 0x52)
		return 2;
	return ftr_arch_landing_bytes(code, size);
}

/* See ftr_x86_is_entry. */
static inline bool ftr_arch_patch_is_entry(const uint8_t *code, uint32_t size)
{
	return ftr_x86_is_entry(code, size, ftr_arch_before_entry);
}

#endif /* FTR_ARCH_X86_64_PATCH_H */

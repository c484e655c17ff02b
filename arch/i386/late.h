/* SPDX-License-Identifier: MIT */
/* Relocations that have the dynamic linker store where a function is. */
#ifndef FTR_ARCH_I386_LATE_H
#define FTR_ARCH_I386_LATE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

static inline bool ftr_arch_is_slot(uint32_t type)
{
	return type == R_386_JMP_SLOT || type == R_386_GLOB_DAT;
}

#endif /* FTR_ARCH_I386_LATE_H */

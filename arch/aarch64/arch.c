/* SPDX-License-Identifier: MIT */
/* 64-bit Arm: what reads traces there, and nothing yet that records them. */
#include "arch/arch.h"

#include <elf.h>

#include "arch/syscalls.h"

/* None is observed. */
extern const struct ftr_abi ftr_abis_aarch64[];
const struct ftr_abi ftr_abis_aarch64[] = { { 0 } };

const struct ftr_arch ftr_arch_aarch64 = {
	.name	     = "aarch64",
	.title	     = "64-bit Arm",
	.elf_machine = EM_AARCH64,
	.elf_class   = ELFCLASS64,
	.elf_data    = ELFDATA2LSB,
};

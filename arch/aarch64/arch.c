/* SPDX-License-Identifier: MIT */
/* 64-bit Arm: its name, and nothing yet that traces it. */
#include "arch/arch.h"

#include <elf.h>

const struct ftr_arch ftr_arch_aarch64 = {
	.name	     = "aarch64",
	.title	     = "64-bit Arm",
	.elf_machine = EM_AARCH64,
	.elf_class   = ELFCLASS64,
	.elf_data    = ELFDATA2LSB,
};

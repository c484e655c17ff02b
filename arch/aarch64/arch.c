/* SPDX-License-Identifier: MIT */
/* 64-bit Arm, and how its code leaves room for calls. */
#include "arch/arch.h"

#include <elf.h>

#include "arch/aarch64/got_uses.h"
#include "arch/aarch64/patch.h"
#include "arch/aarch64/ticks.h"
#include "arch/syscalls.h"

extern const struct ftr_abi ftr_abis_aarch64[];
extern const struct ftr_callconv ftr_callconv_aarch64;
extern const struct ftr_arch_plain ftr_arch_plain_aarch64;
extern ftr_arch_operand_fn ftr_arch_operand_aarch64;

static const struct ftr_arch_patch patch = {
	.reloc_relative = R_AARCH64_RELATIVE,
	.nop_bytes = ftr_arch_nop_bytes,
	.landing_bytes = ftr_arch_landing_bytes,
	.room = ftr_arch_patch_room,
	.is_entry = ftr_arch_patch_is_entry,
};

const struct ftr_arch ftr_arch_aarch64 = {
	.name	      = "aarch64",
	.title	      = "64-bit Arm",
	.has_runtime  = true,
	.can_attach   = true,
	.elf_machine  = EM_AARCH64,
	.elf_class    = ELFCLASS64,
	.elf_data     = ELFDATA2LSB,
	.abis	      = ftr_abis_aarch64,
	.entry	      = { .cfa_register = 31, .return_register = 30 },	/* sp, x30 */
	.ticks_agree  = ftr_arch_ticks_agree_aarch64,
	.reloc_lazy   = R_AARCH64_JUMP_SLOT,
	.reloc_bound  = R_AARCH64_GLOB_DAT,
	.next_got_use = ftr_arch_next_got_use_aarch64,
	.got_uses     = ftr_arch_got_uses_aarch64,
	.callconv     = &ftr_callconv_aarch64,
	.patch	      = &patch,
	.plain	      = &ftr_arch_plain_aarch64,
	.operand      = ftr_arch_operand_aarch64,
};

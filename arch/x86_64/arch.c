/* SPDX-License-Identifier: MIT */
/* x86-64, and how its code leaves room for calls. */
#include "arch/arch.h"

#include <elf.h>

#include "arch/syscalls.h"
#include "arch/x86_64/got_uses.h"
#include "arch/x86_64/patch.h"
#include "arch/x86_64/ticks.h"

extern const struct ftr_arch ftr_arch_i386;
extern const struct ftr_abi ftr_abis_x86_64[];
extern const struct ftr_callconv ftr_callconv_x86_64;
extern const struct ftr_arch_plain ftr_arch_plain_x86_64;
extern ftr_arch_operand_fn ftr_arch_operand_x86_64;

static const struct ftr_arch_patch patch = {
	.reloc_relative = R_X86_64_RELATIVE,
	.nop_bytes = ftr_arch_nop_bytes,
	.landing_bytes = ftr_arch_landing_bytes,
	.room = ftr_arch_patch_room,
	.is_entry = ftr_arch_patch_is_entry,
};

const struct ftr_arch ftr_arch_x86_64 = {
	.name	      = "x86_64",
	.title	      = "64-bit x86",
	.has_runtime  = true,
	.can_attach   = true,
	.beside	      = &ftr_arch_i386,
	.elf_machine  = EM_X86_64,
	.elf_class    = ELFCLASS64,
	.elf_data     = ELFDATA2LSB,
	.abis	      = ftr_abis_x86_64,
	.entry	      = { .cfa_register = 7, .cfa_offset = 8, .return_register = 16,
			  .return_is_saved = true },	/* rsp, rip */
	.ticks_agree  = ftr_arch_ticks_agree_x86_64,
	.reloc_lazy   = R_X86_64_JUMP_SLOT,
	.reloc_bound  = R_X86_64_GLOB_DAT,
	.next_got_use = ftr_arch_next_got_use_x86_64,
	.callconv     = &ftr_callconv_x86_64,
	.keeps_pg_arguments = true,
	.patch	      = &patch,
	.plain	      = &ftr_arch_plain_x86_64,
	.operand      = ftr_arch_operand_x86_64,
};

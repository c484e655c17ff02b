/* SPDX-License-Identifier: MIT */
/*
 * i386: programs of 32 bits that run on x86-64 beside those of 64, with a runtime of their own
 * (doc/adr/0098).  Their code leaves room for calls as x86-64's does.
 */
#include "arch/arch.h"

#include <elf.h>

#include "arch/i386/got_uses.h"
#include "arch/i386/patch.h"

extern const struct ftr_callconv ftr_callconv_i386;

static const struct ftr_arch_patch patch = {
	.reloc_relative = R_386_RELATIVE,
	.nop_bytes = ftr_arch_nop_bytes,
	.landing_bytes = ftr_arch_landing_bytes,
	.room = ftr_arch_patch_room,
	.is_entry = ftr_arch_patch_is_entry,
};

const struct ftr_arch ftr_arch_i386 = {
	.name	      = "i386",
	.title	      = "32-bit x86",
	.elf_machine  = EM_386,
	.elf_class    = ELFCLASS32,
	.elf_data     = ELFDATA2LSB,
	.runtime_dir  = "i686",
	.reloc_lazy   = R_386_JMP_SLOT,
	.reloc_bound  = R_386_JMP_SLOT,
	.next_got_use = ftr_arch_next_got_use_i386,
	.callconv     = &ftr_callconv_i386,
	.keeps_pg_arguments = true,
	.patch	      = &patch,
};

/* SPDX-License-Identifier: MIT */
/* x86-64: how code uses the GOT, and leaves room for calls. */
#include "arch/arch.h"

#include <elf.h>
#include <string.h>

#include "arch/syscalls.h"
#include "arch/x86_64/patch.h"

#define OPCODE_INDIRECT 0xff
#define MODRM_RIP_MASK 0xc7	/* without the bits of the register or opcode */
#define MODRM_RIP 0x05		/* memory at %rip + four bytes */
#define MODRM_RIP_CALL 0x15	/* of OPCODE_INDIRECT */
#define MODRM_RIP_JUMP 0x25

extern const struct ftr_arch ftr_arch_i386;
extern const struct ftr_abi ftr_abis_x86_64[];
extern const struct ftr_callconv ftr_callconv_x86_64;
extern const struct ftr_arch_plain ftr_arch_plain_x86_64;
extern ftr_arch_operand_fn ftr_arch_operand_x86_64;

static uint64_t operand_address(const struct ftr_code *code, size_t at)
{
	int32_t distance;

	memcpy(&distance, code->bytes + at, sizeof(distance));
	return code->addr + at + sizeof(distance) + (uint64_t)(int64_t)distance;
}

/*
 * Any instruction with a %rip-relative operand and no constant behind it: cmp $0 asks whether there
 * is a function at all.
 */
static bool next_got_use(const struct ftr_code *code, uint64_t low, uint64_t high, size_t *pos,
			 struct ftr_got_use *use)
{
	const uint8_t *bytes = code->bytes;

	for (size_t i = *pos + 1; i + 1 + sizeof(int32_t) <= code->size; i++) {
		if ((bytes[i] & MODRM_RIP_MASK) != MODRM_RIP)
			continue;
		use->entry = operand_address(code, i + 1);
		if (use->entry - low > high - low)
			continue;
		use->at = i - 1;
		use->bytes = 2 + sizeof(int32_t);
		use->is_slot = false;
		use->is_jump = bytes[i - 1] == OPCODE_INDIRECT && bytes[i] == MODRM_RIP_JUMP;
		use->is_call = bytes[i - 1] == OPCODE_INDIRECT && bytes[i] == MODRM_RIP_CALL;
		*pos = i;
		return true;
	}
	return false;
}

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
	.reloc_lazy   = R_X86_64_JUMP_SLOT,
	.reloc_bound  = R_X86_64_GLOB_DAT,
	.next_got_use = next_got_use,
	.callconv     = &ftr_callconv_x86_64,
	.keeps_pg_arguments = true,
	.patch	      = &patch,
	.plain	      = &ftr_arch_plain_x86_64,
	.operand      = ftr_arch_operand_x86_64,
};

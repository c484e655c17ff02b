/* SPDX-License-Identifier: MIT */
/*
 * i386: programs of 32 bits that run on x86-64 beside those of 64, with a runtime of their own
 * (doc/adr/0098).  Their code leaves room for calls as x86-64's does.
 */
#include "arch/arch.h"

#include <elf.h>
#include <string.h>

#include "arch/i386/patch.h"

#define OPCODE_INDIRECT 0xff
#define MODRM_JUMP_ABSOLUTE 0x25	/* of that: four bytes are the entry's address */
#define MODRM_JUMP_EBX 0xa3		/* ... or its distance from where %ebx points */
#define JUMP_BYTES 6

/*
 * Slots of the PLT alone: elsewhere, what has a small distance from any register's value would look
 * like an entry.  So calls without a PLT are not found, nor is who else takes an entry's address:
 * those of jump slots are used by nothing else.
 */
static bool next_got_use(const struct ftr_code *code, uint64_t low, uint64_t high, size_t *pos,
			 struct ftr_got_use *use)
{
	const uint8_t *bytes = code->bytes;
	uint32_t operand;

	for (size_t i = *pos; code->is_plt && i + JUMP_BYTES <= code->size; i++) {
		if (bytes[i] != OPCODE_INDIRECT || (bytes[i + 1] != MODRM_JUMP_ABSOLUTE &&
						    bytes[i + 1] != MODRM_JUMP_EBX))
			continue;
		memcpy(&operand, bytes + i + 2, sizeof(operand));
		if (bytes[i + 1] == MODRM_JUMP_EBX)
			operand += (uint32_t)code->got;
		if (operand - low > high - low)
			continue;
		*use = (struct ftr_got_use){ .at = i, .bytes = JUMP_BYTES, .entry = operand,
					     .is_jump = true };
		*pos = i + 1;
		return true;
	}
	return false;
}

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
	.next_got_use = next_got_use,
	.callconv     = &ftr_callconv_i386,
	.keeps_pg_arguments = true,
	.patch	      = &patch,
};

/* SPDX-License-Identifier: MIT */
/* What uses the entries of a GOT: jumps of the PLT, found by their bytes. */
#include "arch/i386/got_uses.h"

#include <string.h>

#define OPCODE_INDIRECT 0xff
#define MODRM_JUMP_ABSOLUTE 0x25	/* of that: four bytes are the entry's address */
#define MODRM_JUMP_EBX 0xa3		/* ... or its distance from where %ebx points */
#define JUMP_BYTES 6

/*
 * Slots of the PLT alone: elsewhere, what has a small distance from any register's value would look
 * like an entry.  So calls without a PLT are not found, nor is who else takes an entry's address:
 * those of jump slots are used by nothing else.
 */
bool ftr_arch_next_got_use_i386(const struct ftr_code *code, uint64_t low, uint64_t high,
				size_t *pos, struct ftr_got_use *use)
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

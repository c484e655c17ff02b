/* SPDX-License-Identifier: MIT */
/* What uses the entries of a GOT: instructions are found by their bytes. */
#include "arch/x86_64/got_uses.h"

#include <string.h>

#define OPCODE_INDIRECT 0xff
#define MODRM_RIP_MASK 0xc7	/* without the bits of the register or opcode */
#define MODRM_RIP 0x05		/* memory at %rip + four bytes */
#define MODRM_RIP_CALL 0x15	/* of OPCODE_INDIRECT */
#define MODRM_RIP_JUMP 0x25

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
bool ftr_arch_next_got_use_x86_64(const struct ftr_code *code, uint64_t low, uint64_t high,
				  size_t *pos, struct ftr_got_use *use)
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

/* SPDX-License-Identifier: MIT */
/* 64-bit Arm: how code uses the GOT, and leaves room for calls. */
#include "arch/arch.h"

#include <elf.h>

#include "arch/aarch64/got_uses.h"
#include "arch/aarch64/insn.h"
#include "arch/aarch64/patch.h"
#include "arch/syscalls.h"

extern const struct ftr_abi ftr_abis_aarch64[];
extern const struct ftr_callconv ftr_callconv_aarch64;
extern const struct ftr_arch_plain ftr_arch_plain_aarch64;
extern ftr_arch_operand_fn ftr_arch_operand_aarch64;

#define ADRP_MASK 0x9f00001fu		/* with the register */
#define ADRP_X16 0x90000010u
#define LDR_X17_MASK 0xffc003ffu
#define LDR_X17_X16 0xf9400211u		/* ldr x17, [x16, #N] */
#define BR_X17 0xd61f0220u
#define BR_X17_SIGNED 0xd71f0a11u	/* braa x17, x16 */
#define SLOT_WORDS_MAX 6

static bool is_branch(uint32_t word)
{
	return word == BR_X17 || word == BR_X17_SIGNED;
}

/* Words from the adrp at @at up to and with the branch of a PLT slot; 0 = it is none. */
static size_t slot_words(const struct ftr_code *code, size_t at)
{
	size_t i;

	for (i = 2; i < SLOT_WORDS_MAX && at + 4 * i + 4 <= code->size; i++) {
		if (is_branch(ftr_arch_word(code->bytes + at + 4 * i)))
			return i + 1;
	}
	return 0;
}

/*
 * adrp x16; ldr x17, [x16, #N]; add x16; br x17: a PLT slot, with or without bti.  Other code reads
 * entries of its own, which have other relocations (got_uses.c).
 */
static bool next_got_use(const struct ftr_code *code, uint64_t low, uint64_t high, size_t *pos,
			 struct ftr_got_use *use)
{
	const uint8_t *bytes = code->bytes;
	size_t at = (*pos + 3) / 4 * 4, words;

	for (; at + 12 <= code->size; at += 4) {
		uint32_t adrp = ftr_arch_word(bytes + at), ldr = ftr_arch_word(bytes + at + 4);

		if ((adrp & ADRP_MASK) != ADRP_X16 || (ldr & LDR_X17_MASK) != LDR_X17_X16)
			continue;
		use->entry = ftr_a64_insn(adrp, code->addr + at).address +
			     (uint64_t)(ldr >> 10 & 0xfff) * 8;
		words = slot_words(code, at);
		if (words == 0 || use->entry - low > high - low)
			continue;
		use->at = at;
		if (at >= 4)
			use->at -= ftr_arch_landing_bytes(bytes + at - 4, 4);
		use->bytes = at + 4 * words - use->at;
		use->is_jump = true;
		use->is_call = false;
		use->is_slot = true;
		*pos = at + 4;
		return true;
	}
	return false;
}

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
	.elf_machine  = EM_AARCH64,
	.elf_class    = ELFCLASS64,
	.elf_data     = ELFDATA2LSB,
	.abis	      = ftr_abis_aarch64,
	.entry	      = { .cfa_register = 31, .return_register = 30 },	/* sp, x30 */
	.reloc_lazy   = R_AARCH64_JUMP_SLOT,
	.reloc_bound  = R_AARCH64_GLOB_DAT,
	.next_got_use = next_got_use,
	.got_uses     = ftr_arch_got_uses,
	.callconv     = &ftr_callconv_aarch64,
	.patch	      = &patch,
	.plain	      = &ftr_arch_plain_aarch64,
	.operand      = ftr_arch_operand_aarch64,
};

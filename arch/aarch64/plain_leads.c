/* SPDX-License-Identifier: MIT */
/* 64-bit Arm: entering functions without room for a call, and what leads where in code. */
#include "arch/aarch64/insn.h"
#include "arch/aarch64/patch.h"
#include "arch/aarch64/plain.h"
#include "arch/arch.h"

extern const struct ftr_arch_plain ftr_arch_plain_aarch64;

#define REGISTERS 32
#define AUTHENTICATES 0x80u	/* makes autiasp of paciasp */

static bool lead_kind(uint8_t kind, uint8_t *lead)
{
	switch (kind) {
	case FTR_A64_CALL:
		*lead = FTR_LEAD_CALL;
		return true;
	case FTR_A64_JUMP:
		*lead = FTR_LEAD_JUMP;
		return true;
	case FTR_A64_BRANCH:
	case FTR_A64_COMPARE:
	case FTR_A64_TEST:
		*lead = FTR_LEAD_BRANCH;
		return true;
	case FTR_A64_ADDRESS:
	case FTR_A64_LITERAL:
		*lead = FTR_LEAD_ADDRESS;
		return true;
	default:
		return false;
	}
}

/*
 * Addresses are made of a page's, which adrp leaves in a register, and of what add says lies in it,
 * perhaps much later: the last page of each register is what counts.
 */
static void leads(const struct ftr_code *code, uint64_t low, uint64_t high, ftr_lead_fn *each,
		  void *arg)
{
	uint64_t pages[REGISTERS] = { 0 };

	for (size_t at = 0; at + FTR_ARCH_INSTRUCTION_BYTES <= code->size;
	     at += FTR_ARCH_INSTRUCTION_BYTES) {
		uint32_t word = ftr_arch_word(code->bytes + at), offset;
		struct ftr_a64_insn insn = ftr_a64_insn(word, code->addr + at);
		struct ftr_lead lead = { .at = at, .to = insn.address };
		unsigned to, from;

		if (ftr_a64_is_add(word, &to, &from, &offset)) {
			lead.to = pages[from] + offset;
			lead.kind = FTR_LEAD_ADDRESS;
		} else if (!lead_kind(insn.kind, &lead.kind)) {
			continue;
		}
		if (insn.kind == FTR_A64_ADDRESS)
			pages[insn.reg] = insn.address;
		if (lead.to - low < high - low)
			each(arg, code, &lead);
	}
}

/* The stack pointer that paciasp signs by is still the same. */
static uint32_t landing_undo(const uint8_t *landing, uint32_t size)
{
	return ftr_arch_is_signing(landing, size) ? ftr_arch_word(landing) | AUTHENTICATES : 0;
}

const struct ftr_arch_plain ftr_arch_plain_aarch64 = {
	.insn_align = FTR_ARCH_INSTRUCTION_BYTES,
	.jump_bytes = FTR_ARCH_PLAIN_JUMP_BYTES,
	.head_bytes = FTR_ARCH_PLAIN_HEAD,
	.head_align = 16,
	.head_start = FTR_ARCH_PLAIN_START,
	.head_hook = 12,
	.head = {
		0, 0, 0, 0,
		0x1f, 0x20, 0x03, 0xd5,		/* nop */
		0xf1, 0x7b, 0xbf, 0xa9,		/* stp x17, x30, [sp, #-16]! */
		0, 0, 0, 0x94,			/* bl */
		0xf1, 0x7b, 0xc1, 0xa8,		/* ldp x17, x30, [sp], #16 */
	},
	.trap = 0,				/* udf #0, four times */
	.landing_undo = landing_undo,
	.head_undo = FTR_ARCH_PLAIN_START,
	.leads = leads,
};

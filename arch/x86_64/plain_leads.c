/* SPDX-License-Identifier: MIT */
/* x86-64: entering functions without room for a call, and what leads where in code. */
#include <string.h>

#include "arch/arch.h"
#include "arch/x86_64/plain.h"

extern const struct ftr_arch_plain ftr_arch_plain_x86_64;

#define OP_TWO_BYTES 0x0f
#define OP_LEA 0x8d
#define OP_CALL 0xe8
#define OP_JMP 0xe9
#define OP_JMP_SHORT 0xeb
#define OP_MOV_IMM32 0xc7	/* with another byte: xbegin */
#define MODRM_XBEGIN 0xf8
#define MODRM_RIP_MASK 0xc7
#define MODRM_RIP 0x05

/* What a byte may be the operation of. */
enum lead_class { CLASS_NONE, CLASS_CALL, CLASS_JUMP, CLASS_SHORT_JUMP, CLASS_SHORT_BRANCH,
		  CLASS_TWO_BYTES, CLASS_LEA, CLASS_IMM32, CLASS_XBEGIN };

static const uint8_t classes[256] = {
	[0x70 ... 0x7f] = CLASS_SHORT_BRANCH,
	[0xe0 ... 0xe3] = CLASS_SHORT_BRANCH,	/* loop, jrcxz */
	[OP_JMP_SHORT] = CLASS_SHORT_JUMP,
	[OP_CALL] = CLASS_CALL,
	[OP_JMP] = CLASS_JUMP,
	[OP_TWO_BYTES] = CLASS_TWO_BYTES,
	[OP_LEA] = CLASS_LEA,
	[0xb8 ... 0xbf] = CLASS_IMM32,
	[OP_MOV_IMM32] = CLASS_XBEGIN,
};

/* Whom to tell. */
struct search {
	const struct ftr_code *code;
	uint64_t low, high;
	ftr_lead_fn *each;
	void *arg;
};

static inline void tell(const struct search *search, size_t at, uint64_t to,
			enum ftr_lead_kind kind, bool is_short)
{
	struct ftr_lead lead = { at, to, (uint8_t)kind, is_short };

	if (to - search->low < search->high - search->low)
		search->each(search->arg, search->code, &lead);
}

static inline int32_t word_at(const struct ftr_code *code, size_t at)
{
	int32_t word;

	memcpy(&word, code->bytes + at, sizeof(word));
	return word;
}

/* A distance of four bytes at @field, which ends its instruction. */
static inline void tell_distance(const struct search *search, size_t at, size_t field,
				 enum ftr_lead_kind kind)
{
	const struct ftr_code *code = search->code;

	if (field + sizeof(int32_t) <= code->size)
		tell(search, at, code->addr + field + sizeof(int32_t) +
		     (uint64_t)(int64_t)word_at(code, field), kind, false);
}

static inline void tell_short(const struct search *search, size_t at, enum ftr_lead_kind kind)
{
	const struct ftr_code *code = search->code;

	if (at + 2 <= code->size)
		tell(search, at,
		     code->addr + at + 2 + (uint64_t)(int64_t)(int8_t)code->bytes[at + 1], kind,
		     true);
}

static inline void tell_longer(const struct search *search, size_t at, enum lead_class of)
{
	const struct ftr_code *code = search->code;
	uint8_t second = at + 1 < code->size ? code->bytes[at + 1] : 0;

	if (of == CLASS_TWO_BYTES && (second & 0xf0) == 0x80)
		tell_distance(search, at, at + 2, FTR_LEAD_BRANCH);
	else if (of == CLASS_LEA && (second & MODRM_RIP_MASK) == MODRM_RIP)
		tell_distance(search, at, at + 2, FTR_LEAD_ADDRESS);
	else if (of == CLASS_XBEGIN && second == MODRM_XBEGIN)
		tell_distance(search, at, at + 2, FTR_LEAD_BRANCH);
	else if (of == CLASS_XBEGIN && second >= 0xc0 && second <= 0xc7 && at + 6 <= code->size)
		tell(search, at, (uint32_t)word_at(code, at + 2), FTR_LEAD_ADDRESS, false);
	else if (of == CLASS_IMM32 && at + 5 <= code->size)
		tell(search, at, (uint32_t)word_at(code, at + 1), FTR_LEAD_ADDRESS, false);
}

static void leads(const struct ftr_code *code, uint64_t low, uint64_t high, ftr_lead_fn *each,
		  void *arg)
{
	struct search search = { code, low, high, each, arg };

	for (size_t at = 0; at < code->size; at++) {
		switch (classes[code->bytes[at]]) {
		case CLASS_NONE:
			break;
		case CLASS_CALL:
			tell_distance(&search, at, at + 1, FTR_LEAD_CALL);
			break;
		case CLASS_JUMP:
			tell_distance(&search, at, at + 1, FTR_LEAD_JUMP);
			break;
		case CLASS_SHORT_JUMP:
			tell_short(&search, at, FTR_LEAD_JUMP);
			break;
		case CLASS_SHORT_BRANCH:
			tell_short(&search, at, FTR_LEAD_BRANCH);
			break;
		default:
			tell_longer(&search, at, classes[code->bytes[at]]);
		}
	}
}

const struct ftr_arch_plain ftr_arch_plain_x86_64 = {
	.insn_align = 1,
	.jump_bytes = 5,
	.step_bytes = 2,
	.step_back = 128,
	.step_ahead = 127,
	.head_bytes = FTR_ARCH_PLAIN_HEAD,
	.head_align = 16,
	.head_start = FTR_ARCH_PLAIN_START,
	.head_hook = FTR_ARCH_PLAIN_HEAD - 4,
	.head = { 0, 0, 0, 0, 0x48, 0x8d, 0x64, 0x24, 0x80, OP_CALL, 0, 0, 0, 0 },
	.trap = 0xcc,
	.leads = leads,
};

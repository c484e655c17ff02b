/* SPDX-License-Identifier: MIT */
/* Moving x86-64 code, which Zydis decodes: operands relative to rip, branches and calls change. */
#include <Zydis/Zydis.h>
#include <string.h>

#include "utils/patch/move.h"
#include "utils/proto/plain.h"

#define BRANCHES_MAX 8

/* Opcodes of what is written. */
#define OP_PUSH_IMM32 0x68
#define OP_JMP_REL32 0xe9
#define OP_JMP_REL8 0xeb
#define OP_JCC_REL32 0x80	/* behind 0x0f, the condition in the lowest four bits */
#define MODRM_REG 0x38
#define MODRM_REG_JMP 0x20	/* of 0xff */
#define REG_CALL 2

/* The work on one entry. */
struct move {
	ZydisDecoder decoder;
	const struct ftr_code *code;
	uint64_t to;
	struct ftr_moved *moved;
	uint64_t branches[BRANCHES_MAX];	/* where those that were moved lead */
	unsigned branch_nr;
};

bool ftr_move_is_possible(void)
{
	return true;
}

static void decoder_init(ZydisDecoder *decoder)
{
	ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

static bool decode(const ZydisDecoder *decoder, const struct ftr_code *code, size_t at,
		   ZydisDecodedInstruction *insn)
{
	return at < code->size &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, NULL, code->bytes + at,
							  code->size - at, insn));
}

static void put(struct move *move, const void *bytes, unsigned nr)
{
	memcpy(move->moved->code + move->moved->code_bytes, bytes, nr);
	move->moved->code_bytes += nr;
}

static void put_byte(struct move *move, unsigned byte)
{
	uint8_t b = (uint8_t)byte;

	put(move, &b, 1);
}

static void field_set(struct move *move, unsigned at, enum ftr_plain_fix kind, uint64_t value)
{
	struct ftr_moved *moved = move->moved;
	uint32_t word = (uint32_t)value;

	memcpy(moved->code + at, &word, sizeof(word));
	moved->fixes[moved->fix_nr].at = (uint8_t)at;
	moved->fixes[moved->fix_nr].kind = (uint8_t)kind;
	moved->fix_nr++;
}

static void put_field(struct move *move, enum ftr_plain_fix kind, uint64_t value)
{
	unsigned at = move->moved->code_bytes;

	move->moved->code_bytes += sizeof(uint32_t);
	field_set(move, at, kind, value);
}

/* The distance to @target that ends an instruction. */
static void put_distance(struct move *move, uint64_t target)
{
	uint64_t next = move->to + move->moved->code_bytes + sizeof(uint32_t);

	put_field(move, FTR_PLAIN_RELATIVE, target - next);
}

static void put_jump(struct move *move, uint64_t target)
{
	put_byte(move, OP_JMP_REL32);
	put_distance(move, target);
}

static bool is_relative_branch(const ZydisDecodedInstruction *insn)
{
	return insn->raw.imm[0].is_relative != 0;
}

/* Its operand in memory is at a distance from the next instruction. */
static bool is_rip_relative(const ZydisDecodedInstruction *insn)
{
	return (insn->attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 && insn->raw.modrm.mod == 0 &&
	       insn->raw.modrm.rm == 5 && insn->raw.disp.size == 32;
}

static bool is_special(const ZydisDecodedInstruction *insn)
{
	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSTEM:
		return true;
	default:
		break;
	}
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_XABORT:
		return true;
	default:
		return is_rip_relative(insn) && insn->address_width != 64;
	}
}

/* As it is, but for a distance in it. */
static void copy(struct move *move, size_t from, const ZydisDecodedInstruction *insn)
{
	uint64_t next = move->code->addr + from + insn->length;
	unsigned at = move->moved->code_bytes;

	put(move, move->code->bytes + from, insn->length);
	if (is_rip_relative(insn))
		field_set(move, at + insn->raw.disp.offset, FTR_PLAIN_RELATIVE,
			  next + (uint64_t)insn->raw.disp.value - (move->to + at + insn->length));
}

/* jrcxz and loop have short forms alone: they lead over a jump to a jump. */
static void put_short_only(struct move *move, size_t from, const ZydisDecodedInstruction *insn,
			   uint64_t target)
{
	put(move, move->code->bytes + from, insn->length - 1u);
	put_byte(move, 2);
	put_byte(move, OP_JMP_REL8);
	put_byte(move, 5);
	put_jump(move, target);
}

static void put_branch(struct move *move, size_t from, const ZydisDecodedInstruction *insn,
		       uint64_t target)
{
	if (insn->meta.category == ZYDIS_CATEGORY_UNCOND_BR) {
		put_jump(move, target);
	} else if (insn->opcode_map == ZYDIS_OPCODE_MAP_0F || (insn->opcode & 0xf0) == 0x70) {
		put_byte(move, 0x0f);
		put_byte(move, OP_JCC_REL32 | (insn->opcode & 0xf));
		put_distance(move, target);
	} else {
		put_short_only(move, from, insn, target);
	}
}

/* The address that the call pushed: it still returns into the program's own code. */
static void put_push(struct move *move, uint64_t address)
{
	static const uint8_t store_high[] = { 0xc7, 0x44, 0x24, 0x04 };	/* movl $, 4(%rsp) */

	put_byte(move, OP_PUSH_IMM32);
	put_field(move, FTR_PLAIN_LOW, address);
	put(move, store_high, sizeof(store_high));
	put_field(move, FTR_PLAIN_HIGH, address);
}

/* A call becomes a push of the address that it returned to, and a jump. */
static enum ftr_move_state put_call(struct move *move, size_t from,
				    const ZydisDecodedInstruction *insn, uint64_t target)
{
	unsigned modrm = insn->raw.modrm.offset, at;
	bool uses_rsp = insn->raw.modrm.mod != 3 && insn->raw.modrm.rm == 4 &&
			insn->raw.sib.base == 4 && (insn->attributes & ZYDIS_ATTRIB_HAS_SIB) != 0;

	if (!is_relative_branch(insn) &&
	    (insn->opcode != 0xff || insn->raw.modrm.reg != REG_CALL || uses_rsp ||
	     (insn->raw.modrm.mod == 3 && insn->raw.modrm.rm == 4)))
		return FTR_MOVE_SPECIAL;
	put_push(move, move->code->addr + from + insn->length);
	move->moved->has_call = true;
	if (is_relative_branch(insn)) {
		put_jump(move, target);
		return FTR_MOVE_DONE;
	}
	at = move->moved->code_bytes;
	copy(move, from, insn);
	move->moved->code[at + modrm] = (uint8_t)((move->moved->code[at + modrm] & ~MODRM_REG) |
						  MODRM_REG_JMP);
	return FTR_MOVE_DONE;
}

static enum ftr_move_state put_insn(struct move *move, size_t from,
				    const ZydisDecodedInstruction *insn)
{
	uint64_t target = move->code->addr + from + insn->length +
			  (uint64_t)insn->raw.imm[0].value.s;
	bool is_branch = is_relative_branch(insn);

	if (is_special(insn) || (is_branch && insn->raw.imm[0].size == 16) ||
	    (is_branch && move->branch_nr == BRANCHES_MAX))
		return FTR_MOVE_SPECIAL;
	if (is_branch)
		move->branches[move->branch_nr++] = target;
	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return put_call(move, from, insn, target);
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_UNCOND_BR:
		move->moved->ends = true;
		break;
	default:
		break;
	}
	if (is_branch)
		put_branch(move, from, insn, target);
	else
		copy(move, from, insn);
	return FTR_MOVE_DONE;
}

static bool leads_into(const struct move *move)
{
	for (unsigned i = 0; i < move->branch_nr; i++) {
		if (move->branches[i] - move->code->addr < move->moved->from_bytes)
			return true;
	}
	return false;
}

enum ftr_move_state ftr_move(const struct ftr_code *code, unsigned want, uint64_t to,
			     struct ftr_moved *moved)
{
	struct move move = { .code = code, .to = to, .moved = moved };
	ZydisDecodedInstruction insn;
	enum ftr_move_state state;

	*moved = (struct ftr_moved){ 0 };
	decoder_init(&move.decoder);
	while (moved->from_bytes < want && !moved->ends && !moved->has_call) {
		if (!decode(&move.decoder, code, moved->from_bytes, &insn))
			return FTR_MOVE_UNDECODED;
		state = put_insn(&move, moved->from_bytes, &insn);
		if (state != FTR_MOVE_DONE)
			return state;
		moved->from_bytes += insn.length;
	}
	if (leads_into(&move))
		return FTR_MOVE_INTO;
	if (moved->has_call && moved->from_bytes < want)
		return FTR_MOVE_CALL;
	if (!moved->ends && !moved->has_call)
		put_jump(&move, code->addr + moved->from_bytes);
	return FTR_MOVE_DONE;
}

bool ftr_move_has_short_branch(const struct ftr_code *code, size_t at)
{
	ZydisDecodedInstruction insn = { 0 };
	ZydisDecoder decoder;
	size_t end = 0;

	decoder_init(&decoder);
	while (end <= at) {
		if (!decode(&decoder, code, end, &insn))
			return true;
		end += insn.length;
	}
	return is_relative_branch(&insn) && end == at + 2;	/* behind its distance */
}

unsigned ftr_move_last_bytes(const struct ftr_code *code)
{
	ZydisDecodedInstruction insn = { 0 };
	ZydisDecoder decoder;
	size_t pos = 0;

	decoder_init(&decoder);
	while (pos < code->size) {
		if (!decode(&decoder, code, pos, &insn))
			return 0;
		pos += insn.length;
	}
	return insn.length;
}

bool ftr_move_is_closed(const struct ftr_code *code)
{
	ZydisDecodedInstruction insn = { 0 };
	ZydisDecoder decoder;
	size_t pos = 0;

	decoder_init(&decoder);
	while (pos < code->size) {
		if (!decode(&decoder, code, pos, &insn))
			return false;
		pos += insn.length;
	}
	switch (insn.meta.category) {
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_INTERRUPT:
		return true;
	default:
		return insn.mnemonic == ZYDIS_MNEMONIC_UD2 || insn.mnemonic == ZYDIS_MNEMONIC_HLT;
	}
}

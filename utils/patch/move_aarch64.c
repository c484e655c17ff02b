/* SPDX-License-Identifier: MIT */
/*
 * Moving code of 64-bit Arm: instructions that count from where they are become others that do not,
 * and literals hold the addresses that they make.
 */
#include <string.h>

#include "arch/aarch64/insn.h"
#include "arch/aarch64/patch.h"
#include "utils/patch/move.h"
#include "utils/proto/plain.h"

#define INSN_BYTES FTR_ARCH_INSTRUCTION_BYTES
#define MOVED_INSN_BYTES_MAX 28u	/* what becomes of one, with the branch behind it */
#define LINK 30
#define IP0 16				/* a jump by these is one to a function */
#define IP1 17
#define SIGNED_CALL 0x01000800u		/* bits of blraa and its kin */

#define LDR_AT_8 0x58000040u		/* ldr xN, from 8 bytes further */
#define LDR_BASE 0xf9400000u		/* ldr xT, [xN] */
#define LDR_W_BASE 0xb9400000u
#define LDRSW_BASE 0xb9800000u
#define BR 0xd61f0000u

/* The work on one entry. */
struct move {
	const struct ftr_code *code;
	uint64_t to;
	struct ftr_moved *moved;
};

bool ftr_move_is_possible(void)
{
	return true;
}

static void fix_add(struct move *move, enum ftr_plain_fix kind)
{
	struct ftr_moved *moved = move->moved;

	moved->fixes[moved->fix_nr].at = (uint8_t)moved->code_bytes;
	moved->fixes[moved->fix_nr].kind = (uint8_t)kind;
	moved->fix_nr++;
}

static void put(struct move *move, uint32_t word)
{
	ftr_arch_word_put(move->moved->code + move->moved->code_bytes, word);
	move->moved->code_bytes += INSN_BYTES;
}

/* As if the code and base were at 0: the distance is then that of the fields. */
static void put_branch(struct move *move, uint64_t target)
{
	fix_add(move, FTR_PLAIN_BRANCH);
	put(move, ftr_a64_branch(target - (move->to + move->moved->code_bytes)));
}

static void put_literal(struct move *move, uint64_t address)
{
	fix_add(move, FTR_PLAIN_LOW);
	put(move, (uint32_t)address);
	fix_add(move, FTR_PLAIN_HIGH);
	put(move, (uint32_t)address);
}

/* ldr xN; b over the literal; the literal. */
static void put_address(struct move *move, unsigned reg, uint64_t address)
{
	put(move, LDR_AT_8 | reg);
	put(move, ftr_a64_branch(INSN_BYTES + sizeof(uint64_t)));
	put_literal(move, address);
}

/* The address that it returns to, which is in the program's own code; then a jump. */
static void put_call(struct move *move, uint64_t back, uint32_t jump, uint64_t target)
{
	move->moved->has_call = true;
	put(move, LDR_AT_8 | LINK);
	if (jump == FTR_ARCH_B)
		put_branch(move, target);
	else
		put(move, jump);
	put_literal(move, back);
}

/* Where the condition holds, over a branch that goes on to one that leads where it led. */
static void put_condition(struct move *move, uint32_t word, uint64_t next,
			  const struct ftr_a64_insn *insn)
{
	put(move, ftr_a64_over(word, insn->kind, 2));
	put_branch(move, next);
	put_branch(move, insn->address);
	move->moved->ends = true;
}

/* A load of what lies at a distance; not of vectors, nor what is only fetched ahead. */
static enum ftr_move_state put_load(struct move *move, uint32_t word, unsigned reg,
				    uint64_t address)
{
	static const uint32_t loads[] = { LDR_W_BASE, LDR_BASE, LDRSW_BASE };
	unsigned size = ftr_a64_load_size(word);

	if (ftr_a64_is_vector_load(word) || size >= sizeof(loads) / sizeof(loads[0]) || reg == 31)
		return FTR_MOVE_SPECIAL;
	put_address(move, reg, address);
	put(move, ftr_a64_with_base(loads[size], reg) | reg);
	return FTR_MOVE_DONE;
}

static enum ftr_move_state put_insn(struct move *move, uint32_t word, uint64_t addr)
{
	struct ftr_a64_insn insn = ftr_a64_insn(word, addr);
	uint64_t next = addr + INSN_BYTES;

	switch (insn.kind) {
	case FTR_A64_JUMP:
		put_branch(move, insn.address);
		move->moved->ends = true;
		return FTR_MOVE_DONE;
	case FTR_A64_CALL:
		put_call(move, next, FTR_ARCH_B, insn.address);
		return FTR_MOVE_DONE;
	case FTR_A64_CALL_REGISTER:
		/* By other registers a jump is none that a function may be entered by (BTI). */
		if ((insn.reg != IP0 && insn.reg != IP1) || (word & SIGNED_CALL) != 0)
			return FTR_MOVE_SPECIAL;
		put_call(move, next, ftr_a64_with_base(BR, insn.reg), 0);
		return FTR_MOVE_DONE;
	case FTR_A64_BRANCH:
	case FTR_A64_COMPARE:
	case FTR_A64_TEST:
		put_condition(move, word, next, &insn);
		return FTR_MOVE_DONE;
	case FTR_A64_ADDRESS:
		if (insn.reg == 31)
			return FTR_MOVE_SPECIAL;
		put_address(move, insn.reg, insn.address);
		return FTR_MOVE_DONE;
	case FTR_A64_LITERAL:
		return put_load(move, word, insn.reg, insn.address);
	case FTR_A64_SYSTEM:
	case FTR_A64_TRAP:
		return FTR_MOVE_SPECIAL;
	case FTR_A64_RETURN:
	case FTR_A64_JUMP_REGISTER:
		move->moved->ends = true;
		break;
	default:
		break;
	}
	put(move, word);
	return FTR_MOVE_DONE;
}

/* What it branches to, which is within what was moved. */
static bool leads_into(const struct ftr_code *code, unsigned bytes)
{
	for (unsigned at = 0; at < bytes; at += INSN_BYTES) {
		struct ftr_a64_insn insn = ftr_a64_insn(ftr_arch_word(code->bytes + at),
							code->addr + at);

		if ((insn.kind == FTR_A64_JUMP || insn.kind == FTR_A64_CALL ||
		     insn.kind == FTR_A64_BRANCH || insn.kind == FTR_A64_COMPARE ||
		     insn.kind == FTR_A64_TEST) && insn.address - code->addr < bytes)
			return true;
	}
	return false;
}

enum ftr_move_state ftr_move(const struct ftr_code *code, unsigned want, uint64_t to,
			     struct ftr_moved *moved)
{
	struct move move = { .code = code, .to = to, .moved = moved };
	enum ftr_move_state state;

	*moved = (struct ftr_moved){ 0 };
	while (moved->from_bytes < want && !moved->ends && !moved->has_call) {
		unsigned at = moved->from_bytes;

		if (at + INSN_BYTES > code->size)
			return FTR_MOVE_UNDECODED;
		if (moved->code_bytes + MOVED_INSN_BYTES_MAX > FTR_MOVED_BYTES_MAX)
			return FTR_MOVE_SPECIAL;
		state = put_insn(&move, ftr_arch_word(code->bytes + at), code->addr + at);
		if (state != FTR_MOVE_DONE)
			return state;
		moved->from_bytes += INSN_BYTES;
	}
	if (leads_into(code, moved->from_bytes))
		return FTR_MOVE_INTO;
	if (moved->has_call && moved->from_bytes < want)
		return FTR_MOVE_CALL;
	if (!moved->ends && !moved->has_call)
		put_branch(&move, code->addr + moved->from_bytes);
	return FTR_MOVE_DONE;
}

/* No branch is that short. */
bool ftr_move_has_short_branch(const struct ftr_code *code, size_t at)
{
	return true;
}

unsigned ftr_move_last_bytes(const struct ftr_code *code)
{
	return code->size >= INSN_BYTES && code->size % INSN_BYTES == 0 ? INSN_BYTES : 0;
}

bool ftr_move_is_closed(const struct ftr_code *code)
{
	unsigned bytes = ftr_move_last_bytes(code);

	if (bytes == 0)
		return false;
	switch (ftr_a64_insn(ftr_arch_word(code->bytes + code->size - bytes), 0).kind) {
	case FTR_A64_JUMP:
	case FTR_A64_CALL:
	case FTR_A64_JUMP_REGISTER:
	case FTR_A64_CALL_REGISTER:
	case FTR_A64_RETURN:
	case FTR_A64_TRAP:
		return true;
	default:
		return false;
	}
}

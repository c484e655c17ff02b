/* SPDX-License-Identifier: MIT */
/*
 * Instructions by the classes of the architecture's encoding (chapter C4 of Arm's manual): all are
 * words of four bytes, and a class has its registers in the same fields, so that two tables are all
 * it takes.
 */
#include "arch/aarch64/insn.h"

#include <stddef.h>

#define PAGE_SHIFT 12

/* Fields with registers. */
#define D 1u		/* bits 4..0 */
#define N 2u		/* 9..5 */
#define A 4u		/* 14..10 */
#define M 8u		/* 20..16 */
#define FIELDS (D | N | A | M)

/* The first that matches. */
static const struct row {
	uint32_t mask, value;
	uint8_t reads, writes;	/* fields */
} rows[] = {
	{ 0x1f000000, 0x10000000, 0, D },		/* adr, adrp */
	{ 0x1f000000, 0x11000000, N, D },		/* add, sub: constants */
	{ 0x1f800000, 0x12000000, N, D },		/* and, orr, eor: constants */
	{ 0x7f800000, 0x72800000, D, D },		/* movk */
	{ 0x1f800000, 0x12800000, 0, D },		/* movz, movn */
	{ 0x7f800000, 0x33000000, N | D, D },		/* bfm */
	{ 0x1f800000, 0x13000000, N, D },		/* sbfm, ubfm */
	{ 0x1f800000, 0x13800000, N | M, D },		/* extr */
	{ 0x7c000000, 0x14000000, 0, 0 },		/* b, bl */
	{ 0xfe000000, 0x54000000, 0, 0 },		/* b.cond */
	{ 0x7e000000, 0x34000000, D, 0 },		/* cbz, cbnz */
	{ 0x7e000000, 0x36000000, D, 0 },		/* tbz, tbnz */
	{ 0xff000000, 0xd6000000, N, 0 },		/* br, blr, ret */
	{ 0xff000000, 0xd7000000, N | D, 0 },		/* braa, blraa */
	{ 0xfff00000, 0xd5300000, 0, D },		/* mrs */
	{ 0xfff80000, 0xd5280000, 0, D },		/* sysl */
	{ 0xffc00000, 0xd5000000, D, 0 },		/* msr, sys, hints */
	{ 0x3f000000, 0x1c000000, 0, 0 },		/* ldr of a vector, by distance */
	{ 0xff000000, 0xd8000000, 0, 0 },		/* prfm, by distance */
	{ 0x3f000000, 0x18000000, 0, D },		/* ldr, ldrsw, by distance */
	{ 0x3f800000, 0x2c800000, N, N },		/* ldp, stp of vectors, that write back */
	{ 0x3e000000, 0x2c000000, N, 0 },		/* ldp, stp of vectors */
	{ 0x3fc00000, 0x28c00000, N, D | A | N },	/* ldp, behind */
	{ 0x3fc00000, 0x29c00000, N, D | A | N },	/* ldp, before */
	{ 0x3e400000, 0x28400000, N, D | A },		/* ldp, ldnp */
	{ 0x3e800000, 0x28800000, N | D | A, N },	/* stp that writes back */
	{ 0x3e000000, 0x28000000, N | D | A, 0 },	/* stp, stnp */
	{ 0x3f200400, 0x3c000400, N, N },		/* ldr, str of vectors, that write back */
	{ 0x3f200c00, 0x3c200800, N | M, 0 },		/* ... with an index */
	{ 0x3f200000, 0x3c000000, N, 0 },
	{ 0x3f000000, 0x3d000000, N, 0 },
	{ 0xffe00000, 0xf8800000, N, 0 },		/* prfum */
	{ 0xffe00c00, 0xf8a00800, N | M, 0 },		/* prfm with an index */
	{ 0xffc00000, 0xf9800000, N, 0 },		/* prfm */
	{ 0x3fe00400, 0x38000400, N | D, N },		/* str that writes back */
	{ 0x3fe00000, 0x38000000, N | D, 0 },		/* stur, sttr */
	{ 0x3fe00c00, 0x38200800, N | M | D, 0 },	/* str with an index */
	{ 0x3fc00000, 0x39000000, N | D, 0 },		/* str */
	{ 0x3f200400, 0x38000400, N, D | N },		/* ldr that writes back */
	{ 0x3f200000, 0x38000000, N, D },		/* ldur, ldtr */
	{ 0x3f200c00, 0x38200800, N | M, D },		/* ldr with an index */
	{ 0x3f000000, 0x39000000, N, D },		/* ldr */
	{ 0x1e000000, 0x0a000000, N | M, D },		/* add, and, ... of registers */
	{ 0x1fe00000, 0x1a000000, N | M, D },		/* adc, sbc */
	{ 0x1fe00800, 0x1a400000, N | M, 0 },		/* ccmp of registers */
	{ 0x1fe00800, 0x1a400800, N, 0 },		/* ... of a constant */
	{ 0x1fe00000, 0x1a800000, N | M, D },		/* csel */
	{ 0x5fe00000, 0x1ac00000, N | M, D },		/* udiv, lsl, ... */
	{ 0x5ffe0000, 0x5ac00000, N, D },		/* rev, clz, ... */
	{ 0x5fe00000, 0x5ac00000, N | D, D },		/* pacia, ... */
	{ 0x1f000000, 0x1b000000, N | M | A, D },	/* madd, ... */
	{ 0x5f200000, 0x1e000000, N | D, 0 },		/* numbers with a fixed point */
	{ 0x5f20fc00, 0x1e200000, N | D, 0 },		/* fmov, scvtf, ... */
	{ 0x5f000000, 0x1e000000, 0, 0 },		/* other floating point */
	{ 0x1f000000, 0x1f000000, 0, 0 },
	{ 0x9fe08400, 0x0e000400, N | D, 0 },		/* dup, ins, umov, ... */
	{ 0x9f000000, 0x0e000000, 0, 0 },		/* other vectors */
	{ 0x9f000000, 0x0f000000, 0, 0 },
	{ 0xdf000000, 0x5e000000, 0, 0 },
	{ 0xdf000000, 0x5f000000, 0, 0 },
	{ 0xff000000, 0xce000000, 0, 0 },		/* sha3, sm3 */
	{ 0, 0, FIELDS, 0 },
};

static uint32_t registers_of(uint32_t word, unsigned fields)
{
	uint32_t bits = 0;

	if ((fields & D) != 0)
		bits |= 1u << (word & 31);
	if ((fields & N) != 0)
		bits |= 1u << (word >> 5 & 31);
	if ((fields & A) != 0)
		bits |= 1u << (word >> 10 & 31);
	if ((fields & M) != 0)
		bits |= 1u << (word >> 16 & 31);
	return bits & 0x7fffffffu;
}

struct ftr_a64_registers ftr_a64_registers(uint32_t word)
{
	const struct row *row = rows;

	while ((word & row->mask) != row->value)
		row++;
	return (struct ftr_a64_registers){ registers_of(word, row->reads),
					   registers_of(word, row->writes) };
}

/* What is at a distance, leads elsewhere or traps; the first that matches. */
static const struct kind_row {
	uint32_t mask, value;
	uint8_t kind;
	uint8_t from, bits;	/* the distance, in words */
} kinds[] = {
	{ 0xfc000000, 0x14000000, FTR_A64_JUMP, 0, 26 },
	{ 0xfc000000, 0x94000000, FTR_A64_CALL, 0, 26 },
	{ 0xff000000, 0x54000000, FTR_A64_BRANCH, 5, 19 },
	{ 0x7e000000, 0x34000000, FTR_A64_COMPARE, 5, 19 },
	{ 0x7e000000, 0x36000000, FTR_A64_TEST, 5, 14 },
	{ 0x1f000000, 0x10000000, FTR_A64_ADDRESS, 0, 0 },
	{ 0x3b000000, 0x18000000, FTR_A64_LITERAL, 5, 19 },
	{ 0xfeff0000, 0xd61f0000, FTR_A64_JUMP_REGISTER, 0, 0 },	/* and braa: bit 24 */
	{ 0xfeff0000, 0xd63f0000, FTR_A64_CALL_REGISTER, 0, 0 },
	{ 0xfeff0000, 0xd65f0000, FTR_A64_RETURN, 0, 0 },
	{ 0xfe000000, 0xd6000000, FTR_A64_TRAP, 0, 0 },			/* eret, drps */
	{ 0xffe0001c, 0xd4000000, FTR_A64_SYSTEM, 0, 0 },		/* svc, hvc, smc */
	{ 0xff000000, 0xd4000000, FTR_A64_TRAP, 0, 0 },			/* brk, hlt, ... */
	{ 0xffff0000, 0x00000000, FTR_A64_TRAP, 0, 0 },			/* udf */
};

static uint64_t distance_of(uint32_t word, unsigned from, unsigned bits)
{
	uint64_t field = (uint64_t)(word >> from) << (64 - bits);

	return (uint64_t)((int64_t)field >> (64 - bits)) * 4;
}

/* adr counts bytes from the instruction, adrp pages from its page. */
static uint64_t address_made(uint32_t word, uint64_t addr)
{
	uint32_t field = (word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);
	uint64_t distance = (uint64_t)((int64_t)((uint64_t)field << 43) >> 43);

	if ((word & 0x80000000u) == 0)
		return addr + distance;
	return (addr >> PAGE_SHIFT << PAGE_SHIFT) + (distance << PAGE_SHIFT);
}

struct ftr_a64_insn ftr_a64_insn(uint32_t word, uint64_t addr)
{
	struct ftr_a64_insn insn = { .kind = FTR_A64_OTHER, .reg = word & 31 };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if ((word & kinds[i].mask) != kinds[i].value)
			continue;
		insn.kind = kinds[i].kind;
		if (kinds[i].bits != 0)
			insn.address = addr + distance_of(word, kinds[i].from, kinds[i].bits);
		break;
	}
	if (insn.kind == FTR_A64_ADDRESS)
		insn.address = address_made(word, addr);
	else if (insn.kind == FTR_A64_JUMP_REGISTER || insn.kind == FTR_A64_CALL_REGISTER)
		insn.reg = word >> 5 & 31;
	return insn;
}

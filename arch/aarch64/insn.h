/* SPDX-License-Identifier: MIT */
/*
 * Instructions of 64-bit Arm, as far as code that is read or moved needs to know them: which
 * general registers they read and write, where they lead, and whether their place matters.
 */
#ifndef FTR_ARCH_AARCH64_INSN_H
#define FTR_ARCH_AARCH64_INSN_H

#include <stdbool.h>
#include <stdint.h>

enum ftr_a64_kind {
	FTR_A64_OTHER,		/* the same wherever it runs */
	FTR_A64_JUMP,		/* b */
	FTR_A64_CALL,		/* bl */
	FTR_A64_BRANCH,		/* b.cond, bc.cond: a distance of 19 bits */
	FTR_A64_COMPARE,	/* cbz, cbnz: the same */
	FTR_A64_TEST,		/* tbz, tbnz: 14 bits */
	FTR_A64_JUMP_REGISTER,	/* br and its kin */
	FTR_A64_CALL_REGISTER,	/* blr and its kin */
	FTR_A64_RETURN,
	FTR_A64_ADDRESS,	/* adr, adrp: it makes an address */
	FTR_A64_LITERAL,	/* ldr, ldrsw, prfm with a distance: it reads at an address */
	FTR_A64_SYSTEM,		/* svc and its kin: they come back */
	FTR_A64_TRAP,		/* exceptions, and what there is not */
};

struct ftr_a64_insn {
	uint8_t	 kind;		/* enum ftr_a64_kind */
	uint8_t	 reg;		/* that is jumped to, compared, or gets the address */
	uint64_t address;	/* where it leads, or what it makes or reads at */
};

/* @word, which runs at @addr. */
struct ftr_a64_insn ftr_a64_insn(uint32_t word, uint64_t addr);

/* General registers, a bit each; x31 is none. */
struct ftr_a64_registers {
	uint32_t reads, writes;
};

/* What it may read, and what it writes in any case; of what is not known: it reads all it names. */
struct ftr_a64_registers ftr_a64_registers(uint32_t word);

/* b, over so many bytes. */
static inline uint32_t ftr_a64_branch(uint64_t distance)
{
	return 0x14000000u | ((uint32_t)(distance >> 2) & 0x3ffffffu);
}

/* A branch of another kind, over so many words. */
static inline uint32_t ftr_a64_over(uint32_t word, unsigned kind, unsigned words)
{
	uint32_t field = kind == FTR_A64_TEST ? 0x0007ffe0u : 0x00ffffe0u;

	return (word & ~field) | words << 5;
}

/* br xN, and what reads at [xN] */
static inline uint32_t ftr_a64_with_base(uint32_t word, unsigned reg)
{
	return word | reg << 5;
}

/* Of a load by distance: ldr Wt, ldr Xt, ldrsw, prfm; of a vector. */
static inline unsigned ftr_a64_load_size(uint32_t word)
{
	return word >> 30;
}

static inline bool ftr_a64_is_vector_load(uint32_t word)
{
	return (word & 0x04000000u) != 0;
}

/* ldr Xt, address: 8 bytes. */
static inline bool ftr_a64_is_literal_load(uint32_t word)
{
	return (word & 0xff000000u) == 0x58000000u;
}

/* ldr Xt, [Xn, #offset]: 8 bytes. */
static inline bool ftr_a64_is_load(uint32_t word, unsigned *to, unsigned *from, uint32_t *offset)
{
	*to = word & 31;
	*from = word >> 5 & 31;
	*offset = (word >> 10 & 0xfff) * 8;
	return (word & 0xffc00000u) == 0xf9400000u;
}

/* add Xd, Xn, #offset */
static inline bool ftr_a64_is_add(uint32_t word, unsigned *to, unsigned *from, uint32_t *offset)
{
	*to = word & 31;
	*from = word >> 5 & 31;
	*offset = word >> 10 & 0xfff;
	return (word & 0xffc00000u) == 0x91000000u;
}

#endif /* FTR_ARCH_AARCH64_INSN_H */

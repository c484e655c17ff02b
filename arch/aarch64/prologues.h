/* SPDX-License-Identifier: MIT */
/*
 * Prologues that were read, each with the very instructions that say so: what is found here is what
 * these say, whatever code was at their place before.  doc/adr/0090
 *
 * An entry is filled once and stays, so that it is read without a lock, by handlers that interrupt
 * its filling too: what it says is stored last.  Calls that have no room here are decoded each
 * time, as are those of an entry whose filling was jumped out of.
 */
#ifndef FTR_ARCH_AARCH64_PROLOGUES_H
#define FTR_ARCH_AARCH64_PROLOGUES_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "arch/aarch64/prologue.h"

#define FTR_PROLOGUES_NR 8192u		/* one for each 32 bytes of 256 KB of code */
#define FTR_PROLOGUES_UNIT 32u
#define FTR_PROLOGUES_PAGE 4096u	/* the smallest; where a call is in one is in its index */
#define FTR_PROLOGUES_NEAR 4		/* pairs of instructions before the call, compared always */
#define FTR_PROLOGUES_PAIRS 7		/* and with those before them, compared where they matter */

/*
 * What a prologue says, in a word: from x29 to the frame's last word << 3, FTR_PROLOGUES_FAR, its
 * sign.  Less than FTR_PROLOGUES_SAID: nothing.
 */
#define FTR_PROLOGUES_SIGN 3u
#define FTR_PROLOGUES_FAR 4u
#define FTR_PROLOGUES_SHIFT 3
#define FTR_PROLOGUES_BUSY 1u		/* it is being filled */
#define FTR_PROLOGUES_SAID (1u << FTR_PROLOGUES_SHIFT)

/* Two instructions, which stand anywhere. */
typedef uint64_t ftr_prologues_pair __attribute__((aligned(4), may_alias));

static_assert(FTR_PROLOGUES_NEAR == 4 && FTR_PROLOGUES_PAIRS == 7, "ftr_prologues_is_near");

struct ftr_prologues_entry {
	uint64_t said;			/* 0 = free */
	uint64_t code[FTR_PROLOGUES_PAIRS];	/* pairs in their order, up to the call */
};

/* The entry of the call that returns to @call. */
static inline uint32_t ftr_prologues_index(uintptr_t call)
{
	return call / FTR_PROLOGUES_UNIT % FTR_PROLOGUES_NR;
}

/*
 * Are the instructions that an entry holds in the page of the call itself, and so can be read?
 * All calls of one entry have one answer.
 */
static inline bool ftr_prologues_is_readable(uintptr_t call)
{
	return call % FTR_PROLOGUES_PAGE >= 2 * FTR_PROLOGUES_UNIT;
}

/* The instructions before the call that returns to @call. */
static inline const ftr_prologues_pair *ftr_prologues_code(uintptr_t call)
{
	return (const ftr_prologues_pair *)(call - sizeof(uint32_t)) - FTR_PROLOGUES_PAIRS;
}

static inline uint64_t ftr_prologues_word(struct ftr_prologue prologue)
{
	return (prologue.bytes - sizeof(uint64_t)) << FTR_PROLOGUES_SHIFT | prologue.sign;
}

/* Are the pairs before the call those that were kept?  Three are compared without a branch. */
static inline bool ftr_prologues_is_near(const uint64_t *kept, const ftr_prologues_pair *code)
{
	return ((kept[3] == code[3]) & (kept[4] == code[4]) & (kept[5] == code[5])) &&
	       kept[6] == code[6];
}

static inline bool ftr_prologues_is_far(const uint64_t *kept, const ftr_prologues_pair *code)
{
	return (kept[0] == code[0]) & (kept[1] == code[1]) & (kept[2] == code[2]);
}

/* The word of the function whose call of _mcount returns to @call; 0 = not known. */
static inline uint64_t ftr_prologues_find(const struct ftr_prologues_entry *entries, uintptr_t call)
{
	const struct ftr_prologues_entry *entry = &entries[ftr_prologues_index(call)];
	uint64_t said = __atomic_load_n(&entry->said, __ATOMIC_ACQUIRE);
	const ftr_prologues_pair *code = ftr_prologues_code(call);

	if (__builtin_expect(said < FTR_PROLOGUES_SAID, 0) ||
	    __builtin_expect(!ftr_prologues_is_near(entry->code, code), 0))
		return 0;
	if ((said & FTR_PROLOGUES_FAR) != 0 && !ftr_prologues_is_far(entry->code, code))
		return 0;
	return said;
}

/* What the last @pairs of @code say, by themselves; 0 = nothing. */
static inline uint64_t ftr_prologues_read(const uint64_t *code, unsigned pairs)
{
	struct ftr_prologue prologue;
	uint32_t words[2 * FTR_PROLOGUES_PAIRS];
	unsigned i, nr = 2 * pairs;

	for (i = 0; i < pairs; i++) {
		uint64_t pair = code[FTR_PROLOGUES_PAIRS - pairs + i];

		words[2 * i] = (uint32_t)pair;
		words[2 * i + 1] = (uint32_t)(pair >> 32);
	}
	prologue = ftr_prologue_read(&words[nr - 1], &words[0]);

	return prologue.bytes != 0 && prologue.is_whole ? ftr_prologues_word(prologue) : 0;
}

/* Keep what is said of the call that returns to @call, if there is room and it is said near it. */
static inline void ftr_prologues_add(struct ftr_prologues_entry *entries, uintptr_t call)
{
	struct ftr_prologues_entry *entry = &entries[ftr_prologues_index(call)];
	const ftr_prologues_pair *code = ftr_prologues_code(call);
	uint64_t said = 0;
	unsigned i;

	if (!ftr_prologues_is_readable(call) ||
	    !__atomic_compare_exchange_n(&entry->said, &said, FTR_PROLOGUES_BUSY, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	for (i = 0; i < FTR_PROLOGUES_PAIRS; i++)
		entry->code[i] = code[i];
	__atomic_signal_fence(__ATOMIC_SEQ_CST);	/* what is read is what was kept */
	said = ftr_prologues_read(entry->code, FTR_PROLOGUES_NEAR);
	if (said == 0) {
		said = ftr_prologues_read(entry->code, FTR_PROLOGUES_PAIRS);
		said |= said != 0 ? FTR_PROLOGUES_FAR : 0;
	}
	__atomic_store_n(&entry->said, said, __ATOMIC_RELEASE);
}

#endif /* FTR_ARCH_AARCH64_PROLOGUES_H */

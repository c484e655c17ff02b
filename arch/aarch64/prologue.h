/* SPDX-License-Identifier: MIT */
/*
 * Where a function that called _mcount keeps its return address, and where its frame ends.
 *
 * The frame record (x29) leads to the address, but x29 lies anywhere in the frame.  The word that
 * names the call is the frame's last one, and so the prologue is read, backwards from the call:
 *
 *	paciasp				the address is signed
 *	stp	x29, x30, [sp, #-N]!	or sub sp, sp, #N (several) and stp x29, x30, [sp, #K]
 *	mov	x29, sp			or add x29, sp, #K
 *
 * with other instructions between, but for branches.
 */
#ifndef FTR_ARCH_AARCH64_PROLOGUE_H
#define FTR_ARCH_AARCH64_PROLOGUE_H

#include <stdbool.h>
#include <stdint.h>

#define FTR_PROLOGUE_MAX 64		/* instructions before the call that are looked at */

/* What the prologue says. */
enum ftr_prologue_sign { FTR_SIGN_NONE, FTR_SIGN_A, FTR_SIGN_B };

struct ftr_prologue {
	uint64_t bytes;			/* from x29 to the frame's end; 0 = not understood */
	enum ftr_prologue_sign sign;
	bool is_whole;			/* no instruction before those looked at says more */
};

#define FTR_IS(word, mask, value) (((word) & (mask)) == (value))

/*
 * Does it go elsewhere, as functions end, or come before one?  Or is it no instruction.  Of
 * branches, exceptions and system instructions, one group of encodings, only the last go on, but
 * for bti, which functions begin with, and nop, which is between them.
 */
static inline bool ftr_prologue_is_end(uint32_t word)
{
	if (!FTR_IS(word, 0x1c000000u, 0x14000000u))
		return word >> 16 == 0;				/* udf */
	return !FTR_IS(word, 0xff000000u, 0xd5000000u) ||
	       word == 0xd503201fu ||				/* nop */
	       FTR_IS(word, 0xffffff3fu, 0xd503241fu);		/* bti */
}

static inline enum ftr_prologue_sign ftr_prologue_sign(uint32_t word)
{
	return word == 0xd503233fu ? FTR_SIGN_A :		/* paciasp */
	       word == 0xd503237fu ? FTR_SIGN_B : FTR_SIGN_NONE;	/* pacibsp */
}

/* The immediate of sub sp, sp, #N or add x29, sp, #K. */
static inline uint64_t ftr_prologue_immediate(uint32_t word)
{
	return (uint64_t)(word >> 10 & 0xfff) << ((word >> 22 & 1) != 0 ? 12 : 0);
}

/*
 * What register @nr holds at @at, by the mov and movk before it; *is_known: nothing but these was
 * found.
 */
static inline uint64_t ftr_prologue_register(const uint32_t *at, const uint32_t *low, unsigned nr,
					     bool *is_known)
{
	uint64_t value = 0, taken = 0;

	for (*is_known = false; at > low && !ftr_prologue_is_end(at[-1]); at--) {
		uint32_t word = at[-1];
		unsigned shift = (word >> 21 & 3) * 16;
		uint64_t part = UINT64_C(0xffff) << shift;
		uint64_t given = (uint64_t)(word >> 5 & 0xffff) << shift;

		if ((word & 31) != nr)
			continue;
		if (FTR_IS(word, 0xff800000u, 0xf2800000u)) {		/* movk */
			value |= given & ~taken;
			taken |= part;
		} else if (FTR_IS(word, 0x7f800000u, 0x52800000u)) {	/* movz */
			*is_known = true;
			return value | (given & ~taken);
		} else if (FTR_IS(word, 0xfe000000u, 0xb2000000u)) {
			break;						/* mov of a bit mask */
		}
	}
	return 0;
}

/* How far the instruction at @at moves the stack pointer down; *is_known: it does, by so much. */
static inline uint64_t ftr_prologue_step(const uint32_t *at, const uint32_t *low, bool *is_last,
					 bool *is_known)
{
	uint32_t word = *at;

	*is_known = true;
	*is_last = true;
	if (FTR_IS(word, 0xffc003e0u, 0xa98003e0u) || FTR_IS(word, 0xffc003e0u, 0x6d8003e0u))
		return (uint64_t)-(int64_t)((int32_t)(word << 10) >> 25) * 8;	/* stp [sp, #-N]! */
	if (FTR_IS(word, 0xffe00fe0u, 0xf8000fe0u) || FTR_IS(word, 0xffe00fe0u, 0xfc000fe0u))
		return (uint64_t)-(int64_t)((int32_t)(word << 11) >> 23);	/* str [sp, #-N]! */
	*is_last = false;
	if (FTR_IS(word, 0xff8003ffu, 0xd10003ffu))
		return ftr_prologue_immediate(word);			/* sub sp, sp, #N */
	if (FTR_IS(word, 0xffe0ffffu, 0xcb2063ffu))			/* sub sp, sp, xM */
		return ftr_prologue_register(at, low, word >> 16 & 31, is_known);
	if (FTR_IS(word, 0x7f8003ffu, 0x110003ffu) || FTR_IS(word, 0xffe003ffu, 0x8b2003ffu) ||
	    FTR_IS(word, 0xff80001fu, 0x9200001fu))
		*is_known = false;	/* add sp, and sp: no prologue that we know */
	return 0;
}

/* What the instructions behind @low, up to and with @at, say. */
static inline struct ftr_prologue ftr_prologue_read(const uint32_t *at, const uint32_t *low)
{
	struct ftr_prologue found = { 0 };
	bool is_last = false, is_known = true;
	uint64_t bytes = 0, above;

	while (at > low && !FTR_IS(*at, 0xff8003ffu, 0x910003fdu)) {	/* add x29, sp, #K */
		if (ftr_prologue_is_end(*at--))
			return found;
	}
	if (at == low)
		return found;
	above = ftr_prologue_immediate(*at);
	for (at--; at > low && is_known && !is_last && !ftr_prologue_is_end(*at); at--) {
		bytes += ftr_prologue_step(at, low, &is_last, &is_known);
		found.sign = ftr_prologue_sign(*at);
		if (found.sign != FTR_SIGN_NONE)
			break;
	}
	if (!is_known || at == low || bytes < above + 2 * sizeof(uint64_t))
		return found;
	for (; at > low && found.sign == FTR_SIGN_NONE && !ftr_prologue_is_end(*at); at--)
		found.sign = ftr_prologue_sign(*at);
	found.is_whole = at > low || found.sign != FTR_SIGN_NONE;
	found.bytes = bytes - above;
	return found;
}

/* The function whose call of _mcount returns to @call. */
static inline struct ftr_prologue ftr_arch_prologue(uintptr_t call)
{
	const uint32_t *at = (const uint32_t *)call - 2;

	return ftr_prologue_read(at, at - FTR_PROLOGUE_MAX);
}

/* Is what returns to @ret called by an instruction?  Not what begins a stack, mostly. */
static inline bool ftr_arch_is_call(uintptr_t ret)
{
	uint32_t word;

	if (ret % 4096 == 0)
		return false;		/* what is before it may not be there */
	word = ((const uint32_t *)ret)[-1];
	return FTR_IS(word, 0xfc000000u, 0x94000000u) ||	/* bl */
	       FTR_IS(word, 0xfefff000u, 0xd63f0000u);		/* blr, and signed ones */
}

/* Both are told by the trampolines alone. */
static inline uintptr_t *ftr_arch_return_slot(uintptr_t *slot, uintptr_t child_ip)
{
	return slot;
}

static inline bool ftr_arch_fentry_pushed(const uintptr_t *slot, uintptr_t child_ip,
					  uintptr_t chain)
{
	return false;
}

/* Calls' arguments are in registers, or in room that stays: nothing moves the stack pointer. */
static inline const uintptr_t *ftr_arch_caller_sp(const uintptr_t *slot, uintptr_t ret)
{
	return slot;
}

static inline uintptr_t *ftr_arch_cygprof_loc(uintptr_t *cfa, uintptr_t site)
{
	return cfa;
}

#endif /* FTR_ARCH_AARCH64_PROLOGUE_H */

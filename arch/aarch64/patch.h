/* SPDX-License-Identifier: MIT */
/*
 * Room that compilers leave at a function's entry, as no-operations, and what takes its place:
 *
 *	mov	x16, x30
 *	bl	ftr_fentry
 */
#ifndef FTR_ARCH_AARCH64_PATCH_H
#define FTR_ARCH_AARCH64_PATCH_H

#include <stdbool.h>
#include <stdint.h>

#define FTR_ARCH_PATCH_BYTES 8
#define FTR_ARCH_PATCH_MAX 32		/* bytes of a room */
#define FTR_ARCH_PATCH_REACH 0x7ff0000	/* from a site to what it calls */
#define FTR_ARCH_PATCH_REACH_TEXT "128 MB"
#define FTR_ARCH_BLOCK_BYTES 4096	/* of the block in patch.S, which is mapped near a module */
/* Where rooms lead, by name and symbol, in the order of the block's jumps. */
#define FTR_ARCH_PATCH_TARGETS(TARGET) \
	TARGET(entry, ftr_fentry) TARGET(plain, ftr_plain_entry) TARGET(site, ftr_site_entry)

#define FTR_ARCH_INSTRUCTION_BYTES 4u
#define FTR_ARCH_NOP 0xd503201fu
#define FTR_ARCH_MOV_X16_X30 0xaa1e03f0u
#define FTR_ARCH_BL 0x94000000u
#define FTR_ARCH_B 0x14000000u
#define FTR_ARCH_SLED_BYTES 32u
#define FTR_ARCH_SLED_JUMP (FTR_ARCH_B | FTR_ARCH_SLED_BYTES / FTR_ARCH_INSTRUCTION_BYTES)
#define FTR_ARCH_BTI_MASK 0xffffff3fu
#define FTR_ARCH_BTI 0xd503241fu		/* of any kind */
#define FTR_ARCH_PAC_SP_MASK 0xffffffbfu
#define FTR_ARCH_PAC_SP 0xd503233fu		/* by either key */

static inline uint32_t ftr_arch_word(const uint8_t *code)
{
	return (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
	       (uint32_t)code[3] << 24;
}

/* Bytes of the no-operation at @code, of @size that are there; 0 = it is something else. */
static inline unsigned ftr_arch_nop_bytes(const uint8_t *code, uint32_t size)
{
	return size >= FTR_ARCH_INSTRUCTION_BYTES && ftr_arch_word(code) == FTR_ARCH_NOP ?
		       FTR_ARCH_INSTRUCTION_BYTES : 0;
}

/* paciasp, pacibsp: indirect calls may land there, too. */
static inline bool ftr_arch_is_signing(const uint8_t *code, uint32_t size)
{
	return size >= FTR_ARCH_INSTRUCTION_BYTES &&
	       (ftr_arch_word(code) & FTR_ARCH_PAC_SP_MASK) == FTR_ARCH_PAC_SP;
}

/* Bytes of bti, or of what signs the return address; 0 = there is neither. */
static inline unsigned ftr_arch_landing_bytes(const uint8_t *code, uint32_t size)
{
	if (size < FTR_ARCH_INSTRUCTION_BYTES)
		return 0;
	return (ftr_arch_word(code) & FTR_ARCH_BTI_MASK) == FTR_ARCH_BTI ||
	       ftr_arch_is_signing(code, size) ? FTR_ARCH_INSTRUCTION_BYTES : 0;
}

/* clang's XRay: a jump over seven no-operations. */
static inline bool ftr_arch_is_sled(const uint8_t *code, uint32_t size)
{
	unsigned at;

	if (size < FTR_ARCH_SLED_BYTES || ftr_arch_word(code) != FTR_ARCH_SLED_JUMP)
		return false;
	for (at = FTR_ARCH_INSTRUCTION_BYTES; at < FTR_ARCH_SLED_BYTES;
	     at += FTR_ARCH_INSTRUCTION_BYTES) {
		if (ftr_arch_word(code + at) != FTR_ARCH_NOP)
			return false;
	}
	return true;
}

/* Bytes of the no-operations at @code that the call takes the place of; 0 = it has no room. */
static inline unsigned ftr_arch_patch_room(const uint8_t *code, uint32_t size)
{
	if (ftr_arch_is_sled(code, size))
		return FTR_ARCH_SLED_BYTES;
	if (size < FTR_ARCH_PATCH_BYTES ||
	    ftr_arch_word(code) != FTR_ARCH_NOP ||
	    ftr_arch_word(code + FTR_ARCH_INSTRUCTION_BYTES) != FTR_ARCH_NOP)
		return 0;
	return FTR_ARCH_PATCH_BYTES;
}

static inline void ftr_arch_word_put(uint8_t *code, uint32_t word)
{
	unsigned at;

	for (at = 0; at < FTR_ARCH_INSTRUCTION_BYTES; at++, word >>= 8)
		code[at] = (uint8_t)word;
}

/* Fill @room bytes, which are to run at @addr, with a call of @target. */
static inline void ftr_arch_patch_write(uint8_t *code, unsigned room, uintptr_t addr,
					uintptr_t target)
{
	uintptr_t distance = target - (addr + FTR_ARCH_INSTRUCTION_BYTES);
	unsigned at;

	ftr_arch_word_put(code, FTR_ARCH_MOV_X16_X30);
	ftr_arch_word_put(code + FTR_ARCH_INSTRUCTION_BYTES,
			  FTR_ARCH_BL | (uint32_t)(distance >> 2 & 0x3ffffff));
	for (at = FTR_ARCH_PATCH_BYTES; at < room; at += FTR_ARCH_INSTRUCTION_BYTES)
		ftr_arch_word_put(code + at, FTR_ARCH_NOP);
	if (room == FTR_ARCH_SLED_BYTES)
		ftr_arch_word_put(code + FTR_ARCH_PATCH_BYTES,
				  FTR_ARCH_B | (room - FTR_ARCH_PATCH_BYTES) /
				  FTR_ARCH_INSTRUCTION_BYTES);
}

/* Does @code, from a function's start up to the room, hold nothing but what it may land on? */
static inline bool ftr_arch_patch_is_entry(const uint8_t *code, uint32_t size)
{
	return size == 0 || ftr_arch_landing_bytes(code, size) == size;
}

#endif /* FTR_ARCH_AARCH64_PATCH_H */

/* SPDX-License-Identifier: MIT */
/*
 * Room that compilers leave at a function's entry, as no-operations, and the call that takes its
 * place: what code of 64 bits and of 32 has in common.
 */
#ifndef FTR_ARCH_X86_PATCH_H
#define FTR_ARCH_X86_PATCH_H

#include <stdbool.h>
#include <stdint.h>

#define FTR_ARCH_PATCH_BYTES 5		/* call rel32 */
#define FTR_ARCH_PATCH_MAX 32		/* bytes of a room */
#define FTR_ARCH_BLOCK_BYTES 4096	/* of the block in patch.S, which is mapped near a module */

#define FTR_ARCH_INSTRUCTION_MAX 15
#define FTR_ARCH_SLED_NOPS 9		/* of XRay, behind a jump over them */

/* Bytes of the no-operation at @code, of @size that are there; 0 = it is something else. */
static inline unsigned ftr_arch_nop_bytes(const uint8_t *code, uint32_t size)
{
	uint32_t at = 0;
	unsigned mod, rm;

	while (at < size && (code[at] == 0x66 || code[at] == 0x2e))
		at++;
	if (at < size && code[at] == 0x90)
		return at + 1;
	if (size < at + 3 || code[at] != 0x0f || code[at + 1] != 0x1f ||
	    (code[at + 2] & 0x38) != 0)
		return 0;
	mod = code[at + 2] >> 6;
	rm = code[at + 2] & 7;
	at += 3;
	if (mod != 3 && rm == 4) {
		if (at == size)
			return 0;
		rm = code[at++] & 7;
	}
	if (mod == 1)
		at += 1;
	else if (mod == 2 || (mod == 0 && rm == 5))
		at += 4;
	return at <= size && at <= FTR_ARCH_INSTRUCTION_MAX ? at : 0;
}

/* Bytes of endbr64 or endbr32, whose @last byte tells them apart; 0 = there is none. */
static inline unsigned ftr_x86_landing_bytes(const uint8_t *code, uint32_t size, uint8_t last)
{
	return size >= 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e &&
	       code[3] == last ? 4 : 0;
}

/*
 * Bytes of the whole no-operations at @code that a call fits into, or of XRay's sled; 0 = a call
 * has no room.
 */
static inline unsigned ftr_arch_patch_room(const uint8_t *code, uint32_t size)
{
	unsigned room = 0, nop;

	if (size > 2 && code[0] == 0xeb && code[1] == FTR_ARCH_SLED_NOPS &&
	    ftr_arch_nop_bytes(code + 2, size - 2) == FTR_ARCH_SLED_NOPS)
		return 2 + FTR_ARCH_SLED_NOPS;
	while (room < FTR_ARCH_PATCH_BYTES) {
		nop = ftr_arch_nop_bytes(code + room, size - room);
		if (nop == 0)
			return 0;
		room += nop;
	}
	return room;
}

/* Fill @room bytes, which are to run at @addr, with a call of @target. */
static inline void ftr_arch_patch_write(uint8_t *code, unsigned room, uintptr_t addr,
					uintptr_t target)
{
	uint32_t distance = (uint32_t)(target - (addr + FTR_ARCH_PATCH_BYTES));
	unsigned at;

	code[0] = 0xe8;
	for (at = 1; at < FTR_ARCH_PATCH_BYTES; at++, distance >>= 8)
		code[at] = (uint8_t)distance;
	for (; at + 1 < room; at += 2) {
		code[at] = 0x66;	/* xchg %ax, %ax */
		code[at + 1] = 0x90;
	}
	if (at < room)
		code[at] = 0x90;
}

/*
 * -pg -mnop-mcount: does @code, from a function's start up to the room, hold nothing but what
 * @before finds the bytes of, which comes before a call of __fentry__?  Otherwise it was made for
 * mcount, which is called after the prologue.
 */
static inline bool ftr_x86_is_entry(const uint8_t *code, uint32_t size,
				    unsigned (*before)(const uint8_t *code, uint32_t size))
{
	while (size > 0) {
		unsigned bytes = before(code, size);

		if (bytes == 0)
			return false;
		code += bytes;
		size -= bytes;
	}
	return true;
}

#endif /* FTR_ARCH_X86_PATCH_H */

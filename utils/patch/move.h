/* SPDX-License-Identifier: MIT */
/*
 * Machine code that is to run at another place.  One implementation is built: move_x86.c with
 * Zydis, move_aarch64.c on 64-bit Arm, else move_none.c.
 */
#ifndef FTR_PATCH_MOVE_H
#define FTR_PATCH_MOVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"

enum ftr_move_state {
	FTR_MOVE_DONE,
	FTR_MOVE_UNDECODED,	/* no instruction that is known, or it is cut off */
	FTR_MOVE_SPECIAL,	/* its place matters: traps, system calls, transactions */
	FTR_MOVE_INTO,		/* a branch leads into what is moved */
	FTR_MOVE_CALL,		/* a call would return into what is overwritten */
	FTR_MOVE_STATES,
};

#define FTR_MOVED_BYTES_MAX 128
#define FTR_MOVED_FIXES_MAX 16

struct ftr_moved {
	unsigned from_bytes;	/* whole instructions, those wanted or up to the function's end */
	bool	 ends;		/* the last one goes on elsewhere */
	bool	 has_call;	/* the last one calls; its return will be predicted wrong */
	unsigned code_bytes;
	uint8_t	 code[FTR_MOVED_BYTES_MAX];
	unsigned fix_nr;
	struct {
		uint8_t at;	/* a field of four bytes in code */
		uint8_t kind;	/* enum ftr_plain_fix */
	} fixes[FTR_MOVED_FIXES_MAX];
};

/* Is there a decoder for this machine's code? */
bool ftr_move_is_possible(void);

/*
 * Move the instructions that begin in the first @want bytes of @code, which reaches up to the end
 * of its function, to @to, and let them go on behind them.  Addresses are distances from the
 * module's base, as those of the fields that have fixes (utils/proto/plain.h).
 */
enum ftr_move_state ftr_move(const struct ftr_code *code, unsigned want, uint64_t to,
			     struct ftr_moved *moved);

/*
 * Is what looks like a branch of one byte's distance, its operation at @at of @code, one by
 * decoding from its start on?  Where decoding fails the answer is yes.
 */
bool ftr_move_has_short_branch(const struct ftr_code *code, size_t at);

/*
 * The bytes of the instruction that ends where @code does, decoded from its start on; 0 = none
 * ends there.
 */
unsigned ftr_move_last_bytes(const struct ftr_code *code);

/* Does nothing follow the last instruction of @code: a jump, a return, a call or a trap? */
bool ftr_move_is_closed(const struct ftr_code *code);

#endif /* FTR_PATCH_MOVE_H */

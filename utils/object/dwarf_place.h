/* SPDX-License-Identifier: MIT */
/* Where parameters are when a function begins, as debug info tells of optimised code. */
#ifndef FTR_OBJECT_DWARF_PLACE_H
#define FTR_OBJECT_DWARF_PLACE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "arch/callconv.h"

enum ftr_dwarf_place {
	FTR_DWARF_PLACE_UNTOLD,		/* as the convention says */
	FTR_DWARF_PLACE_STACK,		/* there, wherever the convention has it */
	FTR_DWARF_PLACE_REGISTERS,	/* in registers: none of its stack is used */
	FTR_DWARF_PLACE_UNKNOWN,	/* it was in a register, and nothing tells in which */
};

/*
 * Of @param of @function, which the convention has at *places: where it is goes there instead, with
 * what the places have of it: up to @end all, behind that there is padding.  Code that is not
 * optimised puts what it got in registers on the stack, and tells of that alone.
 */
enum ftr_dwarf_place ftr_dwarf_place(const struct ftr_callconv *callconv, Dwarf_Die *function,
				     Dwarf_Die *param, uint32_t end,
				     struct ftr_places *places);

/*
 * LLVM gives functions that only their own file calls other parameters than they have in the
 * source.  Does debug info tell that of @function?  It may.
 */
bool ftr_dwarf_is_changed(Dwarf_Die *function);

/* Is there as much as one of @nr parameters, without "this", that its debug info does not tell? */
bool ftr_dwarf_has_lost_params(Dwarf_Die *function, int nr);

bool ftr_dwarf_is_optimized(Dwarf_Die *function);

/*
 * LLVM has callers of the same file pass anything for what a function does not use, or knows.  Its
 * code that is not optimised has a place for each parameter.
 */
bool ftr_dwarf_is_optimized_out(Dwarf_Die *function, Dwarf_Die *param);

/* Is @param, when the function begins, where @places say?  Unless a register is named it may be. */
bool ftr_dwarf_is_at(const struct ftr_callconv *callconv, Dwarf_Die *function, Dwarf_Die *param,
		     const struct ftr_places *places);

#endif /* FTR_OBJECT_DWARF_PLACE_H */

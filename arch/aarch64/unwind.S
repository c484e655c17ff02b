/* SPDX-License-Identifier: MIT */
/*
 * Exceptions under way (libmcount/unwinding.c), and coroutines in the making.  The real functions
 * look at their caller's frame and at its registers, so these are jumps to them with everything as
 * it was but for x16 and x17.
 */
#include "arch/aarch64/saved.h"

	.text

/* ftr_unwind_before(call, exception, slot): where to go on. */
.macro BEFORE name, call
FUNCTION \name
	SAVE_REGISTERS
	SAVE_RETURN x30
	mov	x1, x0
	mov	w0, #\call
	add	x2, sp, #SAVED_LOC
	bl	ftr_unwind_before
	mov	x16, x0
	RESTORE_RETURN
	RESTORE_REGISTERS
	br	x16
END \name
.endm

	BEFORE _Unwind_RaiseException, 0
	BEFORE _Unwind_Resume_or_Rethrow, 1
	BEFORE __cxa_begin_catch, 2
	BEFORE makecontext, 4

	NOTES

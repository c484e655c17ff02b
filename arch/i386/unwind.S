/* SPDX-License-Identifier: MIT */
/*
 * Exceptions under way (libmcount/unwinding.c), and coroutines in the making.  The real functions
 * look at their caller's frame and at its registers, so these are jumps to them with everything as
 * it was.
 */
#include "arch/i386/saved.h"

	.text

/* ftr_unwind_before(call, exception, slot): where to go on. */
.macro BEFORE name, call
FUNCTION \name
	subl	$4, %esp
	.cfi_adjust_cfa_offset 4
	FRAME_MAKE
	movl	$\call, 0(%esp)
	movl	FRAME_BYTES + 8(%esp), %eax
	movl	%eax, 4(%esp)
	leal	FRAME_BYTES + 4(%esp), %eax
	movl	%eax, 8(%esp)
	call	ftr_unwind_before
	movl	%eax, FRAME_BYTES(%esp)
	FRAME_DROP
	ret
END \name
.endm

	BEFORE _Unwind_RaiseException, 0
	BEFORE _Unwind_Resume_or_Rethrow, 1
	BEFORE __cxa_begin_catch, 2
	BEFORE makecontext, 4

	NOTES

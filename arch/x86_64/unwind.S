/* SPDX-License-Identifier: MIT */
/*
 * Exceptions under way (libmcount/unwinding.c), and coroutines in the making.  The real functions
 * look at their caller's frame and at its registers, so these are jumps to them with everything as
 * it was but for r11.
 */
#include "arch/x86_64/saved.h"

	.text

/* ftr_unwind_before(call, exception, slot): where to go on. */
.macro BEFORE name, call
FUNCTION \name
	subq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset SAVED_BYTES
	SAVE_REGISTERS
	movq	%rdi, %rsi
	movl	$\call, %edi
	leaq	SAVED_BYTES(%rsp), %rdx
	call	ftr_unwind_before
	movq	%rax, 64(%rsp)		/* arrives in r11 */
	RESTORE_REGISTERS
	addq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset -SAVED_BYTES
	notrack jmp *%r11
END \name
.endm

	BEFORE _Unwind_RaiseException, 0
	BEFORE _Unwind_Resume_or_Rethrow, 1
	BEFORE __cxa_begin_catch, 2
	BEFORE makecontext, 4

	NOTES

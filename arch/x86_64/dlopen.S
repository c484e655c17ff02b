/* SPDX-License-Identifier: MIT */
/*
 * dlopen and dlmopen, noticed on their way.  libc searches by the module that called, which it
 * knows from the return address: so this is a jump to libc's function with everything else as it
 * was.
 */
#include "arch/x86_64/saved.h"

	.text

/* ftr_dlopen_real(is_dlmopen, mode) answers with libc's function. */
.macro PASS name, number, mode
FUNCTION \name
	subq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset SAVED_BYTES
	SAVE_REGISTERS
	movl	$\number, %edi
	movl	\mode, %esi
	call	ftr_dlopen_real
	movq	%rax, 64(%rsp)		/* arrives in r11 */
	RESTORE_REGISTERS
	addq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset -SAVED_BYTES
	notrack jmp *%r11
END \name
.endm

	PASS dlopen, 0, %esi
	PASS dlmopen, 1, %edx

	NOTES

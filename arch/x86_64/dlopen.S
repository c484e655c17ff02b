/* SPDX-License-Identifier: MIT */
/*
 * dlopen and dlmopen.  libc searches by the module that called, which it knows from the return
 * address: where that matters, this is a jump to libc's function with everything else as it was.
 * Elsewhere libc's function returns to here.
 */
#include "arch/x86_64/saved.h"

	.text

/* ftr_dlopen_real(is_dlmopen, mode, file, ip): libc's function, and whether to call it. */
.macro PASS name, number, file, mode
FUNCTION \name
	subq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset SAVED_BYTES
	SAVE_REGISTERS
	movq	\file, %rax
	movl	\mode, %esi
	movq	%rax, %rdx
	movl	$\number, %edi
	movq	SAVED_BYTES(%rsp), %rcx
	call	ftr_dlopen_real
	movq	%rax, SAVED_R11(%rsp)
	testl	%edx, %edx
	RESTORE_REGISTERS
	leaq	SAVED_BYTES(%rsp), %rsp	/* keeps the flags */
	.cfi_adjust_cfa_offset -SAVED_BYTES
	jnz	1f
	notrack jmp *%r11
1:	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	*%r11
	movq	%rax, (%rsp)
	leaq	8(%rsp), %rdi
	movq	%rax, %rsi
	call	ftr_dlopen_returned
	movq	(%rsp), %rax
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
END \name
.endm

	PASS dlopen, 0, %rdi, %esi
	PASS dlmopen, 1, %rsi, %edx

/*
 * What a program calls that was attached to (late.def): it is about to use what it has loaded.
 * ftr_dlsym_real(is_dlvsym) looks at that, and finds libc's function, which knows its caller by
 * the return address, too.
 */
.macro LOOK name, number
	.hidden	ftr_late_\name
FUNCTION ftr_late_\name
	subq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset SAVED_BYTES
	SAVE_REGISTERS
	movl	$\number, %edi
	call	ftr_dlsym_real
	movq	%rax, SAVED_R11(%rsp)
	RESTORE_REGISTERS
	addq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset -SAVED_BYTES
	notrack jmp *%r11
END ftr_late_\name
.endm

	LOOK dlsym, 0
	LOOK dlvsym, 1

	NOTES

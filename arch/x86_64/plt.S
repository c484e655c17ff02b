/* SPDX-License-Identifier: MIT */
/*
 * Where hooked entries of a global offset table lead: stub n says which one it was.  The callee's
 * arguments, integer, vector, on the stack, and %r10, arrive as they were; %r11 and the flags are free
 * by the ABI of PLT calls.
 *
 *	8(%rsp)   return address of the call
 *	0(%rsp)   n
 */
#include "arch/x86_64/saved.h"

#define STUBS 8192		/* PLT_STUB_NR */

	.text
	.hidden	ftr_plt_stubs
	.globl	ftr_plt_stubs
	.type	ftr_plt_stubs, @function
	.p2align 6
ftr_plt_stubs:
	.cfi_startproc
	.cfi_undefined rip
	.set	n, 0
	.rept	STUBS
	.p2align 4
	endbr64
	pushq	$n
	jmp	ftr_plt_common
	.set	n, n + 1
	.endr
	.cfi_endproc
	.size	ftr_plt_stubs, . - ftr_plt_stubs

	.type	ftr_plt_common, @function
	.p2align 5
ftr_plt_common:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	subq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset SAVED_BYTES
	SAVE_REGISTERS
	movq	SAVED_BYTES(%rsp), %rdi
	leaq	SAVED_BYTES + 8(%rsp), %rsi
	call	ftr_plt_enter
	movq	%rax, SAVED_BYTES(%rsp)
	RESTORE_REGISTERS
	addq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset -SAVED_BYTES
	popq	%r11
	.cfi_adjust_cfa_offset -8
	notrack jmp *%r11
	.cfi_endproc
	.size	ftr_plt_common, . - ftr_plt_common

	NOTES

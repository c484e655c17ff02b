/* SPDX-License-Identifier: MIT */
/*
 * How the instrumented code reaches the hook on x86-64 (System V ABI, compilers' -pg conventions).
 */

#include "arch/x86_64/saved.h"

/* rip */
#define STUBS_COLUMN 16
#define STUBS_SP OP_BREG7
#define STUBS_SLOT 0x78		/* -8 */
#define STUBS_RA OP_BREG16, 0
#define STUBS_MORE 0
#include "arch/return_stubs.h"

	.text

/*
 * -pg: called after the prologue.
 *
 *	8(%rbp)   return address of the traced function
 *	0(%rbp)   saved rbp
 *	0(%rsp)   our return address, inside the traced function
 */
	.globl	_mcount
	.type	_mcount, @function
	.set	_mcount, mcount
	.hidden	ftr_mcount
	.globl	ftr_mcount		/* ours, whoever else has a mcount */
	.set	ftr_mcount, mcount
FUNCTION mcount
	subq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset SAVED_BYTES
	SAVE_FOR_HOOK
	leaq	8(%rbp), %rdi
	movq	SAVED_BYTES(%rsp), %rsi
	movq	%rsp, %rdx
	call	ftr_enter_mcount
	RESTORE_AFTER_HOOK
	addq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset -SAVED_BYTES
	ret
END mcount

/*
 * -pg -mfentry: called before anything else.
 *
 *	8(%rsp)   return address of the traced function
 *	0(%rsp)   our return address
 */
	.hidden	ftr_fentry
	.globl	ftr_fentry
	.set	ftr_fentry, __fentry__
FUNCTION __fentry__
	subq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset SAVED_BYTES
	SAVE_FOR_HOOK
	leaq	SAVED_BYTES + 8(%rsp), %rdi
	movq	SAVED_BYTES(%rsp), %rsi
	movq	%rsp, %rdx
	movq	%r10, %rcx
	call	ftr_enter_fentry
	RESTORE_AFTER_HOOK
	addq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset -SAVED_BYTES
	ret
END __fentry__

/* Where traced functions return to (arch/return_stubs.h). */
	.hidden	ftr_return_stubs
	.globl	ftr_return_stubs
	.type	ftr_return_stubs, @function
	.p2align 15
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa rsp, 0
	RETURN_STUBS_CFI
ftr_return_stubs:
	.quad	ftr_unwind_slots - ftr_return_stubs
	.rept	STUBS - 1
	.p2align 3
	jmp	ftr_return_common
	.endr
	.p2align 3
	.cfi_endproc
	.size	ftr_return_stubs, . - ftr_return_stubs

/*
 * ftr_leave gets the address of the slot that held the return address and answers with the true
 * one. It goes back into that slot, now just below the stack pointer and inside the red zone, so
 * that the last jump needs no register at all.
 */
	.type	ftr_return_common, @function
	.p2align 5
ftr_return_common:
	.cfi_startproc
	.cfi_undefined rip
	subq	$SAVED_BYTES + 8, %rsp
	.cfi_adjust_cfa_offset SAVED_BYTES + 8
	SAVE_FOR_HOOK
	leaq	SAVED_BYTES(%rsp), %rdi
	movq	%rsp, %rsi
	call	ftr_leave
	movq	%rax, SAVED_BYTES(%rsp)
	RESTORE_AFTER_HOOK
	addq	$SAVED_BYTES + 8, %rsp
	.cfi_adjust_cfa_offset -SAVED_BYTES - 8
	notrack jmp *-8(%rsp)
	.cfi_endproc
	.size	ftr_return_common, . - ftr_return_common

	NOTES

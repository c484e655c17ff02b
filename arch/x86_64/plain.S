/* SPDX-License-Identifier: MIT */
/*
 * Where the heads of moved instructions call (arch/x86_64/plain.h).
 *
 *	136(%rsp) return address of the traced function
 *	8(%rsp)   what may be in use below it
 *	0(%rsp)   our return address, behind a head's call
 *
 * Nothing says that this code is called as compilers call: it may be assembly, or local, with
 * values in any register and in the flags.
 *
 * Unwinders are told that the function's first instruction called, since they know that one and not
 * the head: "our caller is at the function, whose distance stands before the head's call".
 */
#include "arch/x86_64/plain.h"
#include "arch/x86_64/saved.h"

#define CFA		(8 + FTR_ARCH_RED_ZONE)	/* above our stack pointer, when we are called */
#define OP_DEREF	0x06
#define OP_CONST1U	0x08
#define OP_DUP		0x12
#define OP_MINUS	0x1c
#define OP_PLUS		0x22
#define OP_PLUS_UCONST	0x23
#define OP_SHL		0x24
#define OP_SHRA		0x26
#define OP_BREG7	0x77
#define OP_DEREF_SIZE	0x94

/* One too high: an unwinder looks before what it takes for a return address. */
.macro CALLED_BY_FUNCTION
	/* DW_CFA_val_expression, column 16, 22 bytes; the CFA is on the stack */
	.cfi_escape 0x16, 16, 22
	.cfi_escape OP_CONST1U, CFA, OP_MINUS, OP_DEREF		/* our return address */
	.cfi_escape OP_CONST1U, FTR_ARCH_PLAIN_CODE, OP_MINUS	/* the head's code */
	.cfi_escape OP_DUP, OP_CONST1U, 4, OP_MINUS, OP_DEREF_SIZE, 4
	.cfi_escape OP_CONST1U, 32, OP_SHL, OP_CONST1U, 32, OP_SHRA, OP_PLUS
	.cfi_escape OP_PLUS_UCONST, 1
.endm

	.text
	.hidden	ftr_plain_entry
	.globl	ftr_plain_entry
	.type	ftr_plain_entry, @function
	.p2align 5
ftr_plain_entry:
	.cfi_startproc
	.cfi_def_cfa_offset CFA
	CALLED_BY_FUNCTION
	endbr64
	leaq	-SAVED_BYTES(%rsp), %rsp
	.cfi_adjust_cfa_offset SAVED_BYTES
	SAVE_FOR_HOOK
	lahf
	seto	%al
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	movq	SAVED_BYTES + 8(%rsp), %rsi
	leaq	SAVED_BYTES + 8 + CFA(%rsp), %rdi
	movslq	-FTR_ARCH_PLAIN_HEAD(%rsi), %rax
	leaq	-FTR_ARCH_PLAIN_CODE(%rsi, %rax), %rsi
	leaq	8(%rsp), %rdx
	movq	%r10, %rcx
	call	ftr_enter_fentry
	popq	%rax
	.cfi_adjust_cfa_offset -8
	addb	$0x7f, %al		/* overflows when it was 1 */
	sahf
	RESTORE_AFTER_HOOK
	leaq	SAVED_BYTES(%rsp), %rsp
	.cfi_adjust_cfa_offset -SAVED_BYTES
	ret	$FTR_ARCH_RED_ZONE
END ftr_plain_entry

	NOTES

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
 */
#include "arch/x86_64/called.h"
#include "arch/x86_64/plain.h"
#include "arch/x86_64/saved.h"

	.text
	.hidden	ftr_plain_entry
	.globl	ftr_plain_entry
	.type	ftr_plain_entry, @function
	.p2align 5
ftr_plain_entry:
	.cfi_startproc
	.cfi_def_cfa_offset CALLED_CFA
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
	leaq	SAVED_BYTES + 8 + CALLED_CFA(%rsp), %rdi
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

/* SPDX-License-Identifier: MIT */
/*
 * vfork: it returns twice into one stack frame, so the return address waits in a register, which
 * parent and child have each for themselves, until the child can no longer overwrite its slot.
 */
#include <sys/syscall.h>

#include "arch/x86_64/saved.h"

	.text
FUNCTION vfork
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	ftr_vfork_begin
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	movq	%rax, %rsi
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	.cfi_register rip, rdi
	movl	$SYS_vfork, %eax
	syscall
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	.cfi_offset rip, -8
	movq	%rax, %rdi
	movq	%rsp, %rdx
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	ftr_vfork_end
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
END vfork
	.globl	__vfork
	.set	__vfork, vfork

	NOTES

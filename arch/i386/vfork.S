/* SPDX-License-Identifier: MIT */
/*
 * vfork: it returns twice into one stack frame, so the return address waits in a register, which
 * parent and child have each for themselves, until the child can no longer overwrite its slot.
 */
#include <sys/syscall.h>

#include "arch/i386/saved.h"

	.text
FUNCTION vfork
	subl	$12, %esp
	.cfi_adjust_cfa_offset 12
	call	ftr_vfork_begin
	addl	$12, %esp
	.cfi_adjust_cfa_offset -12
	movl	%eax, %edx
	popl	%ecx
	.cfi_adjust_cfa_offset -4
	.cfi_register eip, ecx
	movl	$SYS_vfork, %eax
	int	$0x80
	pushl	%ecx
	.cfi_adjust_cfa_offset 4
	.cfi_offset eip, -4
	movl	%esp, %ecx
	subl	$12, %esp
	.cfi_adjust_cfa_offset 12
	movl	%eax, 0(%esp)
	movl	%edx, 4(%esp)
	movl	%ecx, 8(%esp)
	call	ftr_vfork_end
	addl	$12, %esp
	.cfi_adjust_cfa_offset -12
	ret
END vfork
	.globl	__vfork
	.set	__vfork, vfork

	NOTES

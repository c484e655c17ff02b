/* SPDX-License-Identifier: MIT */
/*
 * A system call as the kernel takes it: all registers but the stack pointer have something in
 * them, so what they held is on the stack, where unwinders that a handler starts find it.
 *
 * long ftr_arch_syscall(long nr, long a, long b, long c, long d, long e, long f)
 */
#include "arch/i386/saved.h"

	.text
	.hidden	ftr_arch_syscall
FUNCTION ftr_arch_syscall
	pushl	%ebp
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset ebp, 0
	pushl	%edi
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset edi, 0
	pushl	%esi
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset esi, 0
	pushl	%ebx
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset ebx, 0
	movl	20(%esp), %eax
	movl	24(%esp), %ebx
	movl	28(%esp), %ecx
	movl	32(%esp), %edx
	movl	36(%esp), %esi
	movl	40(%esp), %edi
	movl	44(%esp), %ebp
	int	$0x80
	popl	%ebx
	.cfi_adjust_cfa_offset -4
	.cfi_restore ebx
	popl	%esi
	.cfi_adjust_cfa_offset -4
	.cfi_restore esi
	popl	%edi
	.cfi_adjust_cfa_offset -4
	.cfi_restore edi
	popl	%ebp
	.cfi_adjust_cfa_offset -4
	.cfi_restore ebp
	ret
END ftr_arch_syscall

	NOTES

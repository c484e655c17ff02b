/* SPDX-License-Identifier: MIT */
/*
 * syscall(2): system calls that programs make by number are let through as libc's function does,
 * but for those which take something away from the runtime, and exec: they go by way of
 * ftr_syscall_noticed, which finds its arguments where they are.
 */
#include <sys/syscall.h>

#include "arch/i386/saved.h"

	.text
	.hidden	ftr_syscall_noticed
	.hidden	ftr_syscall_failed
FUNCTION syscall
	movl	4(%esp), %eax
	cmpl	$SYS_prctl, %eax
	je	ftr_syscall_noticed
	cmpl	$SYS_seccomp, %eax
	je	ftr_syscall_noticed
	cmpl	$SYS_execve, %eax
	je	ftr_syscall_noticed
	cmpl	$SYS_execveat, %eax
	je	ftr_syscall_noticed
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
	cmpl	$-4095, %eax
	jae	1f
	ret
1:	subl	$12, %esp
	.cfi_adjust_cfa_offset 12
	movl	%eax, 0(%esp)
	call	ftr_syscall_failed
	addl	$12, %esp
	.cfi_adjust_cfa_offset -12
	ret
END syscall

	NOTES

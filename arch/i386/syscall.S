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
	SYSTEM_CALL
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

/* SPDX-License-Identifier: MIT */
/*
 * syscall(2): system calls that programs make by number are let through as libc's function does,
 * but for those which take something away from the runtime, and exec: they go by way of
 * ftr_syscall_noticed.
 */
#include <sys/syscall.h>

#include "arch/x86_64/saved.h"

	.text
	.globl	syscall
	.type	syscall, @function
	.p2align 5
syscall:
	.cfi_startproc
	endbr64
	cmpq	$SYS_prctl, %rdi
	je	ftr_syscall_noticed
	cmpq	$SYS_seccomp, %rdi
	je	ftr_syscall_noticed
	cmpq	$SYS_execve, %rdi
	je	ftr_syscall_noticed
	cmpq	$SYS_execveat, %rdi
	je	ftr_syscall_noticed
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movq	%rcx, %rdx
	movq	%r8,  %r10
	movq	%r9,  %r8
	movq	8(%rsp), %r9
	syscall
	cmpq	$-4095, %rax
	jae	1f
	ret
1:	movq	%rax, %rdi
	jmp	ftr_syscall_failed
	.cfi_endproc
	.size	syscall, . - syscall

	NOTES

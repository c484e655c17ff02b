/* SPDX-License-Identifier: MIT */
/*
 * syscall(2): system calls that programs make by number are let through as libc's function does,
 * but for those which take something away from the runtime, and exec: they go by way of
 * ftr_syscall_noticed.
 */
#include <sys/syscall.h>

#include "arch/aarch64/saved.h"

	.text
FUNCTION syscall
	cmp	x0, #SYS_prctl
	b.eq	2f
	cmp	x0, #SYS_seccomp
	b.eq	2f
	cmp	x0, #SYS_execve
	b.eq	2f
	cmp	x0, #SYS_execveat
	b.eq	2f
	mov	x8, x0
	mov	x0, x1
	mov	x1, x2
	mov	x2, x3
	mov	x3, x4
	mov	x4, x5
	mov	x5, x6
	svc	#0
	cmn	x0, #4095
	b.cs	1f
	ret
1:	b	ftr_syscall_failed
2:	b	ftr_syscall_noticed
END syscall

	NOTES

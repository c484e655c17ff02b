/* SPDX-License-Identifier: MIT */
/*
 * A system call as the kernel takes it.
 *
 * long ftr_arch_syscall(long nr, long a, long b, long c, long d, long e, long f)
 */
#include "arch/i386/saved.h"

	.text
	.hidden	ftr_arch_syscall
FUNCTION ftr_arch_syscall
	movl	4(%esp), %eax
	SYSTEM_CALL
	ret
END ftr_arch_syscall

	NOTES

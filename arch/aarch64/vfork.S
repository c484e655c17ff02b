/* SPDX-License-Identifier: MIT */
/*
 * vfork: it returns twice into one stack frame, so the return address waits in a register, which
 * parent and child have each for themselves, until the child can no longer overwrite its place.
 */
#include <sys/syscall.h>

#include "arch/aarch64/saved.h"

#define VFORK_FLAGS 0x4111	/* CLONE_VM | CLONE_VFORK | SIGCHLD */

	.text
FUNCTION vfork
	str	x30, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_offset x30, -16
	bl	ftr_vfork_begin
	ldr	x9, [sp], #16
	.cfi_adjust_cfa_offset -16
	.cfi_register x30, x9
	mov	x10, x0
	mov	x0, #VFORK_FLAGS
	mov	x1, xzr
	mov	x2, xzr
	mov	x3, xzr
	mov	x4, xzr
	mov	x8, #SYS_clone
	svc	#0
	sub	sp, sp, #16
	.cfi_adjust_cfa_offset 16
	str	x9, [sp, #8]
	.cfi_offset x30, -8
	mov	x1, x10
	add	x2, sp, #8
	bl	ftr_vfork_end
	ldr	x30, [sp, #8]
	.cfi_restore x30
	add	sp, sp, #16
	.cfi_adjust_cfa_offset -16
	ret
END vfork
	.globl	__vfork
	.set	__vfork, vfork

	NOTES

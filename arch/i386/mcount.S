/* SPDX-License-Identifier: MIT */
/*
 * How the instrumented code reaches the hook on i386 (System V ABI, compilers' -pg conventions).
 */

#include "arch/i386/saved.h"

/* eip */
#define STUBS_COLUMN 8
#define STUBS_SP OP_BREG4
#define STUBS_SLOT 0x7c		/* -4 */
#define STUBS_RA OP_BREG8, 0
#define STUBS_MORE 0
#include "arch/return_stubs.h"

	.text

/*
 * -pg: called after the prologue.
 *
 *	4(%ebp)   return address of the traced function
 *	0(%ebp)   saved ebp
 *	0(%esp)   our return address, inside the traced function
 */
	.globl	_mcount
	.type	_mcount, @function
	.set	_mcount, mcount
	.hidden	ftr_mcount
	.globl	ftr_mcount		/* ours, whoever else has a mcount */
	.set	ftr_mcount, mcount
FUNCTION mcount
	FRAME_MAKE
	leal	4(%ebp), %eax
	movl	%eax, 0(%esp)
	movl	FRAME_BYTES(%esp), %eax
	movl	%eax, 4(%esp)
	leal	ARGUMENT_BYTES(%esp), %eax
	movl	%eax, 8(%esp)
	call	ftr_enter_mcount
	FRAME_DROP
	ret
END mcount

/*
 * -pg -mfentry: called before anything else.
 *
 *	4(%esp)   return address of the traced function
 *	0(%esp)   our return address
 */
	.hidden	ftr_fentry
	.globl	ftr_fentry
	.set	ftr_fentry, __fentry__
FUNCTION __fentry__
	FRAME_MAKE
	leal	FRAME_BYTES + 4(%esp), %eax
	movl	%eax, 0(%esp)
	movl	FRAME_BYTES(%esp), %eax
	movl	%eax, 4(%esp)
	leal	ARGUMENT_BYTES(%esp), %eax
	movl	%eax, 8(%esp)
	movl	%ecx, 12(%esp)
	call	ftr_enter_fentry
	FRAME_DROP
	ret
END __fentry__

/* Where traced functions return to (arch/return_stubs.h). */
	.hidden	ftr_return_stubs
	.globl	ftr_return_stubs
	.type	ftr_return_stubs, @function
	.p2align 15
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa esp, 0
	RETURN_STUBS_CFI
ftr_return_stubs:
	.long	ftr_unwind_slots - ftr_return_stubs, 0
	.rept	STUBS - 1
	.p2align 3
	jmp	ftr_return_common
	.endr
	.p2align 3
	.cfi_endproc
	.size	ftr_return_stubs, . - ftr_return_stubs

#define POPPED_BYTES 64	/* of arguments that a function takes off, at most, for this */

/*
 * ftr_leave_popped gets the address of the word below the stack pointer, where the return address
 * stood unless the function took arguments off the stack (libmcount/popped.c), and answers with
 * the true one.  It goes into that word, from where it is returned to: no register is free.  What
 * lies right below may be the return address, and is left alone.
 */
	.type	ftr_return_common, @function
	.p2align 5
ftr_return_common:
	.cfi_startproc
	.cfi_undefined eip
	subl	$4 + POPPED_BYTES, %esp
	.cfi_adjust_cfa_offset 4 + POPPED_BYTES
	FRAME_MAKE
	leal	FRAME_BYTES + POPPED_BYTES(%esp), %eax
	movl	%eax, 0(%esp)
	leal	ARGUMENT_BYTES(%esp), %eax
	movl	%eax, 4(%esp)
	call	ftr_leave_popped
	movl	%eax, FRAME_BYTES + POPPED_BYTES(%esp)
	FRAME_DROP
	addl	$POPPED_BYTES, %esp
	.cfi_adjust_cfa_offset -POPPED_BYTES
	ret
	.cfi_endproc
	.size	ftr_return_common, . - ftr_return_common

	NOTES

/* SPDX-License-Identifier: MIT */
/*
 * What the trampolines keep around the hook, as struct ftr_regs of regs.h shows it to C.
 *
 * The hook is C built without vector registers and the x87 stack, so only the three caller-saved
 * integer registers are saved.  All of them are: a function may get its first arguments in them
 * (regparm, and whatever the compiler chose for one of its own), its static chain in ecx, and a
 * caller compiled with -fipa-ra may keep values in any it saw unused.
 *
 * Arguments of C functions are on the stack, in room below that: ARGUMENT_BYTES.
 */
#ifndef FTR_ARCH_I386_SAVED_H
#define FTR_ARCH_I386_SAVED_H

/* Words of 8 bytes, as where values are looked for (arch/i386/regs.h) they are of that size. */
#define SAVED_EAX 0
#define SAVED_EDX 8
#define SAVED_ECX 16
#define SAVED_BYTES 24

#ifdef __ASSEMBLER__

#define ARGUMENT_BYTES 20
#define FRAME_BYTES 44		/* SAVED_BYTES + ARGUMENT_BYTES */

/*
 * A function; with "local", not for others.  @cfa: how far above the stack pointer its caller's
 * frame ends when it is entered, where that is not by a call.
 */
.macro FUNCTION name, binding=global, cfa=4
	.\binding \name
	.type	\name, @function
	.p2align 5
\name:
	.cfi_startproc
	.cfi_def_cfa_offset \cfa
	endbr32
.endm

.macro END name
	.cfi_endproc
	.size	\name, . - \name
.endm

/* The frame is there: FRAME_BYTES, and then @more. */
.macro SAVE_REGISTERS
	movl	%eax, ARGUMENT_BYTES + SAVED_EAX(%esp)
	movl	%edx, ARGUMENT_BYTES + SAVED_EDX(%esp)
	movl	%ecx, ARGUMENT_BYTES + SAVED_ECX(%esp)
	movl	$0, ARGUMENT_BYTES + SAVED_EAX + 4(%esp)
	movl	$0, ARGUMENT_BYTES + SAVED_EDX + 4(%esp)
	movl	$0, ARGUMENT_BYTES + SAVED_ECX + 4(%esp)
.endm

.macro RESTORE_REGISTERS
	movl	ARGUMENT_BYTES + SAVED_EAX(%esp), %eax
	movl	ARGUMENT_BYTES + SAVED_EDX(%esp), %edx
	movl	ARGUMENT_BYTES + SAVED_ECX(%esp), %ecx
.endm

.macro FRAME_MAKE
	subl	$FRAME_BYTES, %esp
	.cfi_adjust_cfa_offset FRAME_BYTES
	SAVE_REGISTERS
.endm

.macro FRAME_DROP
	RESTORE_REGISTERS
	addl	$FRAME_BYTES, %esp
	.cfi_adjust_cfa_offset -FRAME_BYTES
.endm

.macro PUSH_KEPT register
	pushl	%\register
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset \register, 0
.endm

.macro POP_KEPT register
	popl	%\register
	.cfi_adjust_cfa_offset -4
	.cfi_restore \register
.endm

/*
 * The call that eax names, of a function whose first argument is that number: the others are the
 * call's.  All registers but the stack pointer have something in them then, so what they held is on
 * the stack, where unwinders that a handler starts find it.
 */
.macro SYSTEM_CALL
	PUSH_KEPT ebp
	PUSH_KEPT edi
	PUSH_KEPT esi
	PUSH_KEPT ebx
	movl	24(%esp), %ebx
	movl	28(%esp), %ecx
	movl	32(%esp), %edx
	movl	36(%esp), %esi
	movl	40(%esp), %edi
	movl	44(%esp), %ebp
	int	$0x80
	POP_KEPT ebx
	POP_KEPT esi
	POP_KEPT edi
	POP_KEPT ebp
.endm

.macro NOTES
	.section .note.GNU-stack, "", @progbits
.endm

#endif /* __ASSEMBLER__ */
#endif /* FTR_ARCH_I386_SAVED_H */

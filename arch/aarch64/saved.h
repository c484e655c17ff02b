/* SPDX-License-Identifier: MIT */
/*
 * What the trampolines keep around the hook, as struct ftr_regs of regs.h shows it to C.
 *
 * The hook is C built without vector registers and without x18, so x0 to x15 are saved: arguments,
 * where a value of many words goes, and what a caller compiled with -fipa-ra may keep in registers
 * that it saw unused.  x16 and x17 belong to no one between a call and a function's start.
 *
 * The upper end of what is saved is the word that names the call: it gets the return address.
 */
#ifndef FTR_ARCH_AARCH64_SAVED_H
#define FTR_ARCH_AARCH64_SAVED_H

#define SAVED_X0 0
#define SAVED_BACK 128		/* where to go on in the function */
#define SAVED_LOC 152		/* the return address: libmcount's loc */
#define SAVED_BYTES 160

#ifdef __ASSEMBLER__

/* A function; with "local", not for others. */
.macro FUNCTION name, binding=global
	.\binding \name
	.type	\name, %function
	.p2align 5
\name:
	.cfi_startproc
	hint	#34			/* bti c */
.endm

.macro END name
	.cfi_endproc
	.size	\name, . - \name
.endm

/* From here on unwinders find the return address where the hook does. */
.macro SAVE_REGISTERS
	sub	sp, sp, #SAVED_BYTES
	.cfi_adjust_cfa_offset SAVED_BYTES
	stp	x0, x1, [sp, #0]
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
.endm

/* The return address is in @reg. */
.macro SAVE_RETURN reg
	str	\reg, [sp, #SAVED_LOC]
	.cfi_offset x30, SAVED_LOC - SAVED_BYTES
.endm

.macro RESTORE_RETURN
	ldr	x30, [sp, #SAVED_LOC]
	.cfi_restore x30
.endm

.macro RESTORE_REGISTERS
	ldp	x0, x1, [sp, #0]
	ldp	x2, x3, [sp, #16]
	ldp	x4, x5, [sp, #32]
	ldp	x6, x7, [sp, #48]
	ldp	x8, x9, [sp, #64]
	ldp	x10, x11, [sp, #80]
	ldp	x12, x13, [sp, #96]
	ldp	x14, x15, [sp, #112]
	add	sp, sp, #SAVED_BYTES
	.cfi_adjust_cfa_offset -SAVED_BYTES
.endm

/* BTI: every indirect target starts with bti. */
.macro NOTES
	.section .note.gnu.property, "a"
	.p2align 3
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000000, 4, 1, 0
	.section .note.GNU-stack, "", %progbits
.endm

#endif /* __ASSEMBLER__ */
#endif /* FTR_ARCH_AARCH64_SAVED_H */

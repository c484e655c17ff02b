/* SPDX-License-Identifier: MIT */
/*
 * What the trampolines keep around the hook, as struct ftr_regs of regs.h shows it to C.
 *
 * The hook is C built without vector registers, so only the nine caller-saved integer registers are
 * saved.  All of them are: a function may get its static chain in r10, the number of vector
 * arguments in al, and a caller compiled with -fipa-ra may keep values in any it saw unused.
 *
 * Where the compiler can be told to leave r10 and r11 alone, the trampolines of the common way do
 * not save them: the ways off it do, with ftr_arch_spare() of regs.h.
 */
#ifndef FTR_ARCH_X86_64_SAVED_H
#define FTR_ARCH_X86_64_SAVED_H

#include "config.h"

#define SAVED_RAX 0
#define SAVED_RCX 8
#define SAVED_RDX 16
#define SAVED_RSI 24
#define SAVED_RDI 32
#define SAVED_R8 40
#define SAVED_R9 48
#define SAVED_R10 56
#define SAVED_R11 64
#define SAVED_BYTES 72

#ifdef __ASSEMBLER__

/*
 * A function; with "local", not for others.  @cfa: how far above the stack pointer its caller's
 * frame ends when it is entered, where that is not by a call.
 */
.macro FUNCTION name, binding=global, cfa=8
	.\binding \name
	.type	\name, @function
	.p2align 5
\name:
	.cfi_startproc
	.cfi_def_cfa_offset \cfa
	endbr64
.endm

.macro END name
	.cfi_endproc
	.size	\name, . - \name
.endm

.macro SAVE_SPARED
	movq	%r10, SAVED_R10(%rsp)
	movq	%r11, SAVED_R11(%rsp)
.endm

.macro RESTORE_SPARED
	movq	SAVED_R10(%rsp), %r10
	movq	SAVED_R11(%rsp), %r11
.endm

.macro SAVE_FOR_HOOK
	movq	%rax, SAVED_RAX(%rsp)
	movq	%rcx, SAVED_RCX(%rsp)
	movq	%rdx, SAVED_RDX(%rsp)
	movq	%rsi, SAVED_RSI(%rsp)
	movq	%rdi, SAVED_RDI(%rsp)
	movq	%r8, SAVED_R8(%rsp)
	movq	%r9, SAVED_R9(%rsp)
#ifndef FTR_SPARES_REGISTERS
	SAVE_SPARED
#endif
.endm

.macro RESTORE_AFTER_HOOK
	movq	SAVED_RAX(%rsp), %rax
	movq	SAVED_RCX(%rsp), %rcx
	movq	SAVED_RDX(%rsp), %rdx
	movq	SAVED_RSI(%rsp), %rsi
	movq	SAVED_RDI(%rsp), %rdi
	movq	SAVED_R8(%rsp), %r8
	movq	SAVED_R9(%rsp), %r9
#ifndef FTR_SPARES_REGISTERS
	RESTORE_SPARED
#endif
.endm

/* For what is not the hook. */
.macro SAVE_REGISTERS
	SAVE_FOR_HOOK
#ifdef FTR_SPARES_REGISTERS
	SAVE_SPARED
#endif
.endm

.macro RESTORE_REGISTERS
	RESTORE_AFTER_HOOK
#ifdef FTR_SPARES_REGISTERS
	RESTORE_SPARED
#endif
.endm

/*
 * IBT: every indirect target starts with endbr64.  (SHSTK is not claimed: the processor's shadow
 * stack and replaced return addresses exclude each other.)
 */
.macro NOTES
	.section .note.gnu.property, "a"
	.p2align 3
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 1, 0
	.section .note.GNU-stack, "", @progbits
.endm

#endif /* __ASSEMBLER__ */
#endif /* FTR_ARCH_X86_64_SAVED_H */

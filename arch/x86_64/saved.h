/* SPDX-License-Identifier: MIT */
/*
 * What the trampolines keep around the hook (assembler only).
 *
 * The hook is C built without vector registers, so only the nine caller-saved integer registers are
 * saved.  All of them are: a function may get its static chain in r10, the number of vector
 * arguments in al, and a caller compiled with -fipa-ra may keep values in any it saw unused.
 */
#ifndef FTR_ARCH_X86_64_SAVED_H
#define FTR_ARCH_X86_64_SAVED_H
#ifdef __ASSEMBLER__

#define SAVED_BYTES 72

/* A function; with "local", not for others. */
.macro FUNCTION name, binding=global
	.\binding \name
	.type	\name, @function
	.p2align 5
\name:
	.cfi_startproc
	endbr64
.endm

.macro END name
	.cfi_endproc
	.size	\name, . - \name
.endm

.macro SAVE_REGISTERS
	movq	%rax, 0(%rsp)
	movq	%rcx, 8(%rsp)
	movq	%rdx, 16(%rsp)
	movq	%rsi, 24(%rsp)
	movq	%rdi, 32(%rsp)
	movq	%r8,  40(%rsp)
	movq	%r9,  48(%rsp)
	movq	%r10, 56(%rsp)
	movq	%r11, 64(%rsp)
.endm

.macro RESTORE_REGISTERS
	movq	0(%rsp),  %rax
	movq	8(%rsp),  %rcx
	movq	16(%rsp), %rdx
	movq	24(%rsp), %rsi
	movq	32(%rsp), %rdi
	movq	40(%rsp), %r8
	movq	48(%rsp), %r9
	movq	56(%rsp), %r10
	movq	64(%rsp), %r11
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

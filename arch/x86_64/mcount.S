/* SPDX-License-Identifier: MIT */
/*
 * How the instrumented code reaches the hook on x86-64 (System V ABI, compilers' -pg conventions).
 *
 * The hook is C built without vector registers, so only the nine caller-saved integer registers are
 * saved around it.  All of them are: a function may get its static chain in r10, the number of vector
 * arguments in al, and a caller compiled with -fipa-ra may keep values in any it saw unused.
 */

#define SAVED_BYTES 72

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

.macro FUNCTION name
	.globl	\name
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

	.text

/*
 * -pg: called after the prologue.
 *
 *	8(%rbp)   return address of the traced function
 *	0(%rbp)   saved rbp
 *	0(%rsp)   our return address, inside the traced function
 */
	.globl	_mcount
	.type	_mcount, @function
	.set	_mcount, mcount
FUNCTION mcount
	subq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset SAVED_BYTES
	SAVE_REGISTERS
	leaq	8(%rbp), %rdi
	movq	SAVED_BYTES(%rsp), %rsi
	call	ftr_enter_mcount
	RESTORE_REGISTERS
	addq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset -SAVED_BYTES
	ret
END mcount

/*
 * -pg -mfentry: called before anything else.
 *
 *	8(%rsp)   return address of the traced function
 *	0(%rsp)   our return address
 */
FUNCTION __fentry__
	subq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset SAVED_BYTES
	SAVE_REGISTERS
	leaq	SAVED_BYTES + 8(%rsp), %rdi
	movq	SAVED_BYTES(%rsp), %rsi
	call	ftr_enter
	RESTORE_REGISTERS
	addq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset -SAVED_BYTES
	ret
END __fentry__

/*
 * Where traced functions return to.  ftr_leave gets the address of the slot that held the return
 * address and answers with the true one.  It goes back into that slot, now just below the
 * stack pointer and inside the red zone, so that the last jump needs no register at all.
 */
	.hidden	ftr_return_hook
	.globl	ftr_return_hook
	.type	ftr_return_hook, @function
	.p2align 5
	.cfi_startproc
	.cfi_undefined rip	/* an unwinder ends here instead of guessing */
	nop			/* unwinders look up the address before the return address */
ftr_return_hook:
	endbr64
	subq	$SAVED_BYTES + 8, %rsp
	.cfi_adjust_cfa_offset SAVED_BYTES + 8
	SAVE_REGISTERS
	leaq	SAVED_BYTES(%rsp), %rdi
	call	ftr_leave
	movq	%rax, SAVED_BYTES(%rsp)
	RESTORE_REGISTERS
	addq	$SAVED_BYTES + 8, %rsp
	.cfi_adjust_cfa_offset -SAVED_BYTES - 8
	notrack jmp *-8(%rsp)
	.cfi_endproc
	.size	ftr_return_hook, . - ftr_return_hook

/* IBT: every indirect target above starts with endbr64.  (SHSTK and replaced return addresses
 * exclude each other, so SHSTK is not claimed.) */
	.section .note.gnu.property, "a"
	.p2align 3
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 1, 0

	.section .note.GNU-stack, "", @progbits

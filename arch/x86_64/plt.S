/* SPDX-License-Identifier: MIT */
/*
 * Where hooked entries of a global offset table lead: stub n tells which one it was.  The callee's
 * arguments, integer, vector, on the stack, and %r10, arrive as they were; %r11 and the flags are
 * free by the ABI of PLT calls.
 *
 *	8(%rsp)   return address of the call
 *	0(%rsp)   n
 */
#include "arch/x86_64/saved.h"

#define STUBS 8192		/* FTR_PLT_STUB_NR */
#define BLOCK_STUBS 4094	/* FTR_PLT_BLOCK_STUB_NR */
#define BLOCK_BYTES 65536	/* FTR_PLT_BLOCK_BYTES */

	.text
	.hidden	ftr_plt_stubs
	.globl	ftr_plt_stubs
	.type	ftr_plt_stubs, @function
	.p2align 6
ftr_plt_stubs:
	.cfi_startproc
	/* DW_CFA_def_cfa_expression: rsp + 8 + ((rip & 15) >= 6) * 8, whichever push n takes */
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x36, 0x2a, 0x33, 0x24, 0x22
	.set	n, 0
	.rept	STUBS
	.p2align 4
	endbr64
	pushq	$n
	jmp	ftr_plt_common
	.set	n, n + 1
	.endr
	.cfi_endproc
	.size	ftr_plt_stubs, . - ftr_plt_stubs

FUNCTION ftr_plt_common, local, 16
	subq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset SAVED_BYTES
	SAVE_REGISTERS
	movq	SAVED_BYTES(%rsp), %rdi
	leaq	SAVED_BYTES + 8(%rsp), %rsi
	movq	%rsp, %rdx
	call	ftr_plt_enter
	movq	%rax, SAVED_BYTES(%rsp)
	RESTORE_REGISTERS
	addq	$SAVED_BYTES, %rsp
	.cfi_adjust_cfa_offset -SAVED_BYTES
	popq	%r11
	.cfi_adjust_cfa_offset -8
	notrack jmp *%r11
END ftr_plt_common

/*
 * Further stubs.  This block of the file is mapped again, as often as stubs are wanted, each time
 * with a page of data of its own behind it (struct block_data of libmcount/plt_stubs.c), so no
 * memory is ever both written and run.  Here it is only the pattern, and nothing jumps to it.
 */
	.hidden	ftr_plt_block
	.globl	ftr_plt_block
	.type	ftr_plt_block, @function
	.p2align 12
ftr_plt_block:
	.cfi_startproc
	.cfi_undefined rip
	.set	n, 0
	.rept	BLOCK_STUBS
	.p2align 4
	endbr64
	pushq	$n
	jmp	1f
	.set	n, n + 1
	.endr
	.org	ftr_plt_block + BLOCK_BYTES - 16
1:	pushq	ftr_plt_block + BLOCK_BYTES(%rip)	/* n of the block's first stub */
	jmp	*ftr_plt_block + BLOCK_BYTES + 8(%rip)	/* ftr_plt_block_common */
	.org	ftr_plt_block + BLOCK_BYTES
	.cfi_endproc
	.size	ftr_plt_block, . - ftr_plt_block

	.hidden	ftr_plt_block_common
FUNCTION ftr_plt_block_common, cfa=24
	popq	%r11
	.cfi_adjust_cfa_offset -8
	addq	%r11, (%rsp)
	jmp	ftr_plt_common
END ftr_plt_block_common

	NOTES

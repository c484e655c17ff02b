/* SPDX-License-Identifier: MIT */
/*
 * Where hooked entries of a global offset table lead: stub n tells which one it was.  The callee's
 * arguments, on the stack and, of regparm functions, in registers, arrive as they were; only the
 * flags are free, so the callee is "returned" to.
 *
 *	4(%esp)   return address of the call
 *	0(%esp)   n
 */
#include "arch/i386/saved.h"

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
	/* DW_CFA_def_cfa_expression: esp + 4 + ((eip & 15) >= 6) * 4, whichever push n takes */
	.cfi_escape 0x0f, 11, 0x74, 4, 0x78, 0, 0x3f, 0x1a, 0x36, 0x2a, 0x32, 0x24, 0x22
	.set	n, 0
	.rept	STUBS
	.p2align 4
	endbr32
	pushl	$n
	jmp	ftr_plt_common
	.set	n, n + 1
	.endr
	.cfi_endproc
	.size	ftr_plt_stubs, . - ftr_plt_stubs

FUNCTION ftr_plt_common, local, 8
	FRAME_MAKE
	movl	FRAME_BYTES(%esp), %eax
	movl	%eax, 0(%esp)
	leal	FRAME_BYTES + 4(%esp), %eax
	movl	%eax, 4(%esp)
	leal	ARGUMENT_BYTES(%esp), %eax
	movl	%eax, 8(%esp)
	call	ftr_plt_enter
	movl	%eax, FRAME_BYTES(%esp)
	FRAME_DROP
	ret
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
	.cfi_undefined eip
	.set	n, 0
	.rept	BLOCK_STUBS
	.p2align 4
	endbr32
	pushl	$n
	jmp	1f
	.set	n, n + 1
	.endr
	.org	ftr_plt_block + BLOCK_BYTES - 32
	/* (%esp): n in the block; its first stub's and ftr_plt_block_common are read behind here */
1:	pushl	%eax
	call	2f
2:	popl	%eax
	pushl	ftr_plt_block + BLOCK_BYTES - 2b(%eax)
	pushl	ftr_plt_block + BLOCK_BYTES + 8 - 2b(%eax)
	ret
	.org	ftr_plt_block + BLOCK_BYTES
	.cfi_endproc
	.size	ftr_plt_block, . - ftr_plt_block

/*
 *	8(%esp)   n in the block
 *	4(%esp)   eax
 *	0(%esp)   number of the block's first stub
 */
	.hidden	ftr_plt_block_common
FUNCTION ftr_plt_block_common, cfa=16
	popl	%eax
	.cfi_adjust_cfa_offset -4
	addl	%eax, 4(%esp)
	popl	%eax
	.cfi_adjust_cfa_offset -4
	jmp	ftr_plt_common
END ftr_plt_block_common

	NOTES

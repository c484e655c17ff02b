/* SPDX-License-Identifier: MIT */
/*
 * Where hooked entries of a global offset table lead: stub n tells which one it was.  The callee's
 * arguments, integer, vector, on the stack, and x8, arrive as they were; x16, x17 and the flags are
 * free by the ABI of PLT calls.
 *
 *	x30	return address of the call
 *	x16	n
 */
#include "arch/aarch64/saved.h"

#define STUBS 8192		/* FTR_PLT_STUB_NR */
#define BLOCK_STUBS 4094	/* FTR_PLT_BLOCK_STUB_NR */
#define BLOCK_BYTES 65536	/* FTR_PLT_BLOCK_BYTES */

	.text
	.hidden	ftr_plt_stubs
	.globl	ftr_plt_stubs
	.type	ftr_plt_stubs, %function
	.p2align 6
ftr_plt_stubs:
	.cfi_startproc
	.set	n, 0
	.rept	STUBS
	hint	#34			/* bti c */
	mov	x16, #n
	b	ftr_plt_common
	nop
	.set	n, n + 1
	.endr
	.cfi_endproc
	.size	ftr_plt_stubs, . - ftr_plt_stubs

FUNCTION ftr_plt_common, local
	SAVE_REGISTERS
	SAVE_RETURN x30
	mov	x0, x16
	add	x1, sp, #SAVED_LOC
	mov	x2, sp
	bl	ftr_plt_enter
	mov	x16, x0
	RESTORE_RETURN
	RESTORE_REGISTERS
	br	x16
END ftr_plt_common

/*
 * Further stubs.  This block of the file is mapped again, as often as stubs are wanted, each time
 * with a page of data of its own behind it (struct block_data of libmcount/plt_stubs.c), so no
 * memory is ever both written and run.  Here it is only the pattern, and nothing jumps to it.
 */
	.hidden	ftr_plt_block
	.globl	ftr_plt_block
	.type	ftr_plt_block, %function
	.p2align 12
ftr_plt_block:
	.cfi_startproc
	.set	n, 0
	.rept	BLOCK_STUBS
	hint	#34			/* bti c */
	mov	x16, #n
	b	1f
	nop
	.set	n, n + 1
	.endr
1:	ldr	x17, ftr_plt_block + BLOCK_BYTES	/* n of the block's first stub */
	add	x16, x16, x17
	ldr	x17, ftr_plt_block + BLOCK_BYTES + 8	/* ftr_plt_block_common */
	br	x17
	.org	ftr_plt_block + BLOCK_BYTES
	.cfi_endproc
	.size	ftr_plt_block, . - ftr_plt_block

	.hidden	ftr_plt_block_common
FUNCTION ftr_plt_block_common
	b	ftr_plt_common
END ftr_plt_block_common

	NOTES

/* SPDX-License-Identifier: MIT */
/*
 * Where patched entries lead that are too far from __fentry__ and mcount for a call of four bytes'
 * distance.  The page is mapped again near their module, with a page of data behind it (struct
 * near_data of libmcount/patch_near.c).  Here it is only the pattern, and nothing jumps to it.
 *
 *	ftr_patch_block + 0	to __fentry__
 *	ftr_patch_block + 16	to mcount
 *	ftr_patch_block + 32	to ftr_plain_entry
 *	ftr_patch_block + 48	to ftr_site_entry
 */
#include "arch/x86_64/saved.h"

#define BLOCK_BYTES 4096	/* FTR_ARCH_BLOCK_BYTES */

	.text
	.hidden	ftr_patch_block
	.globl	ftr_patch_block
	.type	ftr_patch_block, @function
	.p2align 12
ftr_patch_block:
	.cfi_startproc
	jmp	*ftr_patch_block + BLOCK_BYTES(%rip)
	.p2align 4
	jmp	*ftr_patch_block + BLOCK_BYTES + 8(%rip)
	.p2align 4
	jmp	*ftr_patch_block + BLOCK_BYTES + 16(%rip)
	.p2align 4
	jmp	*ftr_patch_block + BLOCK_BYTES + 24(%rip)
	.org	ftr_patch_block + BLOCK_BYTES
	.cfi_endproc
	.size	ftr_patch_block, . - ftr_patch_block

	NOTES

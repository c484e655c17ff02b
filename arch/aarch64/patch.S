/* SPDX-License-Identifier: MIT */
/*
 * Where patched entries lead that are too far from ftr_fentry for a branch.  The page is mapped
 * again near their module, with a page of data behind it (struct near_data of
 * libmcount/patch_near.c).  Here it is only the pattern, and nothing jumps to it.
 *
 *	ftr_patch_block + 0	to ftr_fentry
 *	ftr_patch_block + 16	to ftr_plain_entry, of heads (arch/aarch64/plain.h)
 *	ftr_patch_block + 32	to ftr_site_entry, likewise
 */
#include "arch/aarch64/saved.h"

#define BLOCK_BYTES 4096	/* FTR_ARCH_BLOCK_BYTES */

	.text
	.hidden	ftr_patch_block
	.globl	ftr_patch_block
	.type	ftr_patch_block, %function
	.p2align 12
ftr_patch_block:
	.cfi_startproc
	.set	n, 0
	.rept	3
	ldr	x17, ftr_patch_block + BLOCK_BYTES + 8 * n
	br	x17
	nop
	nop
	.set	n, n + 1
	.endr
	.org	ftr_patch_block + BLOCK_BYTES
	.cfi_endproc
	.size	ftr_patch_block, . - ftr_patch_block

	NOTES

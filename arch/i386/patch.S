/* SPDX-License-Identifier: MIT */
/*
 * Where patched entries lead that are too far from __fentry__ and mcount for a call: none are here.
 */
#include "arch/i386/saved.h"

#define BLOCK_BYTES 4096	/* FTR_ARCH_BLOCK_BYTES */

	.text
	.hidden	ftr_patch_block
	.globl	ftr_patch_block
	.type	ftr_patch_block, @function
	.p2align 12
ftr_patch_block:
	.cfi_startproc
	hlt
	.p2align 4
	hlt
	.org	ftr_patch_block + BLOCK_BYTES
	.cfi_endproc
	.size	ftr_patch_block, . - ftr_patch_block

	NOTES

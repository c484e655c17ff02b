/* SPDX-License-Identifier: MIT */
/*
 * For what the heads of moved instructions call (arch/aarch64/plain.h): unwinders are told that
 * what was moved called, since they know that place and not the head: "our caller is there, at the
 * distance that stands before the head".  Its x30 is still its own, so that place has a column for
 * itself: 96, which unwinders have for the frames of signals.
 */
#ifndef FTR_ARCH_AARCH64_CALLED_H
#define FTR_ARCH_AARCH64_CALLED_H

#include "arch/aarch64/plain.h"

#define PLACE_COLUMN	96
#define OP_DEREF	0x06
#define OP_CONST1U	0x08
#define OP_CONST2U	0x0a
#define OP_DUP		0x12
#define OP_MINUS	0x1c
#define OP_PLUS		0x22
#define OP_PLUS_UCONST	0x23
#define OP_SHL		0x24
#define OP_SHRA		0x26
#define OP_BREG30	0x8e
#define OP_DEREF_SIZE	0x94

#ifdef __ASSEMBLER__

/* From our return address on the stack to the place; one too high: unwinders look before it. */
.macro PLACE_OF_RETURN
	.cfi_escape OP_CONST1U, FTR_ARCH_PLAIN_CODE, OP_MINUS	/* the head's code */
	.cfi_escape OP_DUP, OP_CONST1U, 4, OP_MINUS, OP_DEREF_SIZE, 4
	.cfi_escape OP_CONST1U, 32, OP_SHL, OP_CONST1U, 32, OP_SHRA, OP_PLUS
	.cfi_escape OP_PLUS_UCONST, 1
.endm

/* At the start: our return address is in x30, that of the function above the stack pointer. */
.macro CALLED_BY_FUNCTION
	.cfi_return_column PLACE_COLUMN
	.cfi_def_cfa_offset FTR_ARCH_PLAIN_PUSHED
	.cfi_offset x17, -FTR_ARCH_PLAIN_PUSHED
	.cfi_offset x30, 8 - FTR_ARCH_PLAIN_PUSHED
	.cfi_escape 0x16, PLACE_COLUMN, 20, OP_BREG30, 0	/* DW_CFA_val_expression */
	PLACE_OF_RETURN
.endm

/* Then it lies @below less than the CFA, which is on the stack. */
.macro CALLED_AS_SAVED below
	.cfi_escape 0x16, PLACE_COLUMN, 23, OP_CONST2U, (\below) & 255, (\below) >> 8
	.cfi_escape OP_MINUS, OP_DEREF
	PLACE_OF_RETURN
.endm
#endif /* __ASSEMBLER__ */
#endif /* FTR_ARCH_AARCH64_CALLED_H */

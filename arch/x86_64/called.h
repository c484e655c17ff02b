/* SPDX-License-Identifier: MIT */
/*
 * For what the heads of moved instructions call (arch/x86_64/plain.h): unwinders are told that what
 * was moved called, since they know that place and not the head: "our caller is there, at the
 * distance that stands before the head's call".
 */
#ifndef FTR_ARCH_X86_64_CALLED_H
#define FTR_ARCH_X86_64_CALLED_H

#include "arch/x86_64/plain.h"

#define CALLED_CFA	(8 + FTR_ARCH_RED_ZONE)	/* above our stack pointer, when we are called */
#define OP_DEREF	0x06
#define OP_CONST1U	0x08
#define OP_DUP		0x12
#define OP_MINUS	0x1c
#define OP_PLUS		0x22
#define OP_PLUS_UCONST	0x23
#define OP_SHL		0x24
#define OP_SHRA		0x26
#define OP_DEREF_SIZE	0x94

#ifdef __ASSEMBLER__

/* One too high: an unwinder looks before what it takes for a return address. */
.macro CALLED_BY_FUNCTION
	/* DW_CFA_val_expression, column 16, 22 bytes; the CFA is on the stack */
	.cfi_escape 0x16, 16, 22
	.cfi_escape OP_CONST1U, CALLED_CFA, OP_MINUS, OP_DEREF	/* our return address */
	.cfi_escape OP_CONST1U, FTR_ARCH_PLAIN_CODE, OP_MINUS	/* the head's code */
	.cfi_escape OP_DUP, OP_CONST1U, 4, OP_MINUS, OP_DEREF_SIZE, 4
	.cfi_escape OP_CONST1U, 32, OP_SHL, OP_CONST1U, 32, OP_SHRA, OP_PLUS
	.cfi_escape OP_PLUS_UCONST, 1
.endm

#endif /* __ASSEMBLER__ */
#endif /* FTR_ARCH_X86_64_CALLED_H */

/* SPDX-License-Identifier: MIT */
/*
 * Where traced functions return to.  Each thread has a stub of its own, so that an unwinder that
 * meets one can find the thread's shadow stack; all of them lead to ftr_return_common of
 * arch/ISA/mcount.S.
 *
 *	ftr_return_stubs + 0	distance from here to ftr_unwind_slots[]
 *	ftr_return_stubs + 8*n	stub of ftr_unwind_slots[n]; stub 1 also serves threads
 *				beyond the last
 *
 * The call frame information below is what makes exceptions, pthread_cancel, backtrace(3) and gdb
 * pass through: "this frame is empty, its caller's address is in the shadow stack".  With the
 * stack pointer just above the return slot and the return address = the stub, the expression looks
 * for the frame whose loc is the slot; tail calls have several, the one whose ret is not a stub
 * counts.
 *
 * A slot on the stack that the thread was born on: it runs, and the frames are those below its top.
 * On one stack loc falls from frame to frame, so it halves first: an exception through n frames
 * asks 2n times.  Where several stacks are in use (halving_low is above all frames then), it looks
 * at each, newest first: frames of dropped coroutines may be at the same place.
 *
 * A slot elsewhere is a coroutine's, or a handler's: the thread may have ended, and its
 * thread-local storage with it.  The frames are those that were ever in use (loc or func says so):
 * there are none behind the first power of two times 64 at which none is.
 *
 * It is marked as a signal frame and answers ret - 1, which comes to the same place in every table,
 * because libgcc tells frames apart by their CFA and this mark: an empty frame has the CFA of its
 * caller, and without the mark an exception would be thought to have passed its handler.
 *
 * The recorder knows all of this, too, from outside: utils/proto/shadow.h, utils/attach/stubs.c.
 */
#ifndef FTR_ARCH_RETURN_STUBS_H
#define FTR_ARCH_RETURN_STUBS_H

#ifdef __ASSEMBLER__

#define STUBS		4096
#define STUB_MASK	0x7fff		/* 8 * STUBS - 1 */
#define OP_DEREF	0x06
#define OP_CONST1U	0x08
#define OP_CONST2U	0x0a
#define OP_DUP		0x12
#define OP_DROP		0x13
#define OP_OVER		0x14
#define OP_PICK		0x15
#define OP_SWAP		0x16
#define OP_ROT		0x17
#define OP_AND		0x1a
#define OP_MINUS	0x1c
#define OP_NOT		0x20
#define OP_OR		0x21
#define OP_PLUS		0x22
#define OP_PLUS_UCONST	0x23
#define OP_SHL		0x24
#define OP_SHR		0x25
#define OP_BRA		0x28
#define OP_EQ		0x29
#define OP_GE		0x2a
#define OP_GT		0x2b
#define OP_LT		0x2d
#define OP_NE		0x2e
#define OP_SKIP		0x2f
#define OP_LIT0		0x30
#define OP_LIT1		0x31
#define OP_BREG4	0x74		/* esp of i386 */
#define OP_BREG7	0x77		/* rsp of x86-64 */
#define OP_BREG8	0x78		/* eip of i386 */
#define OP_BREG16	0x80		/* rip of x86-64 */
#define OP_BREG30	0x8e		/* x30 of 64-bit Arm */
#define OP_BREG31	0x8f		/* sp of 64-bit Arm */
#define OP_NOP		0x96

/*
 * arch/ISA/mcount.S defines STUBS_COLUMN, of the return address; STUBS_SP, OP_BREG of the stack
 * pointer, and STUBS_SLOT, how far from that the slot is (SLEB128); STUBS_RA, what puts the return
 * address on the stack of the expression, in 2 + STUBS_MORE bytes.
 */
.macro RETURN_STUBS_CFI
	/* DW_CFA_val_expression, 215 bytes (LEB128), where STUBS_MORE is 0, as below */
	.cfi_escape 0x16, STUBS_COLUMN, 0xd7 + 4 * STUBS_MORE, 0x01
	.cfi_escape STUBS_SP, STUBS_SLOT			/*   0: slot = sp - a word */
	.cfi_escape STUBS_RA				/*   2: slot stub */
	.cfi_escape OP_CONST2U, 0xff, 0x7f, OP_AND		/*   4: slot offset */
	.cfi_escape STUBS_RA				/*   8 */
	.cfi_escape OP_CONST2U, 0xff, 0x7f, OP_NOT, OP_AND	/*  10: slot offset stubs */
	.cfi_escape OP_DUP, OP_DEREF, OP_PLUS, OP_PLUS, OP_DEREF	/*  15: slot owner */
	.cfi_escape OP_DUP, OP_BRA, 0x03, 0x00			/*  20: no such thread: */
	.cfi_escape OP_SKIP, 0xbb + 2 * STUBS_MORE, 0x00		/*  24: to none */
	/*  27: slot owner slot>=home_low */
	.cfi_escape OP_OVER, OP_OVER, OP_PLUS_UCONST, 24, OP_DEREF, OP_GE
	/*  33: ... && slot<home_high */
	.cfi_escape OP_PICK, 2, OP_PICK, 2, OP_PLUS_UCONST, 32, OP_DEREF, OP_LT, OP_AND
	.cfi_escape OP_BRA, 0x31, 0x00				/*  42: to home */
	.cfi_escape OP_DUP, OP_PLUS_UCONST, 8, OP_DEREF, OP_SWAP	/*  45: slot frames owner */
	/*  50: slot frames end frame = [64] */
	.cfi_escape OP_PLUS_UCONST, 16, OP_DEREF, OP_OVER, OP_PLUS_UCONST, 0x80, 0x10
	/* gallop: */
	.cfi_escape OP_OVER, OP_OVER, OP_GT, OP_BRA, 0x05, 0x00	/*  57: end > frame: to inside */
	.cfi_escape OP_DROP, OP_DUP, OP_SKIP, 0x15, 0x00	/*  63: frame = end; to bounded */
	/* inside: */
	/*  68: loc | func: to used */
	.cfi_escape OP_DUP, OP_DEREF, OP_OVER, OP_PLUS_UCONST, 16, OP_DEREF, OP_OR
	.cfi_escape OP_BRA, 0x03, 0x00
	.cfi_escape OP_SKIP, 0x08, 0x00				/*  78: to bounded */
	/* used: */
	/*  81: twice as far; to gallop */
	.cfi_escape OP_DUP, OP_PLUS, OP_PICK, 2, OP_MINUS, OP_SKIP, 0xe0, 0xff
	/* bounded: */
	/*  89: slot frames frame; to next */
	.cfi_escape OP_SWAP, OP_DROP, OP_SKIP, 0x53 + STUBS_MORE, 0x00
	/* home: */
	.cfi_escape OP_DEREF, OP_DUP, OP_DEREF			/*  94: slot thread top */
	.cfi_escape OP_OVER, OP_PLUS_UCONST, 16, OP_DEREF	/*  97: slot thread top frames */
	.cfi_escape OP_ROT, OP_SWAP				/* 101: slot frames top thread */
	.cfi_escape OP_PLUS_UCONST, 24, OP_DEREF, OP_OVER	/* 103: slot frames top low high */
	/* halve: */
	.cfi_escape OP_OVER, OP_OVER, OP_SWAP, OP_MINUS		/* 107: high - low */
	/* 111: one apart: to halved */
	.cfi_escape OP_DUP, OP_CONST1U, 33, OP_LT, OP_BRA, 0x1c, 0x00
	/* 118: ... middle */
	.cfi_escape OP_LIT1, OP_SHR, OP_CONST1U, 31, OP_NOT, OP_AND, OP_PICK, 2, OP_PLUS
	/* 127: loc > slot: above */
	.cfi_escape OP_DUP, OP_DEREF, OP_PICK, 6, OP_GT, OP_BRA, 0x05, 0x00
	.cfi_escape OP_SWAP, OP_DROP, OP_SKIP, 0xdf, 0xff	/* 135: high = middle; to halve */
	/* above: */
	/* 140: low = middle; to halve */
	.cfi_escape OP_ROT, OP_SWAP, OP_DROP, OP_SKIP, 0xd9, 0xff
	/* halved: */
	.cfi_escape OP_DROP					/* 146: slot frames top low high */
	/* 147: high is the top: to other */
	.cfi_escape OP_DUP, OP_PICK, 3, OP_GE, OP_BRA, 0x15 + STUBS_MORE, 0x00
	/* 154: high->loc != slot: to other */
	.cfi_escape OP_DUP, OP_DEREF, OP_PICK, 5, OP_NE, OP_BRA, 0x0d + STUBS_MORE, 0x00
	.cfi_escape OP_DUP, OP_PLUS_UCONST, 8, OP_DEREF		/* 162: high->ret */
	.cfi_escape STUBS_RA, OP_EQ, OP_BRA, 0x03, 0x00		/* 166: is the stub: to other */
	.cfi_escape OP_SKIP, 0x1d + STUBS_MORE, 0x00		/* 172: to found */
	/* other: */
	.cfi_escape OP_DROP, OP_DROP				/* 175: slot frames frame = top */
	/* next: */
	.cfi_escape OP_OVER, OP_OVER, OP_GE			/* 177: frames >= frame: */
	.cfi_escape OP_BRA, 0x1f + STUBS_MORE, 0x00		/* 180: to none */
	.cfi_escape OP_CONST1U, 32, OP_MINUS			/* 183: frame-- */
	.cfi_escape OP_DUP, OP_DEREF, OP_PICK, 3, OP_NE		/* 186: frame->loc != slot: */
	.cfi_escape OP_BRA, 0xef, 0xff				/* 191: to next */
	.cfi_escape OP_DUP, OP_PLUS_UCONST, 8, OP_DEREF		/* 194: frame->ret */
	.cfi_escape STUBS_RA, OP_EQ			/* 198: is the stub: a tail call */
	.cfi_escape OP_BRA, 0xe5 - STUBS_MORE, 0xff		/* 201: to next */
	/* found: */
	.cfi_escape OP_PLUS_UCONST, 8, OP_DEREF			/* 204: frame->ret */
	.cfi_escape OP_CONST1U, 1, OP_MINUS			/* 207: - 1 */
	.cfi_escape OP_NOP					/* 210 */
	.cfi_escape OP_SKIP, 0x01, 0x00				/* 211: to the end */
	/* none: */
	.cfi_escape OP_LIT0					/* 214: the stack ends here */
.endm

#endif /* __ASSEMBLER__ */
#endif /* FTR_ARCH_RETURN_STUBS_H */

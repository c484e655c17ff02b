/* SPDX-License-Identifier: MIT */
/*
 * A stack on its way to the recorder, right before the ENTRY of a call that is to be recorded with
 * it (FTR_CALL_STACK): events FTR_RECORD_EVENT_STACK_PART, each with one struct ftr_stack_part and
 * bytes of it.  Parts of one stack follow each other in the ring; a handler's may come between,
 * which are complete then unless it left by a jump.
 *
 *	HEAD:  [ struct ftr_stack_part ][ struct ftr_stack_head ]
 *	OUTER: [ struct ftr_stack_part ][ uint64_t: where the next bytes are from ]
 *	LAST:  [ struct ftr_stack_part ]
 *	else:  [ struct ftr_stack_part ][ bytes, whole words ]
 *
 * Where a word is a return address that the runtime has replaced, it is the true one here.
 */
#ifndef FTR_PROTO_STACK_PART_H
#define FTR_PROTO_STACK_PART_H

#include <assert.h>
#include <stdint.h>

enum ftr_stack_part_flag {
	FTR_STACK_PART_HEAD = 1 << 0,	/* the first */
	FTR_STACK_PART_LAST = 1 << 1,
	/*
	 * A handler has a stack of its own (sigaltstack): what follows is of the stack that it
	 * interrupted, from there on.  Once at most.
	 */
	FTR_STACK_PART_OUTER = 1 << 2,
};

struct ftr_stack_part {
	uint32_t number;		/* counts the stacks of the thread */
	uint32_t offset;		/* bytes of the stacks in the parts before */
	uint32_t flags;			/* FTR_STACK_PART_* flags */
	uint32_t reserved;
};
static_assert(sizeof(struct ftr_stack_part) == 16, "wire layout");

/* Registers whose values calls preserve, and where the code is. */
enum ftr_stack_reg {
	FTR_STACK_IP,
	FTR_STACK_SP,
	FTR_STACK_BX,
	FTR_STACK_BP,
	FTR_STACK_R12,
	FTR_STACK_R13,
	FTR_STACK_R14,
	FTR_STACK_R15,
	FTR_STACK_REGS
};

/* They are those of a place in the runtime, from where its own frames lead to the call. */
struct ftr_stack_head {
	uint64_t regs[FTR_STACK_REGS];	/* by enum ftr_stack_reg */
	uint64_t outside;		/* stack pointers of callers are not below it */
	uint64_t site;			/* where the call returns to; 0 = not known */
};
static_assert(sizeof(struct ftr_stack_head) == 80, "wire layout");

#define FTR_STACK_PART_BYTES 240u	/* of a stack, in a part */
#define FTR_STACK_PART_PAYLOAD (sizeof(struct ftr_stack_part) + FTR_STACK_PART_BYTES)
#define FTR_STACK_BYTES_MAX 32640u	/* of a deeper one the innermost: a multiple of the above */
static_assert(FTR_STACK_BYTES_MAX % FTR_STACK_PART_BYTES == 0, "parts are full");

#endif /* FTR_PROTO_STACK_PART_H */

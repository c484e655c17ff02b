/* SPDX-License-Identifier: MIT */
/*
 * What leads from a return stub to where its call returns to: the slots of stubs, and the shadow
 * stacks.  The runtime's own structs begin so (libmcount/thread.h), and the call frame information
 * of the stubs reads them (arch/return_stubs.h).  So does the recorder, from outside, as not each
 * unwinder understands that (utils/attach/stubs.h).
 */
#ifndef FTR_PROTO_SHADOW_H
#define FTR_PROTO_SHADOW_H

#include <assert.h>
#include <stdint.h>

/*
 * The stubs lie in one piece that has call frame information of its own.  In place of the first one
 * is the distance from there to the slots: words, each of which has its stub's owner, or 0.
 */
#define FTR_STUB_NR 4096
#define FTR_STUB_BYTES 8

/* An open call. */
struct ftr_shadow_frame {
	uint64_t loc;			/* where the return address stood; 0 = free */
	uint64_t ret;			/* that address; a tail call's is a stub */
	uint64_t func;			/* loc or this is not 0 in what was ever in use */
	uint64_t state;
};
static_assert(sizeof(struct ftr_shadow_frame) == 32, "no padding");

/*
 * Of calls on the stack that the thread was born on all frames are below the thread's top, and loc
 * falls from frame to frame if its halving_low is the one below the first.  Of the others, frames
 * are in use up to the first power of two times FTR_SHADOW_GALLOP of which that one is not.
 */
struct ftr_shadow_owner {
	uint64_t thread;		/* 0 = none: the calls that were left, see below */
	uint64_t frames, frames_high;	/* behind the last of them */
	uint64_t home_low, home_high;	/* that stack */
};
#define FTR_SHADOW_GALLOP 64u

struct ftr_shadow_thread {
	uint64_t top;			/* the first free frame */
	uint64_t frames_end;
	uint64_t frames;
	uint64_t halving_low;
};

/*
 * Calls that were left (libmcount/left.h) are hashed by loc: each is in the first free frame from
 * here on, of as many as there are, a power of two; behind the last comes the first.
 */
static inline uint64_t ftr_shadow_left_at(uint64_t loc)
{
	return (loc >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

#endif /* FTR_PROTO_SHADOW_H */

/* SPDX-License-Identifier: MIT */
/*
 * The nursery: rings made ahead for the children that a process will fork, in one memfd, which the
 * recorder makes when asked for it (FTR_CHANNEL_NURSERY) and the children inherit as it is mapped.
 *
 *	file:	[ struct ftr_nursery, one page ][ place 0 ][ place 1 ] ...
 *	place:	[ struct ftr_ring_header ][ data ][ unused ]	not mirrored
 *
 *	child						recorder
 *	first record: claim.who FREE -> its numbers,
 *	claim.time = when it was forked, goes
 *	on in that ring
 *							at its next turn: writes the FORK line,
 *							drains from now on
 *	the ring is full: TASK with FTR_CHANNEL_GROW	drains what is there, makes a ring
 *							of the usual size, then:
 *	execs a known file (tried.h): claim.name =
 *	its name, which the exec changes
 *	ends, or execs					drains what is there; claim.time = 0,
 *							claim.who = FREE
 *
 * A claim is one compare and swap, so a child that is killed anywhere has claimed a ring or has
 * not; one that is killed before it stored the time has put nothing into it.  The recorder looks at
 * claims before it answers any message, so whatever a child says by the channel comes after its
 * claim.
 *
 * When the process that asked for it has ended, free places are closed, others when their child is
 * done with them: who then needs a ring asks for one.
 *
 * Why: doc/adr/0106-rings-made-ahead.md
 */
#ifndef FTR_PROTO_NURSERY_H
#define FTR_PROTO_NURSERY_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/proto/ring.h"

#define FTR_NURSERY_MAGIC	0x4e525446u	/* "FTRN" */
#define FTR_NURSERY_PLACES	64u
#define FTR_NURSERY_RING_BYTES	(64u << 10)	/* of data, at most */
#define FTR_NURSERY_DATA_OFFSET	256u	/* from a ring's header: its first page has both */
#define FTR_NURSERY_PLACE_BYTES	(FTR_NURSERY_RING_BYTES + 4096u)
#define FTR_NURSERY_OFFSET	4096u		/* of the first place */
#define FTR_NURSERY_BYTES \
	(FTR_NURSERY_OFFSET + FTR_NURSERY_PLACES * (uint64_t)FTR_NURSERY_PLACE_BYTES)

#define FTR_NURSERY_NAME_BYTES	16u	/* of a task's name, as the kernel has it */
#define FTR_NURSERY_NAME_WORDS	(FTR_NURSERY_NAME_BYTES / sizeof(uint64_t))

/* What claim.who may be besides the numbers of a child. */
#define FTR_NURSERY_FREE	UINT64_C(0)
#define FTR_NURSERY_CLOSED	UINT64_MAX

struct ftr_nursery_claim {
	_Atomic uint64_t who;		/* ftr_nursery_who() */
	_Atomic uint64_t time;		/* ticks of the control block's clock; 0 = not yet */
	_Atomic uint64_t name[FTR_NURSERY_NAME_WORDS]; /* the first one last; 0 = none, or empty */
};

struct ftr_nursery {
	uint32_t magic;
	uint32_t ring_bytes;		/* of data: a power of two */
	uint64_t first_id;		/* the rings' names: this, and from here on */
	_Alignas(64) struct ftr_nursery_claim claims[FTR_NURSERY_PLACES];
};
static_assert(sizeof(struct ftr_nursery) <= FTR_NURSERY_OFFSET, "one page");
static_assert(sizeof(struct ftr_ring_header) <= FTR_NURSERY_DATA_OFFSET, "before the data");
static_assert(FTR_NURSERY_RING_BYTES >= FTR_RING_MIN_BYTES, "each record fits in each ring");

/* Both in the numbers of the namespace of the process that asked for the nursery; > 0. */
static inline uint64_t ftr_nursery_who(int32_t pid, int32_t parent_pid)
{
	return (uint32_t)pid | (uint64_t)(uint32_t)parent_pid << 32;
}

static inline int32_t ftr_nursery_pid(uint64_t who)
{
	return (int32_t)(uint32_t)who;
}

static inline int32_t ftr_nursery_parent(uint64_t who)
{
	return (int32_t)(uint32_t)(who >> 32);
}

static inline struct ftr_ring_header *ftr_nursery_ring(struct ftr_nursery *nursery, unsigned place)
{
	return (struct ftr_ring_header *)((char *)nursery + FTR_NURSERY_OFFSET +
					  (size_t)place * FTR_NURSERY_PLACE_BYTES);
}

#endif /* FTR_PROTO_NURSERY_H */

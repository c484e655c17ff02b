/* SPDX-License-Identifier: MIT */
/*
 * The ring: one memfd per task, made and read by the recorder, written by the task.
 *
 *	file:	[ header, one page ][ data, size_bytes, a power of two ]
 *	task:	                    [ data ][ data again ]     (mirrored: a run never wraps)
 *
 * Producer (the task, and the signal handlers that interrupt it):
 *	1. reserve:	pos = head; head += 16		one instruction; head is private
 *	2. pos >= limit: slow path (wait, or drop)	limit is a private copy of tail + size
 *	3. data[pos % size].time = now
 *	4. data[pos % size].word = word			release: this commits the record
 *
 * Consumer (the recorder): reads on from tail while word != 0, stores 0 in each word it took,
 * then stores tail (release).  So a slot whose word is not 0 is always a whole, unread
 * record, and nothing committed is lost when the task is killed: after its death every
 * non-zero slot of [tail, tail + size) is taken, in order, and holes are skipped.
 *
 * A live producer's empty slot is a hole when header.head >= tail + size: it is passed over.
 *
 * With FTR_ON_FULL_OVERWRITE the consumer reads only after the end; limit is UINT64_MAX.
 *
 * Why private head and limit, and a page that fork(2) wipes: doc/adr/0004-ring-memory-order.md
 */
#ifndef FTR_PROTO_RING_H
#define FTR_PROTO_RING_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define FTR_RING_MAGIC		0x52525446u	/* "FTRR" */
#define FTR_RING_DATA_OFFSET	4096u
#define FTR_RING_MIN_BYTES	4096u
#define FTR_RING_MAX_BYTES	(1u << 30)

struct ftr_ring_header {
	uint32_t magic;
	uint32_t size_bytes;			/* of the data part */
	_Alignas(64) _Atomic uint64_t tail;	/* consumer: bytes taken since the start */
	_Alignas(64) _Atomic uint64_t skipped;	/* producer: calls declined, never in the ring */
	_Atomic uint64_t stalls;		/* producer: times it waited for room */
	_Atomic uint64_t lost;			/* producer: records dropped, ever */
	_Atomic uint64_t head; /* producer: position last waited for, or handed on at */
};
static_assert(sizeof(struct ftr_ring_header) <= FTR_RING_DATA_OFFSET, "one page");
static_assert(offsetof(struct ftr_ring_header, tail) == 64, "a cache line of its own");

#endif /* FTR_PROTO_RING_H */

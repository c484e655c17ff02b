/* SPDX-License-Identifier: MIT */
/*
 * The ring: one memfd per task, made and read by the recorder, written by the task.
 *
 *	file:	[ header, one page ][ data, size_bytes, a power of two ]
 *	task:	                    [ data ][ data again ]     (mirrored: a run never wraps)
 *
 * The data is a sequence of units of 16 bytes: a record, and the payload units of a record that has
 * a payload (utils/proto/record.h).  A unit whose word is 0 is free, or reserved and empty.
 *
 * Producer (the task, and the signal handlers that interrupt it), for a record of n units:
 *	1. reserve:	pos = head; head += 16 * n	one instruction; head is private
 *	2. pos + 16 * n > limit: slow path (wait, drop)	limit is a private copy of tail + size
 *	3. n > 1: unit[0].word = 0			overwrite: it may still commit an old record
 *	   the payload units, then
 *	   unit[0].time = now
 *	4. unit[0].word = word				release: this commits the record
 *
 * Consumer (the recorder): reads on from tail while word != 0, stores 0 in the word of each unit it
 * took, then stores tail (release).  So a unit whose word is not 0 is never of an earlier round, a
 * record with its bits in place is whole, and nothing committed is lost when the task is killed:
 * after its death every non-zero unit of [tail, tail + size) is looked at, in order.  Holes (units
 * that are empty) are skipped, and so are payload units without a record before them: what is left
 * of a record whose producer was killed, or jumped away, before it committed.
 *
 * A live producer's empty unit is a hole when header.head >= tail + size: it is passed over.
 *
 * A producer that asks for a dump of what a flight recorder holds stores its position in dump_at,
 * unless the consumer has not taken note of the last such place yet, which it does in dump_seen
 * when it has come there.  (By tail the producer would know that too early, and replace the place
 * before the consumer has looked at it.)
 *
 * With FTR_ON_FULL_OVERWRITE the consumer reads only after the end; limit is UINT64_MAX.  It may
 * begin at any unit, as each says what it is.
 *
 * Why private head and limit, and a page that fork(2) wipes: doc/adr/0004-ring-memory-order.md
 * Why payload units: doc/adr/0025-payload-units.md
 */
#ifndef FTR_PROTO_RING_H
#define FTR_PROTO_RING_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/proto/record.h"

#define FTR_RING_MAGIC		0x52525446u	/* "FTRR" */
#define FTR_RING_DATA_OFFSET	4096u
#define FTR_RING_MIN_BYTES	4096u
#define FTR_RING_MAX_BYTES	(1u << 30)

/* Why a task runs without a ring. */
enum ftr_untraced_cause {
	FTR_UNTRACED_MEMORY,		/* no address space for a shadow stack and a ring */
	FTR_UNTRACED_MAPPINGS,		/* as many threads are traced as mappings allow */
	FTR_UNTRACED_DESCRIPTORS,	/* no descriptor, and no helper either */
	FTR_UNTRACED_FILTER,		/* seccomp forbids what it takes */
	FTR_UNTRACED_NO_REPLY,		/* the recorder did not answer in time */
	FTR_UNTRACED_SHARED,		/* a child uses its thread-local storage: from then on */
	FTR_UNTRACED_CAUSES
};
#define FTR_UNTRACED_BIT(cause) (1u << (cause))

struct ftr_ring_header {
	uint32_t magic;
	uint32_t size_bytes;			/* of the data part */
	_Alignas(64) _Atomic uint64_t tail;	/* consumer: bytes taken since the start */
	_Atomic uint64_t dump_seen;		/* consumer: dump_at that it has come to */
	_Alignas(64) _Atomic uint64_t skipped;	/* producer: calls declined, never in the ring */
	_Atomic uint64_t stalls;		/* producer: times it waited for room */
	_Atomic uint64_t lost;			/* producer: records dropped, ever */
	_Atomic uint64_t dump_at;		/* producer: position at which it asks for a dump */
	_Atomic uint64_t head; /* producer: unit last waited for, or position handed on at */
	_Atomic uint32_t untraced;	/* other tasks of the process, which have no ring, ever */
	_Atomic uint32_t untraced_causes;	/* FTR_UNTRACED_BIT() of why */
	_Atomic uint64_t untraced_calls;	/* at least as many calls they made */
};
static_assert(FTR_RECORD_RING_BYTES_MAX <= FTR_RING_MIN_BYTES / 2, "each record fits in each ring");
static_assert(sizeof(struct ftr_ring_header) <= FTR_RING_DATA_OFFSET, "one page");
static_assert(offsetof(struct ftr_ring_header, tail) == 64, "a cache line of its own");

#endif /* FTR_PROTO_RING_H */

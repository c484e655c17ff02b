/* SPDX-License-Identifier: MIT */
/*
 * The record: what the runtime writes into a ring and what stands in TID.dat.
 * Source: doc/ftr-data.5, "Records" (the uftrace data format, version 4).
 *
 *   word 0   time: ring = raw ticks of the control block's clock,
 *                  file = nanoseconds
 *   word 1   63                      16 15       6 5   3  2  1    0
 *           +--------------------------+----------+-----+----+------+
 *           | address / event id / lost |  depth   | 101 |more| type |
 *           +--------------------------+----------+-----+----+------+
 *
 * In a ring, word 1 is written last and is never 0: it commits the record.
 */
#ifndef FTR_PROTO_RECORD_H
#define FTR_PROTO_RECORD_H

#include <assert.h>
#include <stdint.h>

enum ftr_record_type {
	FTR_RECORD_ENTRY = 0,
	FTR_RECORD_EXIT  = 1,
	FTR_RECORD_LOST  = 2,
	FTR_RECORD_EVENT = 3,
};

struct ftr_record {
	uint64_t time;
	uint64_t word;
};
static_assert(sizeof(struct ftr_record) == 16, "a record is 16 bytes");

#define FTR_RECORD_MORE		UINT64_C(0x04)	/* a payload follows (files only) */
#define FTR_RECORD_MAGIC	UINT64_C(0x28)	/* binary 101 in bits 3..5 */
#define FTR_RECORD_MAGIC_MASK	UINT64_C(0x38)
#define FTR_RECORD_DEPTH_SHIFT	6
#define FTR_RECORD_DEPTH_MAX	1023u		/* deeper calls say 1023; readers count */
#define FTR_RECORD_ADDR_SHIFT	16
#define FTR_RECORD_ADDR_MASK	((UINT64_C(1) << 48) - 1)

/* Compose word 1.  @depth must already be at most FTR_RECORD_DEPTH_MAX. */
static inline uint64_t ftr_record_word(enum ftr_record_type type, unsigned depth, uint64_t addr)
{
	return addr << FTR_RECORD_ADDR_SHIFT | (uint64_t)depth << FTR_RECORD_DEPTH_SHIFT |
	       FTR_RECORD_MAGIC | (uint64_t)type;
}

static inline enum ftr_record_type ftr_record_type(uint64_t word)
{
	return (enum ftr_record_type)(word & 3);
}

static inline unsigned ftr_record_depth(uint64_t word)
{
	return (unsigned)(word >> FTR_RECORD_DEPTH_SHIFT) & FTR_RECORD_DEPTH_MAX;
}

static inline uint64_t ftr_record_addr(uint64_t word)
{
	return word >> FTR_RECORD_ADDR_SHIFT;
}

/* Events that ftr itself records; named in events.txt, so that old readers show them too. */
enum ftr_record_event {
	FTR_RECORD_EVENT_STALL_BEGIN = 1000000,	/* the task waits for room in its ring */
	FTR_RECORD_EVENT_STALL_END   = 1000001,
};

#endif /* FTR_PROTO_RECORD_H */

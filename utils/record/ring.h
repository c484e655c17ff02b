/* SPDX-License-Identifier: MIT */
/*
 * The recorder's end of a ring (utils/proto/ring.h), and the conversion of its records to those of
 * TID.dat on the way: ticks become nanoseconds that never decrease within a task, depths become
 * exact, payload units become a payload.
 *
 * The tracee may write anything into the shared memory at any time: positions and sizes are the
 * recorder's own, and every word is loaded once.
 */
#ifndef FTR_RECORD_RING_H
#define FTR_RECORD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/proto/record.h"
#include "utils/proto/ring.h"
#include "utils/record/tick.h"

#define FTR_CONVERT_DEPTH_UNKNOWN (UINT64_MAX / 2)
#define FTR_CONVERT_KINDS 16

struct ftr_event_kind;
struct ftr_record_nursery;

/* The state of one task that conversion carries from record to record, and from ring to ring. */
struct ftr_convert {
	uint64_t last_ns;	/* of the record before */
	uint64_t depth;		/* open calls now; FTR_CONVERT_DEPTH_UNKNOWN: take the next one's */
	uint64_t records;	/* passed on */
	uint64_t calls;		/* ... those of them that are ENTRYs */
	uint64_t events;	/* ... those of them that are EVENTs */
	uint64_t stacks;	/* ... those of them that are ftr:stack */
	uint64_t lost;		/* records that the runtime reported as dropped */
	uint64_t bad;		/* units, or records with their payload, that were none */
	/*
	 * (nullable: with the others) where records go that TID.dat may not hold, as they would
	 * stand in it: ftr_event_kind_is_aside.  They are not counted among the others.
	 */
	uint8_t *aside;
	size_t aside_room, aside_len;	/* in bytes; room for FTR_RECORD_FILE_BYTES_MAX at least */
	uint64_t aside_records;
	uint64_t stack_parts;	/* ... those of them that are parts of stacks */
	const struct ftr_event_kind *kinds[FTR_CONVERT_KINDS];	/* (nullable) by ids; of late */
};

#define FTR_RING_LIVE UINT64_MAX	/* its producer is not dead */

/* Where it lies, see ring_memory.h. */
struct ftr_ring {
	struct ftr_ring_header *header;	/* (owned mapping) */
	struct ftr_record *data;	/* within it */
	uint64_t size_bytes;
	uint64_t tail;			/* bytes taken since the start */
	uint64_t dump_seen;		/* where the producer last asked for a dump */
	uint64_t scan_end;		/* no record lies at or after this, or FTR_RING_LIVE */
	int fd;				/* (owned) of the memfd; handed to the tracee */
	int memory_fd;			/* (borrowed) of the memfd that it lies in, its data */
	uint64_t memory_at;		/* from this byte on; 0 = there is none */
	/* (borrowed, nullable) the mapping is that one's, and there is no memfd of its own */
	struct ftr_record_nursery *nursery;
	unsigned place;			/* in it */
};

/*
 * Copy converted records, as they stand in TID.dat, to the @room bytes at @dst (aligned to 8, and
 * at least FTR_RECORD_FILE_BYTES_MAX), and free their units.  Stops at the first unit that is not
 * committed, at a record later than the newest pair of @map, and after one ring's size.  Returns
 * the bytes used.  With less than FTR_RECORD_FILE_BYTES_MAX of the room left, there or aside, there
 * may be more.
 */
size_t ftr_ring_take(struct ftr_ring *ring, struct ftr_convert *convert,
		     const struct ftr_tick_map *map, void *dst, size_t room);

/*
 * The producer is dead: from now on holes (slots reserved, never committed) are skipped, and
 * ftr_ring_take gives everything that was committed.
 */
void ftr_ring_end(struct ftr_ring *ring);

/*
 * The producer overwrote its oldest records: start with the oldest that is left.  True when it had
 * wrapped.
 */
bool ftr_ring_end_overwritten(struct ftr_ring *ring);

/* Records that the producer says it dropped, ever; a number to be shown, not to be trusted. */
uint64_t ftr_ring_lost(const struct ftr_ring *ring);

/*
 * Has the ring been taken to where the producer asked for a dump?  Once for each such place; the
 * producer may ask for the next one from then on.
 */
bool ftr_ring_dump_is_reached(struct ftr_ring *ring);

/* Calls that the producer declined, ever: they are in no LOST record. */
uint64_t ftr_ring_skipped(const struct ftr_ring *ring);

/* Tasks of its process that have no ring, ever; numbers to be shown, not to be trusted. */
struct ftr_ring_untraced {
	uint32_t tasks;
	uint32_t causes;	/* FTR_UNTRACED_BIT() of why */
	uint64_t calls;		/* at least */
};
struct ftr_ring_untraced ftr_ring_untraced(const struct ftr_ring *ring);

/* The producer of @old goes on in @ring, which is empty: what it has counted goes with it. */
void ftr_ring_continue(struct ftr_ring *ring, const struct ftr_ring *old);

/* A new producer goes on where the dead one stopped. */
void ftr_ring_renew(struct ftr_ring *ring);

#endif /* FTR_RECORD_RING_H */

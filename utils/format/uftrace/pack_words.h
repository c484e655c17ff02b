/* SPDX-License-Identifier: MIT */
/* What a packed block is before zstd: an op for each record or word of 8 bytes, and the times. */
#ifndef FTR_FORMAT_UFTRACE_PACK_WORDS_H
#define FTR_FORMAT_UFTRACE_PACK_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/bits.h"
#include "utils/base/bytes.h"
#include "utils/proto/record.h"

#define PACK_RECORD_BYTES 16u
#define PACK_WORD_BYTES   8u
/* An op and the bytes behind it; of a record there is a time, too. */
#define PACK_OP_BYTES_MAX (1u + PACK_WORD_BYTES)
/* Room for the addresses of a block's entries; more are written out. */
#define PACK_ADDRESSES_BITS 16u
#define PACK_ADDRESSES_MAX  FTR_BIT(PACK_ADDRESSES_BITS)
#define PACK_SLOTS_BITS	    (PACK_ADDRESSES_BITS + 1)
#define PACK_SLOTS_NR	    ((size_t)FTR_BIT(PACK_SLOTS_BITS))
#define PACK_RECENT_BITS    10u

enum pack_op {
	PACK_OP_RETURN,		/* EXIT of the innermost open call */
	PACK_OP_NEW,		/* ENTRY of an address, which follows, in 6 bytes */
	PACK_OP_RECORD,		/* any other record: its word follows */
	PACK_OP_WORD,		/* no record: 8 bytes follow */
	PACK_OP_KNOWN,		/* and above: ENTRY of the address that came as 0, 1 ... */
};

/* What is known of a block so far, to packing and unpacking alike. */
struct pack_state {
	uint64_t time_ns;	/* of the last record */
	unsigned depth;		/* of the next ENTRY, 0..FTR_RECORD_DEPTH_MAX + 1 */
	/* By that depth, above 0: the word of the EXIT of the innermost open call. */
	uint64_t exits[FTR_RECORD_DEPTH_MAX + 2];
	uint64_t addresses[PACK_ADDRESSES_MAX];
	uint32_t addresses_nr;
};

/* An address whose ENTRY came not long ago, and its op as it is written. */
struct pack_recent {
	uint64_t addr;		/* UINT64_MAX = none */
	uint8_t  op[4];		/* all may be written */
	uint32_t op_bytes;
};

/* Of packing: where addresses are among those of a block, by what they hash to. */
struct pack_slots {
	uint32_t all[PACK_SLOTS_NR];		/* numbers + 1; 0 = free */
	struct pack_recent recent[FTR_BIT(PACK_RECENT_BITS)];	/* small, where all is large */
};

/* The ops and times that stand for a block; each has room for the worst case. */
struct pack_streams {
	uint8_t *ops;
	size_t	 ops_nr;
	uint8_t *times;
	size_t	 times_nr;
};

/*
 * All of @slots is zero before the first call.  Takes whole words only: returns the bytes taken of
 * @nr.
 */
size_t ftr_pack_words(struct pack_state *state, struct pack_slots *slots, struct pack_streams *to,
		      const uint8_t *from, size_t nr);

/* Fill @to with @nr bytes, whole words.  False where @from, all of it, is not for that many. */
bool ftr_unpack_words(struct pack_state *state, const struct pack_streams *from, uint8_t *to,
		      size_t nr);

#endif /* FTR_FORMAT_UFTRACE_PACK_WORDS_H */

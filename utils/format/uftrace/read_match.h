/* SPDX-License-Identifier: MIT */
/*
 * Matching the records of a run and adding its calls up; for uftrace/read_chunk.c only.
 *
 * There is a frame for each depth, which counts the calls that were made there as long as they are
 * of one function: a call of it that comes again is told from others by one comparison, and counted
 * without looking for its sum.  With another function there, the frames from that depth on are
 * settled: what they counted is added to their sums.  So a frame is always of a call that is made
 * by that of the frame below it.
 *
 * Time is counted where it passes: what went by since the last record belongs to the frame that was
 * on top.  How long calls took is the sum of this over them and those below them.
 *
 * Where hardly a call is of what was called there before, frames would be settled at every other
 * record, which no processor predicts: there, each call is settled when it ends.
 */
#ifndef FTR_FORMAT_UFTRACE_READ_MATCH_H
#define FTR_FORMAT_UFTRACE_READ_MATCH_H

#include "utils/format/uftrace/read_data.h"

enum uft_stop {
	UFT_STOP_END,	/* of the block */
	UFT_STOP_LIMIT,	/* of the run in time */
	UFT_STOP_FULL,	/* too many sums */
	UFT_STOP_OTHER,	/* no plain call, or it does not fit; or out of memory, as the chunk says */
};

struct uft_match {
	struct uft_chunk *chunk;	/* (borrowed) takes sums, ends, opens */
	const uint8_t *p, *end;		/* what comes next, and the end of the chunk */
	bool is_big;
	uint64_t last_ns;
	uint64_t limit_ns;
	struct ftr_run_sum *sums;	/* of this run */
	size_t sum_nr;
	size_t open_nr;			/* calls that began in the run */
	size_t frame_nr;		/* frames that count, but for that of the base */
	size_t made_nr;			/* frames, in this block */
	bool settles_each;		/* to the end of the run */
	uint32_t base_depth;		/* now: less by one with each end */
};

/* What a chunk needs once.  False: out of memory. */
bool uft_match_room(struct uft_chunk *chunk);

/*
 * An empty run at p, which ends before @limit_ns.  False where none can begin there, or out of
 * memory, as the chunk says.
 */
bool uft_match_begin(struct uft_match *self, uint64_t limit_ns);
/* The records of one block, and what stopped them. */
enum uft_stop uft_match_block(struct uft_match *self);
/* The calls that are open become the chunk's.  0 or -ENOMEM. */
int uft_match_end(struct uft_match *self, uint64_t *outside_ns);

#endif /* FTR_FORMAT_UFTRACE_READ_MATCH_H */

/* SPDX-License-Identifier: MIT */
/*
 * The file of a summary (ftr record --summary), which stands in a data directory instead of
 * TID.dat.  uftrace knows nothing of it.
 *
 *	head	"FTRSUMRY", u32 version, u32 seconds of an interval
 *	block	u32 bytes of what follows the check, u32 CRC-32 of that (as gzip's), then numbers:
 *		when the interval began (ns), how many places, how many rows;
 *		each place: u64 session id, time (ns); each row: as below
 *
 * Fixed-size numbers are little-endian, the others LEB128.  A block is an interval, or a part of
 * one: rows of one function add up.  A place is a session at a time, which tell what lies at an
 * address.  A row is: number of the place, address; of the total times, then of the self times,
 * the least, the greatest less the least, f64 sum of the squares; u64 mask of octaves; and for each
 * of these, from the lowest on, the five numbers of struct ftr_call_sum.
 *
 * A block that is cut off, or whose check is another, is passed over.
 */
#ifndef FTR_FORMAT_UFTRACE_SUMMARY_H
#define FTR_FORMAT_UFTRACE_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/trace/summary.h"

#define FTR_SUMMARY_FILE    "summary.dat"
#define FTR_SUMMARY_MAGIC   "FTRSUMRY"	/* without the 0 */
#define FTR_SUMMARY_VERSION 1u
#define FTR_SUMMARY_HEAD_BYTES 16u
#define FTR_SUMMARY_BLOCK_HEAD 8u
#define FTR_SUMMARY_SECONDS_MAX 86400u

struct ftr_summary_place {
	uint64_t sid;		/* the session's, as a number */
	uint64_t at_ns;
};

/* What a row says, but for the octaves. */
struct ftr_summary_key {
	uint64_t place;		/* index in its block */
	uint64_t addr;
};

uint32_t ftr_summary_check(const void *bytes, size_t len);

/* ---- writing: a block in the making ---- */

struct ftr_summary_block {
	uint64_t begin_ns;
	FTR_VEC(struct ftr_summary_place) places;	/* (owned) */
	struct ftr_strbuf rows;
	uint64_t row_nr;
};

void ftr_summary_head(uint8_t head[FTR_SUMMARY_HEAD_BYTES], uint32_t seconds);
/* Append a row; out of memory shows in block->rows.failed. */
void ftr_summary_put(struct ftr_summary_block *block, const struct ftr_summary_key *key,
		     const struct ftr_summary_row *row);
/* The block as it stands in the file: *text is replaced.  0 or -ENOMEM. */
int  ftr_summary_block_end(struct ftr_summary_block *block, struct ftr_strbuf *text);
void ftr_summary_block_fini(struct ftr_summary_block *block);

/* ---- reading ---- */

/* A block as it is read, in borrowed memory. */
struct ftr_summary_cursor {
	const uint8_t *p, *end;
	uint64_t begin_ns;
	const uint8_t *places;		/* where they begin */
	uint64_t place_nr, row_nr;	/* of rows: those left */
	bool is_bad;			/* a number or row made no sense */
};

/* Seconds of an interval, or 0: not the head of such a file, or of another version. */
uint32_t ftr_summary_head_get(const uint8_t *bytes, size_t size);
/*
 * The block at *pos of @size bytes, which is moved behind it.  1; 0 at the end; -EBADMSG: it is
 * damaged and was passed over (or, where nothing tells how long it is, all that follows).
 */
int  ftr_summary_block_get(const uint8_t *bytes, size_t size, size_t *pos,
			   struct ftr_summary_cursor *cursor);
/* The next row, without its function.  False: there is none, or it made no sense (is_bad). */
bool ftr_summary_get(struct ftr_summary_cursor *cursor, struct ftr_summary_place *place,
		     uint64_t *addr, struct ftr_summary_row *row);

#endif /* FTR_FORMAT_UFTRACE_SUMMARY_H */

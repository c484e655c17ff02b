/* SPDX-License-Identifier: MIT */
/*
 * The layout of packed files; for pack_file.c and pack_list.c only.  Little-endian throughout.
 *
 *	file	magic (8), blocks, index
 *	block	"blk:" (4), check (4), row (36), zero (4), packed bytes, zeros up to a multiple of 8
 *	row	at (8), file_at (8), first_ns (8), bytes (4), packed_bytes (4), depth (4)
 *	index	"idx:" (4), check (4), rows (each 36), zeros up to a multiple of 8, index_at (8),
 *		magic (8)
 *
 * A check is the CRC-32 of what follows it: of the row, or of the rows.
 */
#ifndef FTR_FORMAT_UFTRACE_PACK_LAYOUT_H
#define FTR_FORMAT_UFTRACE_PACK_LAYOUT_H

#include "utils/format/uftrace/pack_file.h"

#define PACK_FILE_MAGIC	      "ftrpack1"
#define PACK_FILE_MAGIC_BYTES (sizeof(PACK_FILE_MAGIC) - 1)
#define PACK_FILE_ALIGN	      8u
#define PACK_HEAD_BYTES	      48u
#define PACK_MARK_BYTES	      8u	/* "blk:" and the check */
#define PACK_ROW_BYTES	      36u
#define PACK_TAIL_BYTES	      16u

void pack_head_put(uint8_t head[PACK_HEAD_BYTES], const struct ftr_pack_block *block);
size_t pack_index_bytes(size_t nr);
/* The index that stands at @index_at. */
void pack_index_put(uint8_t *to, const struct ftr_pack_blocks *blocks, uint64_t index_at);

static inline size_t pack_padding(size_t bytes)
{
	return (PACK_FILE_ALIGN - bytes % PACK_FILE_ALIGN) % PACK_FILE_ALIGN;
}

/* Where in the file the next one begins. */
static inline uint64_t pack_block_end(const struct ftr_pack_block *block)
{
	return block->file_at + block->packed_bytes + pack_padding(block->packed_bytes);
}

#endif /* FTR_FORMAT_UFTRACE_PACK_LAYOUT_H */

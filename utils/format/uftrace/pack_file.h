/* SPDX-License-Identifier: MIT */
/*
 * Packed files: blocks one after the other, and an index of them at the end (doc/ftr-data.5,
 * "Packed files").  Whoever writes one may be killed at any time: the blocks say themselves what
 * they are, so that they are found without the index.
 */
#ifndef FTR_FORMAT_UFTRACE_PACK_FILE_H
#define FTR_FORMAT_UFTRACE_PACK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/bits.h"
#include "utils/base/vec.h"

struct ftr_packer;

#define FTR_PACK_SUFFIX ".pack"
/* Blocks are not larger; smaller where much came at once, and where the writer could not wait. */
#define FTR_PACK_FILE_BLOCK FTR_KIB(256)
/* Whoever expects files that are not packed is to stop at the version in info. */
#define FTR_PACK_VERSION_FLAG FTR_BIT(8)

struct ftr_pack_block {
	uint64_t at;		/* of its first byte, when it is unpacked */
	uint64_t file_at;	/* of its packed bytes */
	uint64_t first_ns;	/* of its first record, if it begins with one */
	uint32_t bytes;		/* unpacked, 1..FTR_PACK_BLOCK_BYTES */
	uint32_t packed_bytes;
	uint32_t depth;		/* of that record */
};

struct ftr_pack_blocks {
	struct ftr_pack_block *v;	/* (owned) each begins where the one before ends */
	size_t nr, cap;
};

/* What was found in a packed file besides blocks that follow each other. */
struct ftr_pack_damage {
	bool has_no_index;	/* its writer was killed, or it is cut */
	uint64_t cut_bytes;	/* at its end, of a block or an index that it was cut in */
	uint64_t bytes;		/* elsewhere, in no block: whatever was there is missing */
};

/*
 * The blocks of the @size bytes at @file, all within it.  0, -EBADMSG (no packed file) or -ENOMEM.
 * Where there is no index the bytes are looked through.
 */
int ftr_pack_blocks_list(struct ftr_pack_blocks *blocks, const uint8_t *file, size_t size,
			 struct ftr_pack_damage *damage);

/*
 * Writes one file.  What it is given is held until a block is full, unless it is much; blocks are
 * held until there are many bytes of them: the kernel takes large writes for half the time.
 */
struct ftr_pack_writer {
	int fd;			/* (borrowed) */
	uint64_t file_at;	/* bytes in the file, out included */
	uint64_t at;		/* ... and before they were packed */
	uint8_t *held;		/* (owned, nullable) */
	uint32_t held_bytes, held_cap;
	uint64_t held_records;	/* that end in them */
	FTR_VEC(uint8_t) out;	/* (owned) blocks that are not written yet */
	size_t out_block_nr;	/* the last ones of all */
	uint64_t out_records;	/* that end in them */
	uint64_t lost_records;	/* since whoever counts them looked */
	struct ftr_pack_blocks blocks;
};

/* 0, or -errno: no room. */
int ftr_pack_writer_init(struct ftr_pack_writer *writer, int fd);
/*
 * Append @len bytes, of @record_nr records, to what is held, and write blocks when there are many.
 * 0, or -errno of the disk: what was held is lost then, the file is whole.
 */
int ftr_pack_writer_put(struct ftr_pack_writer *writer, struct ftr_packer *packer,
			const void *bytes, size_t len, size_t record_nr);
/* The bytes that are held, packed or not. */
static inline size_t ftr_pack_writer_held(const struct ftr_pack_writer *writer)
{
	return writer->held_bytes + writer->out.nr;
}

/* Write what is held. */
int ftr_pack_writer_flush(struct ftr_pack_writer *writer, struct ftr_packer *packer);
/* Write the index, behind the last flush. */
int ftr_pack_writer_index(struct ftr_pack_writer *writer);
void ftr_pack_writer_fini(struct ftr_pack_writer *writer);

#endif /* FTR_FORMAT_UFTRACE_PACK_FILE_H */

/* SPDX-License-Identifier: MIT */
/* Packed blocks of a TID.dat: records by what they add to those before, and zstd (doc/adr/0071). */
#ifndef FTR_FORMAT_UFTRACE_PACK_BLOCK_H
#define FTR_FORMAT_UFTRACE_PACK_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/bits.h"

/* The bytes of one block before it is packed, at most. */
#define FTR_PACK_BLOCK_BYTES FTR_MIB(1)

/* What packing is for. */
enum ftr_pack_aim {
	FTR_PACK_SMALL, /* little room */
	FTR_PACK_FAST,	/* little time, and up to 7 times the room, where calls are repeated */
};

struct ftr_packer;

/*
 * A packer, for one thread at a time: it keeps its memory from block to block, and nothing else.
 * Each unpacks what any has packed.  NULL = no memory.
 */
struct ftr_packer *ftr_packer_new(enum ftr_pack_aim aim);
/* @packer may be NULL. */
void ftr_packer_free(struct ftr_packer *packer);

/*
 * ftr_packer_pack - pack @nr bytes, any bytes, 1..FTR_PACK_BLOCK_BYTES
 *
 * @to is set to the packed block (borrowed: until the next call).  Bytes that are records in time
 * order take little; all others take at most a fifth more than they are, and 64 bytes.
 *
 * Returns the bytes at @to, or -ENOMEM.
 */
int64_t ftr_packer_pack(struct ftr_packer *packer, const uint8_t *from, size_t nr,
			const uint8_t **to);

/*
 * ftr_packer_unpack - the @to_nr bytes that were packed into @from
 *
 * Returns 0, or -EBADMSG when @from is damaged; what is in @to is then undefined.
 */
int ftr_packer_unpack(struct ftr_packer *packer, const uint8_t *from, size_t nr, uint8_t *to,
		      size_t to_nr);

#endif /* FTR_FORMAT_UFTRACE_PACK_BLOCK_H */

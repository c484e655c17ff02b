/* SPDX-License-Identifier: MIT */
/* Packed blocks: sizes, ops, times and what is no whole word, in one zstd frame with a checksum. */
#include "utils/format/uftrace/pack_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "utils/base/bytes.h"
#include "utils/format/uftrace/pack_words.h"

#define LEVEL           3
#define HEAD_BYTES      8u /* u32 bytes of ops, u32 bytes of times */
#define OPS_BYTES_MAX   (FTR_PACK_BLOCK_BYTES / PACK_WORD_BYTES * PACK_OP_BYTES_MAX)
#define TIMES_BYTES_MAX (FTR_PACK_BLOCK_BYTES / PACK_RECORD_BYTES * FTR_LEB128_MAX)
#define CODED_BYTES_MAX (HEAD_BYTES + OPS_BYTES_MAX + TIMES_BYTES_MAX + PACK_WORD_BYTES)

struct ftr_packer {
	ZSTD_CCtx *pack;   /* (owned) */
	ZSTD_DCtx *unpack; /* (owned) */
	struct pack_state state;
	uint32_t slots[PACK_SLOTS_NR];
	uint8_t times[TIMES_BYTES_MAX];
	uint8_t coded[CODED_BYTES_MAX];
	uint8_t packed[ZSTD_COMPRESSBOUND(CODED_BYTES_MAX)];
};

struct ftr_packer *ftr_packer_new(void)
{
	struct ftr_packer *packer = calloc(1, sizeof(*packer));

	if (packer == NULL)
		return NULL;
	packer->pack = ZSTD_createCCtx();
	packer->unpack = ZSTD_createDCtx();
	if (packer->pack == NULL || packer->unpack == NULL) {
		ftr_packer_free(packer);
		return NULL;
	}
	ZSTD_CCtx_setParameter(packer->pack, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(packer->pack, ZSTD_c_checksumFlag, 1);
	return packer;
}

void ftr_packer_free(struct ftr_packer *packer)
{
	if (packer == NULL)
		return;
	ZSTD_freeCCtx(packer->pack);
	ZSTD_freeDCtx(packer->unpack);
	free(packer);
}

int64_t ftr_packer_pack(struct ftr_packer *packer, const uint8_t *from, size_t nr,
			const uint8_t **to)
{
	struct pack_streams streams = { .ops = packer->coded + HEAD_BYTES, .times = packer->times };
	size_t taken = ftr_pack_words(&packer->state, packer->slots, &streams, from, nr);
	uint8_t *end = streams.ops + streams.ops_nr;
	size_t ret;

	ftr_put_u32(packer->coded, (uint32_t)streams.ops_nr, false);
	ftr_put_u32(packer->coded + 4, (uint32_t)streams.times_nr, false);
	memcpy(end, streams.times, streams.times_nr);
	end += streams.times_nr;
	memcpy(end, from + taken, nr - taken);
	end += nr - taken;
	ret = ZSTD_compress2(packer->pack, packer->packed, sizeof(packer->packed), packer->coded,
			     (size_t)(end - packer->coded));
	if (ZSTD_isError(ret))
		return -ENOMEM; /* the room is enough for any bytes */
	*to = packer->packed;
	return (int64_t)ret;
}

int ftr_packer_unpack(struct ftr_packer *packer, const uint8_t *from, size_t nr, uint8_t *to,
		      size_t to_nr)
{
	struct pack_streams streams = { .ops = packer->coded + HEAD_BYTES };
	size_t rest = to_nr % PACK_WORD_BYTES;
	size_t got = ZSTD_decompressDCtx(packer->unpack, packer->coded, sizeof(packer->coded), from,
					 nr);

	if (ZSTD_isError(got) || got < HEAD_BYTES + rest)
		return -EBADMSG;
	streams.ops_nr = ftr_get_u32(packer->coded, false);
	streams.times_nr = ftr_get_u32(packer->coded + 4, false);
	if (streams.ops_nr + streams.times_nr != got - HEAD_BYTES - rest)
		return -EBADMSG;
	streams.times = streams.ops + streams.ops_nr;
	if (!ftr_unpack_words(&packer->state, &streams, to, to_nr - rest))
		return -EBADMSG;
	memcpy(to + to_nr - rest, packer->coded + got - rest, rest);
	return 0;
}

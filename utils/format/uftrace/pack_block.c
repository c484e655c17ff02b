/* SPDX-License-Identifier: MIT */
/* Packed blocks: sizes, ops, times and what is no whole word, in one zstd frame with a checksum. */
#include "utils/format/uftrace/pack_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "utils/base/bytes.h"
#include "utils/format/uftrace/pack_words.h"

#define LEVEL           1 /* higher ones take a third more time, and a twentieth less room */
#define HEAD_BYTES      8u /* u32 bytes of ops, u32 bytes of times */
#define OPS_BYTES_MAX   (FTR_PACK_BLOCK_BYTES / PACK_WORD_BYTES * PACK_OP_BYTES_MAX)
#define TIMES_BYTES_MAX (FTR_PACK_BLOCK_BYTES / PACK_RECORD_BYTES * FTR_LEB128_MAX)
#define CODED_BYTES_MAX (HEAD_BYTES + OPS_BYTES_MAX + TIMES_BYTES_MAX + PACK_WORD_BYTES)

/* Of packing alone. */
struct packing {
	ZSTD_CCtx *zstd; /* (owned) */
	uint32_t slots[PACK_SLOTS_NR];
	uint8_t times[TIMES_BYTES_MAX];
	uint8_t packed[ZSTD_COMPRESSBOUND(CODED_BYTES_MAX)];
};

/* Megabytes, of which a small block touches little: none of it is cleared in advance. */
struct ftr_packer {
	struct packing *packing; /* (owned) NULL = it has packed nothing */
	ZSTD_DCtx *unpack;	 /* (owned) */
	struct pack_state state;
	uint8_t coded[CODED_BYTES_MAX];
};

struct ftr_packer *ftr_packer_new(void)
{
	struct ftr_packer *packer = malloc(sizeof(*packer));

	if (packer == NULL)
		return NULL;
	packer->packing = NULL;
	packer->unpack = ZSTD_createDCtx();
	if (packer->unpack == NULL) {
		free(packer);
		return NULL;
	}
	return packer;
}

static struct packing *packing_new(void)
{
	struct packing *packing = malloc(sizeof(*packing));

	if (packing == NULL)
		return NULL;
	packing->zstd = ZSTD_createCCtx();
	if (packing->zstd == NULL) {
		free(packing);
		return NULL;
	}
	ZSTD_CCtx_setParameter(packing->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(packing->zstd, ZSTD_c_checksumFlag, 1);
	memset(packing->slots, 0, sizeof(packing->slots));
	return packing;
}

void ftr_packer_free(struct ftr_packer *packer)
{
	if (packer == NULL)
		return;
	if (packer->packing != NULL)
		ZSTD_freeCCtx(packer->packing->zstd);
	free(packer->packing);
	ZSTD_freeDCtx(packer->unpack);
	free(packer);
}

int64_t ftr_packer_pack(struct ftr_packer *packer, const uint8_t *from, size_t nr,
			const uint8_t **to)
{
	struct pack_streams streams = { .ops = packer->coded + HEAD_BYTES };
	struct packing *packing;
	size_t taken, ret;
	uint8_t *end;

	if (packer->packing == NULL)
		packer->packing = packing_new();
	packing = packer->packing;
	if (packing == NULL)
		return -ENOMEM;
	streams.times = packing->times;
	taken = ftr_pack_words(&packer->state, packing->slots, &streams, from, nr);
	end = streams.ops + streams.ops_nr;
	ftr_put_u32(packer->coded, (uint32_t)streams.ops_nr, false);
	ftr_put_u32(packer->coded + 4, (uint32_t)streams.times_nr, false);
	memcpy(end, streams.times, streams.times_nr);
	end += streams.times_nr;
	memcpy(end, from + taken, nr - taken);
	end += nr - taken;
	ret = ZSTD_compress2(packing->zstd, packing->packed, sizeof(packing->packed), packer->coded,
			     (size_t)(end - packer->coded));
	if (ZSTD_isError(ret))
		return -ENOMEM; /* the room is enough for any bytes */
	*to = packing->packed;
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

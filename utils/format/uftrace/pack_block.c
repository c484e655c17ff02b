/* SPDX-License-Identifier: MIT */
/*
 * Packed blocks: sizes, ops, times and what is no whole word.  Two zstd frames with a checksum: the
 * ops, in which much is repeated, and the rest, in which nothing is but some bytes are frequent.
 * Unpacked they are one sequence of bytes, however many frames it came in, and whether zstd made
 * these or they hold it as it is.
 */
#include "utils/format/uftrace/pack_block.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "utils/base/bytes.h"
#include "utils/format/uftrace/pack_frame.h"
#include "utils/format/uftrace/pack_words.h"

#define OPS_LEVEL       1    /* higher ones take a third more time, a twentieth less room */
#define OPS_LEVEL_FAST  (-5) /* takes half the time, for a fourth more room */
#define OPS_MATCH_MIN   7    /* what is repeated is longer: less is looked at */
#define TIMES_LEVEL     (-1000) /* looks for repetitions nearly nowhere */
#define HEAD_BYTES      8u /* u32 bytes of ops, u32 bytes of times */
#define OPS_BYTES_MAX   (FTR_PACK_BLOCK_BYTES / PACK_WORD_BYTES * PACK_OP_BYTES_MAX)
#define TIMES_BYTES_MAX (FTR_PACK_BLOCK_BYTES / PACK_RECORD_BYTES * FTR_LEB128_MAX)
#define REST_BYTES_MAX  (TIMES_BYTES_MAX + PACK_WORD_BYTES)
#define FRAME_BYTES	(PACK_FRAME_HEAD_BYTES + PACK_FRAME_TAIL_BYTES)
#define CODED_BYTES_MAX (HEAD_BYTES + OPS_BYTES_MAX + REST_BYTES_MAX + 2 * FRAME_BYTES)
#define PACKED_BYTES_MAX                                                                           \
	(ZSTD_COMPRESSBOUND(HEAD_BYTES + OPS_BYTES_MAX) + ZSTD_COMPRESSBOUND(REST_BYTES_MAX))
/* What zstd calls ZSTD_c_literalCompressionMode where its header does not, and "Huffman". */
#define ZSTD_LITERALS   ZSTD_c_experimentalParam5
#define ZSTD_HUFFMAN    1

/* In a hurry, what takes so little of a call's 2 records stays as it is. */
#define CALL_BYTES       (2 * PACK_RECORD_BYTES)
#define CALL_BYTES_SMALL 5u

/* Of packing alone. */
struct packing {
	ZSTD_CCtx *ops;	  /* (owned) */
	ZSTD_CCtx *times; /* (owned) */
	struct pack_slots slots;
	uint8_t rest[REST_BYTES_MAX];
	uint8_t packed[PACKED_BYTES_MAX];
};

/* Megabytes, of which a small block touches little: none of it is cleared in advance. */
struct ftr_packer {
	enum ftr_pack_aim aim;
	struct packing *packing; /* (owned) NULL = it has packed nothing */
	ZSTD_DCtx *unpack;	 /* (owned) */
	struct pack_state state;
	uint8_t coded[CODED_BYTES_MAX];
};

struct ftr_packer *ftr_packer_new(enum ftr_pack_aim aim)
{
	struct ftr_packer *packer = malloc(sizeof(*packer));

	if (packer == NULL)
		return NULL;
	packer->aim = aim;
	packer->packing = NULL;
	packer->unpack = ZSTD_createDCtx();
	if (packer->unpack == NULL) {
		free(packer);
		return NULL;
	}
	return packer;
}

static void packing_free(struct packing *packing)
{
	if (packing == NULL)
		return;
	ZSTD_freeCCtx(packing->ops);
	ZSTD_freeCCtx(packing->times);
	free(packing);
}

static ZSTD_CCtx *zstd_new(int level)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();

	if (zstd == NULL)
		return NULL;
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	return zstd;
}

/* What is not repeated, which levels below 1 leave as it is. */
static void use_huffman_codes(ZSTD_CCtx *zstd)
{
	if (ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_LITERALS, ZSTD_HUFFMAN)))
		ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, OPS_LEVEL);
}

static struct packing *packing_new(enum ftr_pack_aim aim)
{
	struct packing *packing = malloc(sizeof(*packing));

	if (packing == NULL)
		return NULL;
	packing->ops = zstd_new(aim == FTR_PACK_FAST ? OPS_LEVEL_FAST : OPS_LEVEL);
	packing->times = zstd_new(TIMES_LEVEL);
	if (packing->ops == NULL || packing->times == NULL) {
		packing_free(packing);
		return NULL;
	}
	ZSTD_CCtx_setParameter(packing->ops, ZSTD_c_minMatch, OPS_MATCH_MIN);
	use_huffman_codes(packing->ops);
	if (aim == FTR_PACK_SMALL)
		use_huffman_codes(packing->times);
	memset(&packing->slots, 0, sizeof(packing->slots));
	return packing;
}

void ftr_packer_free(struct ftr_packer *packer)
{
	if (packer == NULL)
		return;
	packing_free(packer->packing);
	ZSTD_freeDCtx(packer->unpack);
	free(packer);
}

/* As they are: @ops_nr bytes stand in their frame already, @rest_nr in packing->rest. */
static int64_t frames_plain(struct ftr_packer *packer, size_t ops_nr, size_t rest_nr,
			    const uint8_t **to)
{
	size_t ops = ftr_pack_frame_put(packer->coded, ops_nr);
	uint8_t *behind = packer->coded + ops;

	memcpy(behind + PACK_FRAME_HEAD_BYTES, packer->packing->rest, rest_nr);
	*to = packer->coded;
	return (int64_t)(ops + ftr_pack_frame_put(behind, rest_nr));
}

static int64_t frames_zstd(struct ftr_packer *packer, size_t ops_nr, size_t rest_nr,
			   const uint8_t **to)
{
	struct packing *packing = packer->packing;
	size_t room = sizeof(packing->packed), ops, rest;

	ops = ZSTD_compress2(packing->ops, packing->packed, room,
			     packer->coded + PACK_FRAME_HEAD_BYTES, ops_nr);
	if (ZSTD_isError(ops))
		return -ENOMEM; /* the room is enough for any bytes */
	rest = ZSTD_compress2(packing->times, packing->packed + ops, room - ops, packing->rest,
			      rest_nr);
	if (ZSTD_isError(rest))
		return -ENOMEM;
	*to = packing->packed;
	return (int64_t)(ops + rest);
}

/* Are @coded bytes, which are in frames of this packer's, little for @nr bytes of records? */
static bool is_small(const struct ftr_packer *packer, size_t coded, size_t nr)
{
	return packer->aim == FTR_PACK_FAST && ftr_pack_frame_fits(coded) &&
	       coded * CALL_BYTES <= nr * CALL_BYTES_SMALL;
}

int64_t ftr_packer_pack(struct ftr_packer *packer, const uint8_t *from, size_t nr,
			const uint8_t **to)
{
	uint8_t *head = packer->coded + PACK_FRAME_HEAD_BYTES;
	struct pack_streams streams = { .ops = head + HEAD_BYTES };
	struct packing *packing;
	size_t taken, ops_nr, rest_nr;

	if (packer->packing == NULL)
		packer->packing = packing_new(packer->aim);
	packing = packer->packing;
	if (packing == NULL)
		return -ENOMEM;
	streams.times = packing->rest;
	taken = ftr_pack_words(&packer->state, &packing->slots, &streams, from, nr);
	memcpy(packing->rest + streams.times_nr, from + taken, nr - taken);
	ftr_put_u32(head, (uint32_t)streams.ops_nr, false);
	ftr_put_u32(head + 4, (uint32_t)streams.times_nr, false);
	ops_nr = HEAD_BYTES + streams.ops_nr;
	rest_nr = streams.times_nr + nr - taken;
	return is_small(packer, ops_nr + rest_nr, nr) ? frames_plain(packer, ops_nr, rest_nr, to) :
							frames_zstd(packer, ops_nr, rest_nr, to);
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

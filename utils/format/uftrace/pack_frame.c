/* SPDX-License-Identifier: MIT */
/*
 *	frame	magic (4), descriptor (1), bytes of the content (4), block, checksum (4)
 *	block	last (1 bit), type (2 bits), bytes (21 bits), content
 */
#include "utils/format/uftrace/pack_frame.h"

#include <assert.h>
#define XXH_INLINE_ALL		/* no library is needed where ftr runs */
#include <xxhash.h>

#include "utils/base/bytes.h"

#define MAGIC	      UINT32_C(0xfd2fb528)
#define HAS_CHECKSUM  FTR_BIT(2)
#define IS_SINGLE     FTR_BIT(5)	/* the content's size stands for that of the window */
#define SIZE_HAS_4    FTR_BIT(7)	/* bytes */
#define BLOCK_IS_LAST FTR_BIT(0)	/* ... and raw: type 0 */
#define BLOCK_BYTES   FTR_BIT(3)	/* as a factor */

bool ftr_pack_frame_fits(size_t nr)
{
	return nr <= PACK_FRAME_CONTENT_MAX;
}

size_t ftr_pack_frame_put(uint8_t *frame, size_t nr)
{
	uint8_t *content = frame + PACK_FRAME_HEAD_BYTES;
	uint32_t block = BLOCK_IS_LAST + (uint32_t)nr * BLOCK_BYTES;

	assert(ftr_pack_frame_fits(nr));
	ftr_put_u32(frame, MAGIC, false);
	frame[4] = HAS_CHECKSUM | IS_SINGLE | SIZE_HAS_4;
	ftr_put_u32(frame + 5, (uint32_t)nr, false);
	ftr_put_u16(frame + 9, (uint16_t)block, false);
	frame[11] = (uint8_t)(block / FTR_BIT(16));
	ftr_put_u32(content + nr, (uint32_t)XXH64(content, nr, 0), false);
	return PACK_FRAME_HEAD_BYTES + nr + PACK_FRAME_TAIL_BYTES;
}

/* SPDX-License-Identifier: MIT */
/* A zstd frame of bytes as they are (RFC 8878, 3.1.1): one raw block, and a checksum. */
#ifndef FTR_FORMAT_UFTRACE_PACK_FRAME_H
#define FTR_FORMAT_UFTRACE_PACK_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/bits.h"

#define PACK_FRAME_HEAD_BYTES  12u
#define PACK_FRAME_TAIL_BYTES  4u
#define PACK_FRAME_CONTENT_MAX FTR_KIB(128)	/* of one block */

/* Can there be a frame of @nr bytes?  Never where ftr was built without libxxhash. */
bool ftr_pack_frame_fits(size_t nr);

/*
 * Make a frame of the @nr bytes, which fit, that stand PACK_FRAME_HEAD_BYTES behind @frame.
 * Returns its bytes, PACK_FRAME_TAIL_BYTES behind the content included.
 */
size_t ftr_pack_frame_put(uint8_t *frame, size_t nr);

#endif /* FTR_FORMAT_UFTRACE_PACK_FRAME_H */

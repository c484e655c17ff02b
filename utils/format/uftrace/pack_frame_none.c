/* SPDX-License-Identifier: MIT */
/* Without libxxhash nothing makes the checksum of bytes as they are: there are no such frames. */
#include "utils/format/uftrace/pack_frame.h"

#include <assert.h>

bool ftr_pack_frame_fits(size_t nr)
{
	(void)nr;
	return false;
}

size_t ftr_pack_frame_put(uint8_t *frame, size_t nr)
{
	(void)frame;
	assert(ftr_pack_frame_fits(nr));
	return 0;
}

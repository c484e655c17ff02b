/* SPDX-License-Identifier: MIT */
/*
 * The control channel of the SWAP protocol, the server's side (doc/adr/0092): requests, cut
 * anywhere, to replies.  A message is u32 id, u32 length, and so many bytes, little-endian; a
 * reply's id is that of the request + 0x1000, and begins with u32 of how it went.
 */
#ifndef FTR_REMOTE_SWAP_CONTROL_H
#define FTR_REMOTE_SWAP_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/strbuf.h"

#define FTR_SWAP_CONTROL_HEADER_BYTES 8u

enum ftr_swap_control_request {
	FTR_SWAP_CONTROL_VERSION	= 0x01,
	FTR_SWAP_CONTROL_START	= 0x02,
	FTR_SWAP_CONTROL_STOP	= 0x03,
	FTR_SWAP_CONTROL_TARGET_INFO = 0x07,
	FTR_SWAP_CONTROL_KEEP_ALIVE	= 0x0f,
};

/* What begins a reply. */
enum ftr_swap_control_result {
	FTR_SWAP_CONTROL_OK	   = 0,
	FTR_SWAP_CONTROL_FORMAT = -201,	/* a payload where there is none */
	FTR_SWAP_CONTROL_TYPE   = -202,	/* a request that is not answered */
};

/* Zero-initialised; what a payload has is passed over, so its length is harmless. */
struct ftr_swap_control {
	uint8_t head[FTR_SWAP_CONTROL_HEADER_BYTES];
	size_t head_len;
	uint32_t id;
	uint32_t unread;	/* of the payload */
	bool has_payload;
	bool wants_start, wants_stop;	/* set by requests; the caller's to clear */
};

/* More of what a host said; replies are appended to @replies. */
void ftr_swap_control_feed(struct ftr_swap_control *control, const void *bytes, size_t len,
		      struct ftr_strbuf *replies);

#endif /* FTR_REMOTE_SWAP_CONTROL_H */

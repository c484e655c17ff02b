/* SPDX-License-Identifier: MIT */
/*
 * The variables that start the runtime in a program: put into its environment by the recorder and
 * by the runtime at each exec, taken out by the runtime before the program's own code runs.
 *
 * Lists keep what the user has in them: "OURS:THEIRS".  The number of entries that are added is
 * even: each two that are taken out leave the room of one entry of the auxiliary vector, which some
 * programs look for behind the environment.
 */
#ifndef FTR_PROTO_ENVIRON_H
#define FTR_PROTO_ENVIRON_H

#include "utils/proto/channel.h"

#define FTR_ENVIRON_PRELOAD "LD_PRELOAD="	/* a list; ours is libmcount.so */
#define FTR_ENVIRON_ASAN    "ASAN_OPTIONS="	/* a list */
#define FTR_ENVIRON_CHANNEL FTR_CHANNEL_ENV "="
/*
 * Behind the channel's value, and then two characters, each of which is this plus six of the
 * FTR_SECCOMP_BIT() of what a filter that the image inherits forbids (libmcount/seccomp.h), the
 * lowest ones first.
 */
#define FTR_ENVIRON_BLOCKED '@'
#define FTR_ENVIRON_BLOCKED_BYTES 3u
#define FTR_ENVIRON_BLOCKED_BITS 6u
#define FTR_ENVIRON_BLOCKED_MASK ((1u << FTR_ENVIRON_BLOCKED_BITS) - 1)
#define FTR_ENVIRON_PAD	    "FTR_PAD="		/* only where their number would be odd */

/* AddressSanitizer refuses to start behind another preloaded library; ours is not in its way. */
#define FTR_ENVIRON_ASAN_OURS "verify_asan_link_order=0"

#endif /* FTR_PROTO_ENVIRON_H */

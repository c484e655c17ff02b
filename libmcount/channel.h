/* SPDX-License-Identifier: MIT */
/* One question to the recorder and its answer: utils/proto/channel.h, by bare system calls. */
#ifndef FTR_LIBMCOUNT_CHANNEL_H
#define FTR_LIBMCOUNT_CHANNEL_H

#include "utils/proto/channel.h"

/*
 * Connect, send @message (with @path of message->path_bytes), wait for the reply, close.  Bounded by
 * FTR_CHANNEL_TIMEOUT_MS for each step.  The reply's base and time replace the message's; descriptors that
 * came with it are stored in @reply_fds (nullable), the others stay as they are.
 *
 * 0, or -errno; -EACCES when the recorder refused.
 */
int ftr_channel_ask(struct ftr_channel_message *message, const char *path, int *reply_fds);

#endif /* FTR_LIBMCOUNT_CHANNEL_H */

/* SPDX-License-Identifier: MIT */
/* One question to the recorder and its answer: utils/proto/channel.h, by bare system calls. */
#ifndef FTR_LIBMCOUNT_CHANNEL_H
#define FTR_LIBMCOUNT_CHANNEL_H

#include <stdbool.h>

#include "libmcount/state.h"
#include "utils/proto/channel.h"

/*
 * Connect, send @message (with @path of message->path_bytes), wait for the reply, close.  Bounded
 * by FTR_CHANNEL_TIMEOUT_MS for each step.  The reply's base and time replace the message's;
 * descriptors that came with it are stored in @reply_fds (nullable), the others stay as they are.
 *
 * 0, or -errno; -EACCES when the recorder refused, -EMFILE when there is no descriptor (see
 * helper.h).
 */
int ftr_channel_ask(struct ftr_channel_message *message, const char *path, int *reply_fds);

/*
 * Few threads of a process may hold descriptors of ours at a time.  Called before ftr_channel_ask
 * by any but the first thread, and after the descriptors that it got are closed.  False: the
 * recorder does not answer, do not ask.
 */
bool ftr_channel_turn_take(void);
void ftr_channel_turn_give(void);

/*
 * Send a message that is all text: @text, and behind a NUL @more (nullable).  The reply's base; 0
 * also when there is none.
 */
uint64_t ftr_channel_send(enum ftr_channel_type type, const char *text, const char *more);

/* Have the recorder warn of @text, which goes on after "process N: " (WARN). */
static inline void ftr_channel_warn(const char *text)
{
	ftr_channel_send(FTR_CHANNEL_WARN, text, NULL);
}

/* Does a seccomp filter forbid what this takes? */
static inline bool ftr_is_blocked(enum ftr_seccomp_purpose purpose)
{
	return (atomic_load_explicit(&ftr_state.blocked, memory_order_relaxed) &
		FTR_SECCOMP_BIT(purpose)) != 0;
}

/* Must nothing be asked of the kernel that the program does not ask for?  See seccomp.h. */
static inline bool ftr_is_silent(void)
{
	return ftr_self.is_silent || ftr_is_blocked(FTR_SECCOMP_TRACING);
}

#endif /* FTR_LIBMCOUNT_CHANNEL_H */

/* SPDX-License-Identifier: MIT */
/*
 * A SWAP stream to many clients at a time (doc/swap.md, "Live").  Each has a bounded buffer.  What
 * does not fit is lost to that client alone: whole messages, which are counted, and told to it by
 * an ERROR message once there is room.  Nobody who reads slowly, or not at all, holds up the others
 * or who feeds the stream.
 */
#ifndef FTR_REMOTE_FANOUT_H
#define FTR_REMOTE_FANOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/remote/swap_control.h"

#define FTR_FANOUT_BUFFER_BYTES ((size_t)64 << 20)	/* of a client, at most */
#define FTR_FANOUT_TOTAL_BYTES	((size_t)1 << 30)	/* of all of them, which share it */
#define FTR_FANOUT_TOKEN_MAX 128u
#define FTR_FANOUT_REPLIES_MAX ((size_t)64 << 10)	/* bytes that a host has not read */

struct ftr_fanout_client {
	int fd;			/* (owned) does not block */
	uint8_t *buffer;	/* (owned) from start on, len bytes wait to be sent */
	size_t start, len, cap;
	uint32_t sequence;	/* of its next message */
	uint64_t lost;		/* messages since the last ERROR */
	uint64_t lost_total, sent;	/* messages */
	bool is_waiting;	/* has not said the token yet */
	bool is_control;	/* it asks, and gets replies instead of the stream */
	bool is_finishing;	/* it gets what is in its buffer, and then the end */
	struct ftr_swap_control control;
	bool is_lost;		/* it cannot be served any more: why says the reason */
	const char *why;
	char said[FTR_FANOUT_TOKEN_MAX + 2];	/* of the token, so far */
	size_t said_len;
	uint64_t since_ns;	/* the caller's: when it came */
};

struct ftr_fanout {
	const char *token;	/* (borrowed, nullable: everybody is served) */
	bool has_control;	/* a client is a control channel where no other one is */
	bool wants_start;	/* a control channel has said so; stays set */
	size_t buffer_bytes;	/* of a client; FTR_FANOUT_BUFFER_BYTES unless set before */
	size_t total_bytes;	/* of all; FTR_FANOUT_TOTAL_BYTES unless set before */
	FTR_VEC(struct ftr_fanout_client *) clients;
	struct ftr_strbuf kept;	/* messages about programs, which who comes later needs, too */
	struct ftr_strbuf part;	/* the beginning of a message whose rest has not come */
	uint64_t messages;	/* that were fed */
	uint8_t time[8];	/* of the last one */
	bool is_damaged;	/* what is fed is no stream of messages */
};

void ftr_fanout_init(struct ftr_fanout *fanout, const char *token);
void ftr_fanout_fini(struct ftr_fanout *fanout);

/* A client, by its connection @fd, taken over on success.  0 or -ENOMEM. */
int ftr_fanout_add(struct ftr_fanout *fanout, int fd);
/* Close the connection of the client at @i; the last one takes its place. */
void ftr_fanout_remove(struct ftr_fanout *fanout, size_t i);

/* More of the stream, cut anywhere.  0 or -ENOMEM. */
int ftr_fanout_feed(struct ftr_fanout *fanout, const void *bytes, size_t len);
/* The stream has ended: who lost messages last is told so. */
void ftr_fanout_end(struct ftr_fanout *fanout);

/* Send what the connection takes.  True: some of it was taken. */
bool ftr_fanout_send(struct ftr_fanout_client *client);
/*
 * What the client said: a token, or requests of a control channel; all else is ignored.  STOP makes
 * the streams of all clients end.
 */
void ftr_fanout_hear(struct ftr_fanout *fanout, struct ftr_fanout_client *client);

#endif /* FTR_REMOTE_FANOUT_H */

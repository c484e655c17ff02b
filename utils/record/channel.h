/* SPDX-License-Identifier: MIT */
/*
 * The recorder's end of the channel (utils/proto/channel.h): one message, one reply, a connection.
 */
#ifndef FTR_RECORD_CHANNEL_H
#define FTR_RECORD_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/proto/channel.h"

#define FTR_CHANNEL_WAITING_MAX 256	/* connections that have not sent their message yet */
#define FTR_CHANNEL_PATIENCE_NS 200000000u	/* how long they may keep others from being heard */
#define FTR_CHANNEL_NAME_MAX 48

struct ftr_channel {
	int  fd;				/* listening */
	int path_fd; /* likewise at FTR_CHANNEL_DIR; -1 until asked for */
	char name[FTR_CHANNEL_NAME_MAX];	/* for FTR_CHANNEL_ENV */
	struct {
		int sock;
		uint64_t since_ns;		/* CLOCK_MONOTONIC */
	} waiting[FTR_CHANNEL_WAITING_MAX];	/* accepted, oldest first */
	unsigned waiting_nr;
};

/* A message that arrived, checked: sizes are right, path ends in NUL. */
struct ftr_channel_request {
	struct ftr_channel_message message;
	char  path[FTR_CHANNEL_PATH_MAX + 1];
	int   sock;		/* for ftr_channel_reply or _refuse, once */
	pid_t pid;		/* the sender's process in our namespace */
	uid_t uid;
};

/* @leaves: FTR_CHANNEL_LEAVES.  0 or -errno, described. */
int  ftr_channel_open(struct ftr_channel *channel, bool leaves, struct ftr_err *err);
/* Listen at a path, too: for processes in other network namespaces. */
int  ftr_channel_open_path(struct ftr_channel *channel, struct ftr_err *err);
void ftr_channel_close(struct ftr_channel *channel);

/*
 * Wait up to @ns for @fd or for a connection that has not sent its message yet: true when there is
 * something.
 */
bool ftr_channel_wait(const struct ftr_channel *channel, int fd, uint64_t ns);

/* The next message, without waiting: true and @request is filled, or false. */
bool ftr_channel_next(struct ftr_channel *channel, struct ftr_channel_request *request);

/*
 * Answer OK and hang up.  @fd_nr descriptors of @fds (borrowed), at most FTR_CHANNEL_REPLY_FDS, go
 * along.  False: the sender is gone.
 */
bool ftr_channel_reply(struct ftr_channel_request *request, uint64_t base, uint64_t time,
		       const int *fds, unsigned fd_nr);
/* Refuse, for a reason that people may read, and hang up. */
void ftr_channel_refuse(struct ftr_channel_request *request, const char *reason);

#endif /* FTR_RECORD_CHANNEL_H */

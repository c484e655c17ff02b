/* SPDX-License-Identifier: MIT */
/*
 * A data directory that is sent while it grows (wire.h).  Files that only grow are sent piece by
 * piece; what is written at once, and may be replaced, is sent when the recording has ended, info
 * as the last.
 */
#ifndef FTR_REMOTE_FOLLOW_H
#define FTR_REMOTE_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/vec.h"

struct ftr_follow_file {
	char *name;		/* (owned) */
	int32_t number;		/* of a task or processor */
	uint16_t type;		/* enum ftr_wire_type */
	bool is_known;		/* to the receiver */
	uint64_t sent;		/* bytes of it */
};

struct ftr_follow {
	int fd;			/* the socket; owned by the caller */
	int dir_fd;		/* -1: there is no directory yet */
	const char *path;	/* of the directory, (borrowed) */
	uint64_t old_ino;	/* of an earlier trace of that name; 0 = there was none */
	uint64_t bytes;		/* of files that were sent */
	FTR_VEC(struct ftr_follow_file) files;
};

/* Of the directory @path, which is made after this.  Finish it in any case. */
void ftr_follow_init(struct ftr_follow *follow, int fd, const char *path);
void ftr_follow_fini(struct ftr_follow *follow);

/*
 * Send what the directory has got since the last time.  0 or -errno, and nothing more can be
 * sent.
 */
int ftr_follow_more(struct ftr_follow *follow, struct ftr_err *err);

/*
 * The recording has ended: send what is left, and wait until the receiver has it all.  0 or
 * -errno.
 */
int ftr_follow_end(struct ftr_follow *follow, struct ftr_err *err);

#endif /* FTR_REMOTE_FOLLOW_H */

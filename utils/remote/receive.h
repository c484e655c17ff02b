/* SPDX-License-Identifier: MIT */
/*
 * A data directory out of the messages of one sender (wire.h), who is not believed: names lead to
 * files of the directory alone, and lengths are counted, not reserved.
 */
#ifndef FTR_REMOTE_RECEIVE_H
#define FTR_REMOTE_RECEIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/remote/wire.h"

struct ftr_uftrace_dir;

enum ftr_receive_state {
	FTR_RECEIVE_HEAD,	/* of a message */
	FTR_RECEIVE_START,	/* of its body: a number, a directory's name, a header */
	FTR_RECEIVE_NAME,	/* of a file, behind its length */
	FTR_RECEIVE_BODY,	/* more of a file */
	FTR_RECEIVE_DONE,
};

struct ftr_receive {
	/* Is the directory @path being written for another sender? */
	bool (*is_taken)(void *arg, const char *path);
	void *arg;
	char *path;			/* (owned) of the directory; NULL: not known yet */
	uint64_t bytes;			/* of files that were received */
	/* Its own: */
	struct ftr_uftrace_dir *dir;
	enum ftr_receive_state state;
	struct ftr_wire_head head;
	int file;			/* -1: none is open */
	char name[FTR_WIRE_NAME_MAX + 1]; /* of the file */
	uint32_t left;			/* of the message's body */
	uint32_t wanted, have;		/* bytes of the part that is gathered in @part */
	uint8_t part[FTR_WIRE_NAME_MAX + 1];
};

/* Close it in any case. */
void ftr_receive_init(struct ftr_receive *receive);

/*
 * Take the next @len bytes of the stream.  0; or -errno, and nothing more can come of the sender.
 * An earlier trace of the same name is kept as NAME.old.
 */
int ftr_receive_feed(struct ftr_receive *receive, const uint8_t *bytes, size_t len,
		     struct ftr_err *err);

/*
 * Nothing more comes.  Of a sender who was not done what has come is made a trace that can be
 * read.
 */
void ftr_receive_close(struct ftr_receive *receive);

#endif /* FTR_REMOTE_RECEIVE_H */

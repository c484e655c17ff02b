/* SPDX-License-Identifier: MIT */
/*
 * A bounded stream of input bytes.  Decoders see only this, never a descriptor, so each is fuzzed
 * from memory.  An input is either
 *
 *	whole	a mapped file, a slurped one, or borrowed memory: all of it is at data
 *	refilled	a pipe, a socket, a terminal: a bounded window slides over it
 *
 * ftr_istream_peek, _take and _line work on both.  What they return is borrowed: of a refilled
 * input until the next call, of a whole one until it is closed.
 */
#ifndef FTR_BASE_ISTREAM_H
#define FTR_BASE_ISTREAM_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/err.h"

#define FTR_ISTREAM_ITEM_MAX ((size_t)1 << 20)	/* bytes at a time, of a refilled input */

/* Where a refilled input comes from. */
struct ftr_istream_feed {
	/* As read(2): bytes, 0 at the end, or -errno.  May block. */
	ssize_t (*read)(void *arg, void *to, size_t bytes);
	void (*close)(void *arg);	/* (nullable) */
	void *arg;
	size_t item_max;	/* 0 = FTR_ISTREAM_ITEM_MAX; small ones for tests */
	size_t window_bytes;	/* to begin with; it grows up to what item_max takes; 0 = 64 KiB */
};

struct ftr_istream_window;

/* A hole of 1 MiB or more at the end of a file holds no data, and would take long to read. */
struct ftr_istream {
	const uint8_t *data;	/* the whole input, or the window */
	size_t size;		/* bytes at data */
	size_t pos;		/* in data */
	uint64_t start;		/* where in the input data is; 0 of a whole one */
	char  *name;		/* (owned) for messages: "task.txt"; NULL when out of memory */
	void  *owned_heap;	/* (owned, nullable) */
	void  *owned_map;	/* (owned, nullable) of owned_map_bytes */
	size_t owned_map_bytes;
	uint64_t hole_bytes;	/* of a hole at the file's end, which is left out */
	struct ftr_istream_window *window;	/* (owned) NULL: the input is whole */
	int    code;		/* errno of the read that failed, which ended the input; 0 = none */
	unsigned lineno;	/* of the line ftr_istream_line returned last */
	bool   is_line_cut;	/* ... which the input ended in: it has no newline */
};

/* How a warning of a file that has no whole end goes on. */
#define FTR_CUT_WHY "its writer was killed, had no room or still writes, or it was cut; what is " \
		    "whole is shown"

/*
 * Open a file relative to @dirfd (or AT_FDCWD) as a whole; "-" is standard input.  Regular files
 * are mapped, anything else is read to its end into memory, up to 64 MiB (-EFBIG): only for what is
 * known to be small.  0 or -errno; -ENOENT etc. described as "NAME: reason".
 */
int ftr_istream_open(struct ftr_istream *in, int dirfd, const char *path, struct ftr_err *err);
/*
 * The same for files that others name or put there: they must be regular (-ENODEV), and opening
 * them never waits.
 */
int ftr_istream_open_file(struct ftr_istream *in, int dirfd, const char *path,
			  struct ftr_err *err);
/* The descriptor of such a file, or -errno. */
int ftr_regular_open(int dirfd, const char *path);
/* The same, but what cannot be mapped is refilled: no byte of it is read yet. */
int ftr_istream_open_refilled(struct ftr_istream *in, int dirfd, const char *path,
			      struct ftr_err *err);
/* A refilled input of @feed, closed with it (also on failure).  0 or -ENOMEM. */
int ftr_istream_from_feed(struct ftr_istream *in, const char *name,
			  const struct ftr_istream_feed *feed, struct ftr_err *err);
/* Read from borrowed memory. */
void ftr_istream_from_memory(struct ftr_istream *in, const char *name, const void *data,
			     size_t size);
void ftr_istream_close(struct ftr_istream *in);

/*
 * Make a refilled input whole: what is left of it goes to a scratch file, which is mapped.  A read
 * that fails ends it there (ftr_istream_check).  0, or -errno when there is no room on disk.
 */
int ftr_istream_spool(struct ftr_istream *in, struct ftr_err *err);

/* Warn of what ftr_istream_open* left out. */
void ftr_istream_warn_hole(const struct ftr_istream *in, struct ftr_diag *diag);

/* 0 where the input ended as it should, or -errno: "NAME+0x12: read failed: reason". */
int ftr_istream_check(const struct ftr_istream *in, struct ftr_err *err);

/*
 * Borrow what comes next without stepping over it: at least @bytes (up to item_max of a refilled
 * input), more if more is there, fewer only at the end.  Returns how many.
 */
size_t ftr_istream_peek(struct ftr_istream *in, size_t bytes, const uint8_t **p);

/*
 * The next line without its newline, as a slice that is NOT NUL-terminated.  A last line without
 * newline counts; NULs are data.  Of a refilled input, lines are cut after item_max bytes.  False
 * at the end.
 */
bool ftr_istream_line(struct ftr_istream *in, const char **line, size_t *len);
/*
 * The same where every line was written with a newline: what is left of one that was cut may say
 * what is not so (of PID 1234: PID 12).  @diag is told, and it is left out.
 */
bool ftr_istream_whole_line(struct ftr_istream *in, const char **line, size_t *len,
			    struct ftr_diag *diag);

/*
 * Borrow @bytes (of a refilled input, up to item_max) at the position and step over them; NULL when
 * fewer are left (nothing is consumed).
 */
const uint8_t *ftr_istream_take(struct ftr_istream *in, size_t bytes);

/* How much of the input was stepped over. */
static inline uint64_t ftr_istream_offset(const struct ftr_istream *in)
{
	return in->start + in->pos;
}

/* Only of whole inputs: others do not know. */
static inline size_t ftr_istream_left(const struct ftr_istream *in)
{
	assert(in->window == NULL);
	return in->size - in->pos;
}

#endif /* FTR_BASE_ISTREAM_H */

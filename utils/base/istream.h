/* SPDX-License-Identifier: MIT */
/*
 * A bounded stream of input bytes: a mapped file, a slurped pipe, or somebody's buffer.  Decoders
 * see only this, never a descriptor, so each is fuzzed from memory.
 */
#ifndef FTR_BASE_ISTREAM_H
#define FTR_BASE_ISTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"

struct ftr_istream {
	const uint8_t *data;
	size_t size;
	size_t pos;
	char  *name;		/* (owned) for messages: "task.txt"; NULL when out of memory */
	void  *owned_heap;	/* (owned, nullable) */
	void  *owned_map;	/* (owned, nullable) of owned_map_bytes */
	size_t owned_map_bytes;
	unsigned lineno;	/* of the line ftr_istream_line returned last */
};

/*
 * Open a file relative to @dirfd (or AT_FDCWD); "-" is standard input.  Regular files are mapped.
 * 0 or -errno; -ENOENT etc. described as "NAME: reason".
 */
int ftr_istream_open(struct ftr_istream *in, int dirfd, const char *path, struct ftr_err *err);
/* Read from borrowed memory. */
void ftr_istream_from_memory(struct ftr_istream *in, const char *name, const void *data,
			     size_t size);
void ftr_istream_close(struct ftr_istream *in);

/*
 * The next line without its newline, as a slice that is NOT NUL-terminated.  A last line without
 * newline counts; NULs are data.  False at the end.
 */
bool ftr_istream_line(struct ftr_istream *in, const char **line, size_t *len);

/*
 * Borrow @bytes at the position and step over them; NULL when fewer are left (nothing is consumed).
 */
const uint8_t *ftr_istream_take(struct ftr_istream *in, size_t bytes);

static inline size_t ftr_istream_left(const struct ftr_istream *in)
{
	return in->size - in->pos;
}

#endif /* FTR_BASE_ISTREAM_H */

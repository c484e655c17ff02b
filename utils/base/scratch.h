/* SPDX-License-Identifier: MIT */
/*
 * A scratch file: room on disk for what does not belong in memory.  It has no name, so that it is
 * gone when it is closed and when the program ends in any way.
 */
#ifndef FTR_BASE_SCRATCH_H
#define FTR_BASE_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"

struct ftr_scratch {
	int fd;			/* -1 = not open */
	uint64_t bytes;		/* that were appended */
	char *dir;		/* (owned) where it is, for messages */
};

#define FTR_SCRATCH_CLOSED ((struct ftr_scratch){ .fd = -1 })

/*
 * In the directory that TMPDIR names; without TMPDIR in /var/tmp, else /tmp, which may be memory.
 * 0 or -errno: @err names the directory and the remedy.
 */
int ftr_scratch_open(struct ftr_scratch *scratch, struct ftr_err *err);

/* Append all of @bytes.  0 or -errno: no room (-ENOSPC, -EDQUOT, -EFBIG), or the disk fails. */
int ftr_scratch_append(struct ftr_scratch *scratch, const void *data, size_t bytes,
		       struct ftr_err *err);

/* Read @bytes that were appended at @offset.  0 or -errno (-EIO: they are not there). */
int ftr_scratch_read(const struct ftr_scratch *scratch, uint64_t offset, void *data, size_t bytes,
		     struct ftr_err *err);

void ftr_scratch_close(struct ftr_scratch *scratch);	/* closed already is fine */

#endif /* FTR_BASE_SCRATCH_H */

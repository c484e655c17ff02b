/* SPDX-License-Identifier: MIT */
/* A summary (summary.h) that is still being written, block by block as they come. */
#ifndef FTR_FORMAT_UFTRACE_SUMMARY_FOLLOW_H
#define FTR_FORMAT_UFTRACE_SUMMARY_FOLLOW_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/strbuf.h"
#include "utils/format/uftrace/summary.h"

struct ftr_summary_follow {
	int fd;				/* (owned) -1 = not open */
	uint64_t pos;			/* of the next block */
	struct ftr_strbuf block;	/* (owned) */
};

/* Before the first call of next, and after the last one. */
void ftr_summary_follow_init(struct ftr_summary_follow *self);
void ftr_summary_follow_fini(struct ftr_summary_follow *self);

/*
 * The next block, in memory that is valid until the next call; what was read is given back to the
 * disk.  1; 0: there is none yet, or not even a file; -errno, described: the file cannot be read,
 * or is damaged.
 */
int ftr_summary_follow_next(struct ftr_summary_follow *self, const char *dir,
			    struct ftr_summary_cursor *cursor, struct ftr_err *err);

#endif /* FTR_FORMAT_UFTRACE_SUMMARY_FOLLOW_H */

/* SPDX-License-Identifier: MIT */
/*
 * A file that the recorder has tried: when it is run, by whomever, it loads the runtime, and there
 * is nothing to warn of.  All that this depends on is here but the file's contents and rights, and
 * whatever is done to those is seen by when the file was changed.  Such files stand in the control
 * block, so that the runtime need not ask about them before each exec (FTR_CHANNEL_EXEC).
 *
 * Why: doc/adr/0110-files-known-before-exec.md
 */
#ifndef FTR_PROTO_TRIED_H
#define FTR_PROTO_TRIED_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct ftr_tried_file {
	uint64_t device, inode, size_bytes;
	uint64_t changed_s;		/* its ctime, UNIX time; the fraction follows */
	uint32_t changed_ns;
	uint32_t machine;		/* FTR_CHANNEL_HOST or FTR_CHANNEL_BESIDE */
};
static_assert(sizeof(struct ftr_tried_file) == 40, "of one layout for each machine");

/* Is it the same file, and has nothing been done to it? */
static inline bool ftr_tried_is_same(const struct ftr_tried_file *a, const struct ftr_tried_file *b)
{
	return a->inode == b->inode && a->device == b->device && a->size_bytes == b->size_bytes &&
	       a->changed_s == b->changed_s && a->changed_ns == b->changed_ns;
}

#endif /* FTR_PROTO_TRIED_H */

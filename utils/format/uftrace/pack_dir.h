/* SPDX-License-Identifier: MIT */
/*
 * Packing and unpacking the files of records of a data directory.  What comes out is written beside
 * them, and takes their place when all of it is on the disk; until then, and if anything fails, the
 * directory is as it was.
 */
#ifndef FTR_FORMAT_UFTRACE_PACK_DIR_H
#define FTR_FORMAT_UFTRACE_PACK_DIR_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"

/* What is looked at, and told, a block at a time. */
struct ftr_pack_watch {
	const volatile sig_atomic_t *is_ending;	/* (borrowed) once it is not 0 no more is done */
	void (*tick)(const struct ftr_pack_watch *watch);
	uint64_t done, all;	/* bytes; packed ones count when they are made, and when checked */
};

struct ftr_pack_result {
	size_t file_nr;		/* that were changed */
	size_t left_nr;		/* that would take more room when they are packed */
	size_t cut_nr;		/* that were changed, and had no index: what follows is missing */
	uint64_t bytes;		/* of those that were changed, unpacked */
	uint64_t packed_bytes;	/* ... and packed */
};

/*
 * 0; -EINTR: it was to end; -EBADMSG (unpacking: a file is damaged); -ENOTDIR (no data directory);
 * or -errno of the disk, all described.
 */
int ftr_pack_dir(const char *path, struct ftr_pack_watch *watch, struct ftr_pack_result *result,
		 struct ftr_err *err);
int ftr_unpack_dir(const char *path, struct ftr_pack_watch *watch, struct ftr_pack_result *result,
		   struct ftr_err *err);

#endif /* FTR_FORMAT_UFTRACE_PACK_DIR_H */

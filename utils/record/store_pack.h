/* SPDX-License-Identifier: MIT */
/*
 * Files of records that are packed while they are recorded: each holds its last block in memory
 * until that is full, and packed ones until they are many bytes; or until they are a second old, or
 * all of them hold too much.
 */
#ifndef FTR_RECORD_STORE_PACK_H
#define FTR_RECORD_STORE_PACK_H

#include <pthread.h>
#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/record/store.h"

struct ftr_packer;
struct ftr_uftrace_dir;
struct ftr_store_pack;		/* one file */

/* What the files of a recording share. */
struct ftr_store_packs {
	pthread_mutex_t lock;
	FTR_VEC(struct ftr_packer *) idle;	/* (owned) */
	uint64_t held_bytes;			/* of all files */
};

/* What one append came to. */
struct ftr_store_packed {
	uint64_t file_bytes;	/* written */
	uint64_t lost_records;	/* of this batch and those before */
	int code;		/* errno of the disk, 0 = none was lost */
};

void ftr_store_packs_init(struct ftr_store_packs *packs);
void ftr_store_packs_fini(struct ftr_store_packs *packs);

/* The file is made; if it cannot be, each append tries again.  NULL = no memory. */
struct ftr_store_pack *ftr_store_pack_new(const struct ftr_uftrace_dir *dir, int32_t tid,
					  bool is_aside);
struct ftr_store_packed ftr_store_pack_append(struct ftr_store_packs *packs,
					      struct ftr_store_pack *pack,
					      const struct ftr_uftrace_dir *dir,
					      const struct ftr_record_batch *batch);
/* Write what is held; the file is closed, until more comes. */
struct ftr_store_packed ftr_store_pack_rest(struct ftr_store_packs *packs,
					    struct ftr_store_pack *pack,
					    const struct ftr_uftrace_dir *dir);
/* Nothing more comes: write the index.  @pack is freed; NULL is fine. */
void ftr_store_pack_end(struct ftr_store_pack *pack, const struct ftr_uftrace_dir *dir);

#endif /* FTR_RECORD_STORE_PACK_H */

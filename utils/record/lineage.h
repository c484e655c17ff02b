/* SPDX-License-Identifier: MIT */
/*
 * Which image each process ran from when on, also when it has ended or runs another one: a forked
 * child may tell nothing of itself for long, and was forked from what its parent was then.
 */
#ifndef FTR_RECORD_LINEAGE_H
#define FTR_RECORD_LINEAGE_H

#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/record/process.h"

/* So many images are kept, the newest ones: 4 MB. */
#define FTR_LINEAGE_MAX 65536u

struct ftr_lineage_entry {
	int32_t pid, own_pid;	/* in our namespace, and in its own */
	struct ftr_process_image image;
};

struct ftr_lineage {
	FTR_VEC(struct ftr_lineage_entry) all;	/* (owned) */
	size_t oldest;		/* once all are there, which are replaced from here on */
};

/* @process has another image.  Without memory that is forgotten. */
void ftr_lineage_add(struct ftr_lineage *lineage, const struct ftr_process *process);

/*
 * What the process that is, or called itself, @pid ran at @time_ns.  NULL: not known.  Valid until
 * the next one is added.
 */
const struct ftr_process_image *ftr_lineage_find(const struct ftr_lineage *lineage, int32_t pid,
						 uint64_t time_ns);

void ftr_lineage_fini(struct ftr_lineage *lineage);

#endif /* FTR_RECORD_LINEAGE_H */

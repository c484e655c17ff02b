/* SPDX-License-Identifier: MIT */
/*
 * The recorder's end of nurseries (utils/proto/nursery.h): rings made ahead for forked children.
 *
 * The processes may write anything into what is shared: sizes and places are the recorder's own,
 * and every claim is loaded once.
 */
#ifndef FTR_RECORD_NURSERY_H
#define FTR_RECORD_NURSERY_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/vec.h"
#include "utils/proto/nursery.h"
#include "utils/record/ring.h"

struct ftr_record_nursery {
	struct ftr_nursery *shared;	/* (owned mapping) */
	int fd;				/* (owned) of the memfd */
	int32_t pid;			/* who asked for it, in our namespace */
	uint32_t ring_bytes;
	uint64_t first_id;
	bool is_known[FTR_NURSERY_PLACES];	/* claims that were reported */
	bool is_closing;		/* its process has ended */
	bool gives_back;		/* memory that is given back is 0 afterwards */
	unsigned closed_nr;
};

struct ftr_record_nurseries {
	FTR_VEC(struct ftr_record_nursery *) all;	/* (owned) */
	uint64_t last_id;
};

/* What a child has said by claiming a ring. */
struct ftr_record_claim {
	uint64_t time;			/* ticks */
	int32_t pid, parent_pid;
	struct ftr_record_nursery *nursery;
	unsigned place;
};
struct ftr_record_claims {
	FTR_VEC(struct ftr_record_claim) v;
};

/* Make one for process @pid, of rings of at most @ring_bytes.  0, or -errno with a description. */
int  ftr_record_nursery_new(struct ftr_record_nurseries *nurseries, int32_t pid,
			    uint32_t ring_bytes, struct ftr_record_nursery **out,
			    struct ftr_err *err);
void ftr_record_nurseries_fini(struct ftr_record_nurseries *nurseries);

/* Add the claims that are new to @claims, oldest first.  0 or -ENOMEM: they stay new. */
int  ftr_record_nurseries_claims(struct ftr_record_nurseries *nurseries,
				 struct ftr_record_claims *claims);
/* The ring of a claim and its name; ftr_ring_close gives it back. */
void ftr_record_nursery_ring(const struct ftr_record_claim *claim, struct ftr_ring *ring,
			     uint64_t *id);
/* The name that its task had before an exec; false: none was kept, and @name is as it was. */
bool ftr_record_nursery_name(const struct ftr_record_claim *claim,
			     char name[FTR_NURSERY_NAME_BYTES]);
/* For the next child: the one that claimed it is done, and @used bytes were written. */
void ftr_record_nursery_give_back(struct ftr_record_nursery *nursery, unsigned place,
				  uint64_t used);

/* The image of @pid is gone: its nursery ends when the last child is done with its ring. */
void ftr_record_nurseries_image_end(struct ftr_record_nurseries *nurseries, int32_t pid);

#endif /* FTR_RECORD_NURSERY_H */

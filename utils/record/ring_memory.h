/* SPDX-License-Identifier: MIT */
/* Where a ring lies: in a memfd of its own, or in a place of a nursery (doc/adr/0106). */
#ifndef FTR_RECORD_RING_MEMORY_H
#define FTR_RECORD_RING_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/record/ring.h"

struct ftr_err;

/* Make a ring of @bytes (a power of two), sealed so that the tracee cannot shrink it under us. */
int  ftr_ring_open(struct ftr_ring *ring, uint32_t bytes, struct ftr_err *err);
/* One in a place of a nursery, see nursery.h: at byte @at of the memfd. */
void ftr_ring_open_place(struct ftr_ring *ring, struct ftr_ring_header *header, uint32_t bytes,
			 int memory_fd, uint64_t at);
void ftr_ring_close(struct ftr_ring *ring);

/*
 * Does any process but us still have the ring mapped?  Unmaps ours; afterwards only _close may
 * follow.  Not asked of one in a nursery (false): who has that mapped also has a ring of the
 * process that asked for it.
 */
bool ftr_ring_is_shared(struct ftr_ring *ring);

#endif /* FTR_RECORD_RING_MEMORY_H */

/* SPDX-License-Identifier: MIT */
/*
 * A child that runs in its parent's memory, with its thread-local storage, while the parent waits
 * (vfork, clone with CLONE_VM and CLONE_VFORK): its records go to a ring of its own, and what it
 * does to the shadow stack is undone before the parent goes on.
 */
#ifndef FTR_LIBMCOUNT_VFORK_H
#define FTR_LIBMCOUNT_VFORK_H

#include "libmcount/gate.h"

/*
 * How many of the parent's newest frames are saved.  A child may only return from tail calls that
 * share vfork's return slot.
 */
#define FTR_VFORK_KEPT 64
#define FTR_VFORK_GATED 8

/* What the parent finds again when it goes on; belongs to one vfork. */
struct ftr_vfork {
	struct ftr_thread self;
	struct ftr_slot slot;		/* the child's; the shadow stack is the parent's */
	uint64_t signals;		/* the parent's mask */
	uint64_t bytes;			/* of this mapping; 0 = it lies in the parent's slot */
	bool is_blocked;		/* all signals are, until either of the two goes on */
	uint32_t kept_nr;
	struct ftr_frame kept[FTR_VFORK_KEPT];	/* the newest ones, in order */
	uint32_t gated_nr;
	struct ftr_gate_frame gated[FTR_VFORK_GATED];	/* beside them, newest first */
};

/* Before the call; NULL: there is nothing to save, or no room for it. */
struct ftr_vfork *ftr_vfork_begin(void) FTR_HIDDEN;

/* In the child, and in the parent; @vfork may be NULL. */
void ftr_vfork_child(struct ftr_vfork *vfork) FTR_HIDDEN;
void ftr_vfork_parent(struct ftr_vfork *vfork) FTR_HIDDEN;

#endif /* FTR_LIBMCOUNT_VFORK_H */

/* SPDX-License-Identifier: MIT */
/*
 * Stacks of system calls: each different one, and each different frame, gets a number and is
 * reported once.
 */
#ifndef FTR_OBSERVE_STACK_H
#define FTR_OBSERVE_STACK_H

#include <stdint.h>

#include "utils/observe/observer.h"
#include "utils/observe/space.h"

#define FTR_STACK_FRAMES_MAX 256	/* the innermost of a deeper one */
#define FTR_STACK_COPY_FRAMES_MAX 1024	/* ... of one that was copied */

struct ftr_observer_stacks {
	const struct ftr_observer_sink *sink;	/* (borrowed) */
	struct ftr_space_modules modules;
	FTR_VEC(struct ftr_stack_place) frames;	/* by number - 1 */
	FTR_VEC(struct ftr_stack_known) stacks;	/* by number - 1 */
	FTR_VEC(uint32_t) ids;			/* frames of all stacks */
	struct ftr_hashmap by_place, by_ids;	/* hash -> number of the newest of that hash */
};

/* Where a frame is. */
struct ftr_stack_place {
	const struct ftr_space_module *module;
	uint64_t offset;
	uint32_t next;			/* of the same hash; 0 = none */
};

struct ftr_stack_known {
	size_t first, nr;		/* in ids */
	uint32_t next;
};

void ftr_observer_stacks_init(struct ftr_observer_stacks *stacks,
			      const struct ftr_observer_sink *sink);
void ftr_observer_stacks_fini(struct ftr_observer_stacks *stacks);

/* The number of the stack of @tracee, which is stopped in a system call; 0 = not known. */
uint32_t ftr_observer_stack_take(struct ftr_observer_stacks *stacks,
				 const struct ftr_tracee *tracee);

/*
 * The number of the stack of which each call is at one of @ips (within the calling instruction),
 * the innermost first; it ends where @space knows of no module.  @tracee: see space.h.  0 = it has
 * none.
 */
uint32_t ftr_observer_stack_intern(struct ftr_observer_stacks *stacks, struct ftr_space *space,
				   const struct ftr_tracee *tracee, const uint64_t *ips, size_t nr);

/* It opens @path: if that is a library, it will be mapped by its next call. */
void ftr_observer_stack_opens(const struct ftr_tracee *tracee, const char *path);

#endif /* FTR_OBSERVE_STACK_H */

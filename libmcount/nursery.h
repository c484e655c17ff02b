/* SPDX-License-Identifier: MIT */
/* Rings that were made ahead for forked children: utils/proto/nursery.h. */
#ifndef FTR_LIBMCOUNT_NURSERY_H
#define FTR_LIBMCOUNT_NURSERY_H

#include <stdbool.h>
#include <stdint.h>

#include "libmcount/thread.h"

/* A fork follows: have a nursery when there were some of them. */
void ftr_nursery_before_fork(void) __attribute__((visibility("hidden")));

/*
 * Claim a ring for the only task of the process, whose @slot bears its numbers; forked from
 * @parent_pid at @fork_tick.  False: ask for one.  Makes one system call, and waits for nobody.
 */
bool ftr_nursery_take(struct ftr_slot *slot, int32_t parent_pid, uint64_t fork_tick)
	__attribute__((visibility("hidden")));

/*
 * The ring has no room for what was reserved at @pos: if it is one of a nursery, go on in a larger
 * one.  False: the task has the ring that it had, or is disarmed as there was no reply.
 */
bool ftr_nursery_leave(struct ftr_thread *self, uint64_t pos)
	__attribute__((visibility("hidden")));

/*
 * An exec follows of which the recorder is not told: if the process has claimed a ring, keep there
 * the name that the exec changes, as the claim may not have been seen yet.  False: tell it.
 */
bool ftr_nursery_keep_name(void) __attribute__((visibility("hidden")));

/* Is that an address in a nursery? */
bool ftr_nursery_has(uint64_t address) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_NURSERY_H */

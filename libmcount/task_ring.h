/* SPDX-License-Identifier: MIT */
/* The ring of a task: asked for, and mapped. */
#ifndef FTR_LIBMCOUNT_TASK_RING_H
#define FTR_LIBMCOUNT_TASK_RING_H

#include <stdint.h>

#include "libmcount/thread.h"

/*
 * Ask the recorder for a ring for the task of @slot, or, with a ring of a dead one, to go on in
 * that.  Signals are blocked.  @parent_pid: != 0 = the process was forked from that.  @fork_tick:
 * when, or 0: it begins now.  0 or -errno.
 */
int ftr_task_ring_get(struct ftr_slot *slot, int32_t parent_pid, uint64_t fork_tick)
	__attribute__((visibility("hidden")));

/*
 * Another one, of the usual size, for the task of @slot, whose is in a nursery.  0: it has that,
 * and its positions begin at 0, or is still in the nursery.  -EMFILE: it was not asked for.
 * -errno: none; the one that it had may be another task's.
 */
int ftr_task_ring_grow(struct ftr_slot *slot) __attribute__((visibility("hidden")));

/*
 * mmap, at @at if that is not 0.  Where what is mapped is locked, and so filled and counted
 * (mlockall), one page is mapped, unlocked, and made as large as it shall be.
 */
long ftr_map_unlocked(uint64_t at, uint64_t bytes, int prot, int flags, int fd, uint64_t offset)
	__attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_TASK_RING_H */

/* SPDX-License-Identifier: MIT */
/* See left.h.  Part of the hook: without libc. */
#include "libmcount/left.h"

#include <sys/mman.h>

#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

#define USED 1u
#define ROOM_FIRST 64u		/* a power of two; never more than half of it is used */

/*
 * As frames of a thread without a stack of its own, of which each was in use, so that unwinders
 * find them by the stubs that are left on stacks.
 */
struct ftr_left {
	struct ftr_slot owner;
	uint64_t bytes, room, nr;
	struct ftr_frame calls[];	/* ftr_shadow_left_at */
};

static struct ftr_frame *call_at(struct ftr_left *left, uintptr_t loc)
{
	uint64_t at = ftr_shadow_left_at(loc);

	for (;; at++) {
		struct ftr_frame *call = &left->calls[at & (left->room - 1)];

		if ((uintptr_t)call->loc == loc || call->loc == NULL)
			return call;
	}
}

struct ftr_left *ftr_left_new(const struct ftr_left *before, uint64_t nr)
{
	uint64_t room = ROOM_FIRST, bytes, i;
	struct ftr_left *left;
	long mem;

	nr += before != NULL ? before->nr : 0;
	while (room < 2 * nr + 2)
		room *= 2;
	bytes = sizeof(*left) + room * sizeof(left->calls[0]);
	mem = ftr_sys_map(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	if (ftr_sys_map_failed(mem))
		return NULL;
	left = (struct ftr_left *)mem;
	left->bytes = bytes;
	left->room = room;
	left->owner.frames = left->calls;
	left->owner.frames_high = left->calls + room;
	for (i = 0; i < room; i++)
		left->calls[i].func = USED;
	return left;
}

void ftr_left_free(struct ftr_left *left)
{
	if (left != NULL)
		ftr_sys2(SYS_munmap, left, left->bytes);
}

void ftr_left_add(struct ftr_left *left, const uintptr_t *loc, uintptr_t ret, uint64_t age)
{
	struct ftr_frame *call = call_at(left, (uintptr_t)loc);

	if (call->loc == NULL && 2 * left->nr >= left->room)
		return;
	if (call->loc != NULL && call->state < age)
		return;
	left->nr += call->loc == NULL;
	call->loc = (uintptr_t *)loc;
	call->ret = ret;
	call->state = age;
}

/* They are older than all that were made since. */
void ftr_left_add_before(struct ftr_left *left, const struct ftr_left *before,
			 bool (*still)(void *arg, uintptr_t loc, uintptr_t ret), void *arg)
{
	uint64_t i;

	for (i = 0; before != NULL && i < before->room; i++) {
		const struct ftr_frame *call = &before->calls[i];

		if (call->loc != NULL && call_at(left, (uintptr_t)call->loc)->loc == NULL &&
		    still(arg, (uintptr_t)call->loc, call->ret))
			ftr_left_add(left, call->loc, call->ret, UINT64_MAX);
	}
}

uintptr_t ftr_left_find(const uintptr_t *loc)
{
	struct ftr_left *left = atomic_load(&ftr_state.left);

	return left != NULL ? call_at(left, (uintptr_t)loc)->ret : 0;
}

struct ftr_slot *ftr_left_owner(struct ftr_left *left)
{
	return &left->owner;
}

/* SPDX-License-Identifier: MIT */
/* See left.h.  Part of the hook: without libc. */
#include "libmcount/left.h"

#include <sys/mman.h>

#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

#define ROOM_FIRST 64u		/* a power of two; never more than half of it is used */

struct left_call {
	uintptr_t loc, ret;	/* loc 0: free */
	uint64_t age;
};

struct ftr_left {
	uint64_t bytes, room, nr;
	struct left_call calls[];	/* hashed by loc, each in the first free place from there */
};

static struct left_call *call_at(struct ftr_left *left, uintptr_t loc)
{
	uint64_t at = ((uint64_t)loc >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	for (;; at++) {
		struct left_call *call = &left->calls[at & (left->room - 1)];

		if (call->loc == loc || call->loc == 0)
			return call;
	}
}

struct ftr_left *ftr_left_new(const struct ftr_left *before, uint64_t nr)
{
	uint64_t room = ROOM_FIRST, bytes;
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
	return left;
}

void ftr_left_free(struct ftr_left *left)
{
	if (left != NULL)
		ftr_sys2(SYS_munmap, left, left->bytes);
}

void ftr_left_add(struct ftr_left *left, const uintptr_t *loc, uintptr_t ret, uint64_t age)
{
	struct left_call *call = call_at(left, (uintptr_t)loc);

	if (call->loc == 0 && 2 * left->nr >= left->room)
		return;
	if (call->loc != 0 && call->age < age)
		return;
	left->nr += call->loc == 0;
	*call = (struct left_call){ (uintptr_t)loc, ret, age };
}

/* They are older than all that were made since. */
void ftr_left_add_before(struct ftr_left *left, const struct ftr_left *before,
			 bool (*still)(void *arg, uintptr_t loc, uintptr_t ret), void *arg)
{
	uint64_t i;

	for (i = 0; before != NULL && i < before->room; i++) {
		const struct left_call *call = &before->calls[i];

		if (call->loc != 0 && call_at(left, call->loc)->loc == 0 &&
		    still(arg, call->loc, call->ret))
			ftr_left_add(left, (const uintptr_t *)call->loc, call->ret, UINT64_MAX);
	}
}

uintptr_t ftr_left_find(const uintptr_t *loc)
{
	struct ftr_left *left = atomic_load(&ftr_state.left);

	return left != NULL ? call_at(left, (uintptr_t)loc)->ret : 0;
}

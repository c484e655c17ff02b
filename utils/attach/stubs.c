/* SPDX-License-Identifier: MIT */
/* See stubs.h. */
#include "utils/attach/stubs.h"

#include <stddef.h>

#include "arch/remote.h"
#include "utils/attach/image.h"
#include "utils/proto/shadow.h"

#define STUBS_BYTES (FTR_STUB_NR * FTR_STUB_BYTES)
#define FRAME_BYTES sizeof(struct ftr_shadow_frame)
#define CHUNK_FRAMES 128u

struct search {
	pid_t pid;
	uint64_t stubs, loc;
	uint64_t *looks;
};

bool ftr_stubs_are(const struct ftr_places *places, const struct ftr_place_range *range)
{
	return range->high - range->low == STUBS_BYTES && ftr_place_is_ours(places, range->low);
}

static bool frames_read(const struct search *search, uint64_t at, struct ftr_shadow_frame *frames,
			size_t nr)
{
	if (*search->looks < nr)
		return false;
	*search->looks -= nr;
	return ftr_memory_read(search->pid, at, frames, nr * FRAME_BYTES);
}

/* A stub of whichever thread: that of a tail call, which has another frame, of its caller. */
static bool is_stub(const struct search *search, uint64_t address)
{
	return ftr_arch_address(address) - search->stubs < STUBS_BYTES;
}

static bool is_it(const struct search *search, const struct ftr_shadow_frame *frame)
{
	return frame->loc == search->loc && !is_stub(search, frame->ret);
}

/* Of the frames from @low up to @high, the newest first. */
static uint64_t each_look(const struct search *search, uint64_t low, uint64_t high)
{
	struct ftr_shadow_frame frames[CHUNK_FRAMES];

	while (low < high) {
		size_t nr = (high - low) / FRAME_BYTES;

		nr = nr < CHUNK_FRAMES ? nr : CHUNK_FRAMES;
		if (nr == 0 || !frames_read(search, high - nr * FRAME_BYTES, frames, nr))
			return 0;
		high -= nr * FRAME_BYTES;
		while (nr > 0) {
			if (is_it(search, &frames[--nr]))
				return frames[nr].ret;
		}
	}
	return 0;
}

/* Where loc falls from frame to frame: the first one that is not above it. */
static uint64_t halves_look(const struct search *search, uint64_t low, uint64_t top)
{
	struct ftr_shadow_frame frame = { .loc = 0 };
	uint64_t high = top;

	while (high - low > FRAME_BYTES) {
		uint64_t middle = low + (high - low) / FRAME_BYTES / 2 * FRAME_BYTES;

		if (!frames_read(search, middle, &frame, 1))
			return 0;
		if (frame.loc > search->loc)
			low = middle;
		else
			high = middle;
	}
	if (high == top || !frames_read(search, high, &frame, 1) || !is_it(search, &frame))
		return 0;
	return frame.ret;
}

/* A call on the stack that its thread was born on. */
static uint64_t home_look(const struct search *search, const struct ftr_shadow_owner *owner)
{
	struct ftr_shadow_thread thread;
	uint64_t ret = 0;

	if (!ftr_memory_read(search->pid, owner->thread, &thread, sizeof(thread)) ||
	    thread.frames != owner->frames || thread.top < owner->frames ||
	    thread.top > owner->frames_high || (thread.top - owner->frames) % FRAME_BYTES != 0)
		return 0;
	if (thread.halving_low == owner->frames - FRAME_BYTES)
		ret = halves_look(search, thread.halving_low, thread.top);
	return ret != 0 ? ret : each_look(search, owner->frames, thread.top);
}

/* A call on another stack: how many frames are in use its thread may not say any more. */
static uint64_t elsewhere_look(const struct search *search, const struct ftr_shadow_owner *owner)
{
	uint64_t all = (owner->frames_high - owner->frames) / FRAME_BYTES, nr = FTR_SHADOW_GALLOP;
	struct ftr_shadow_frame frame;

	while (nr < all) {
		if (!frames_read(search, owner->frames + nr * FRAME_BYTES, &frame, 1))
			return 0;
		if (frame.loc == 0 && frame.func == 0)
			break;
		nr *= 2;
	}
	nr = nr < all ? nr : all;
	return each_look(search, owner->frames, owner->frames + nr * FRAME_BYTES);
}

static uint64_t left_look(const struct search *search, const struct ftr_shadow_owner *owner)
{
	uint64_t room = (owner->frames_high - owner->frames) / FRAME_BYTES;
	uint64_t at = ftr_shadow_left_at(search->loc), i;
	struct ftr_shadow_frame frame;

	for (i = 0; i < room; i++, at++) {
		if (!frames_read(search, owner->frames + (at & (room - 1)) * FRAME_BYTES, &frame,
				 1) ||
		    frame.loc == 0)
			return 0;
		if (frame.loc == search->loc)
			return is_it(search, &frame) ? frame.ret : 0;
	}
	return 0;
}

static uint64_t owner_look(const struct search *search, const struct ftr_shadow_owner *owner)
{
	if (owner->frames_high < owner->frames)
		return 0;
	if (owner->thread == 0)
		return left_look(search, owner);
	if (search->loc - owner->home_low < owner->home_high - owner->home_low)
		return home_look(search, owner);
	return elsewhere_look(search, owner);
}

uint64_t ftr_stub_returns_to(const struct ftr_stub *stub, uint64_t *looks)
{
	const struct search search = {
		.pid = stub->pid, .stubs = stub->stubs, .loc = stub->sp - sizeof(uint64_t),
		.looks = looks,
	};
	uint64_t nr = (stub->ip - stub->stubs) / FTR_STUB_BYTES, distance, at;
	struct ftr_shadow_owner owner;

	if (nr == 0 || nr >= FTR_STUB_NR ||
	    !ftr_memory_read(stub->pid, stub->stubs, &distance, sizeof(distance)) ||
	    !ftr_memory_read(stub->pid, stub->stubs + distance + nr * sizeof(at), &at,
			     sizeof(at)) ||
	    at == 0 || !ftr_memory_read(stub->pid, at, &owner, sizeof(owner)))
		return 0;
	return ftr_arch_address(owner_look(&search, &owner));
}

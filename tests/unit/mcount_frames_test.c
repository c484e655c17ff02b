/* SPDX-License-Identifier: MIT */
/* Frames that one thread looks for in the shadow stack of another, and what is kept of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "arch/rt.h"
#include "libmcount/frames.h"
#include "libmcount/gated.h"
#include "libmcount/leave.h"
#include "libmcount/returns.h"
#include "libmcount/stacks.h"
#include "libmcount/state.h"

enum {
	FRAMES = 160,
	HIGH = 140,			/* of the newer call: what is below it are holes */
	ROUNDS = 20000,
	RETURNS = 64,
	OLD = 0x1000, NEW = 0x2000,	/* where the calls return to */
};

/* What leave.c needs of its neighbours: nothing is recorded, and there are no stubs. */
const char ftr_return_stubs[1];

void ftr_stub_take_aside(struct ftr_slot *slot)
{
}
void ftr_gated_exit(struct ftr_thread *self, struct ftr_frame *frame, const struct ftr_regs *regs)
{
}
void ftr_stacks_begin(struct ftr_thread *self, const uintptr_t *loc)
{
}
void ftr_stacks_note(struct ftr_thread *self, const uintptr_t *loc, enum ftr_stack_use use,
		     uint64_t time)
{
}

static uint64_t minute = UINT64_C(60) * 3000000000u;

struct bed {
	struct ftr_slot slot;
	struct ftr_thread thread;
	struct ftr_frame frames[1 + FRAMES];
	struct ftr_return returns[RETURNS];
	uintptr_t place[2];		/* return slots; 1: of all other calls */
	_Atomic uint64_t round, done;
};

static void bed_init(struct bed *bed)
{
	memset(bed, 0, sizeof(*bed));
	bed->frames[0].loc = (uintptr_t *)UINTPTR_MAX;
	bed->slot.frames = bed->frames + 1;
	bed->slot.frame_nr = FRAMES;
	bed->slot.returns = bed->returns;
	bed->slot.return_nr = RETURNS;
	bed->slot.vfork = (struct ftr_vfork *)bed;	/* it is no vfork's child */
	bed->thread.slot = &bed->slot;
	bed->thread.frames = bed->slot.frames;
	bed->thread.top = bed->slot.frames;
}

static void frame_set(struct ftr_frame *frame, uintptr_t *loc, uintptr_t ret, uint64_t tick)
{
	frame->ret = ret;
	frame->func = 1;
	frame->state = ftr_frame_begun(FTR_FRAME_RETURN, tick);
	atomic_thread_fence(memory_order_seq_cst);
	frame->loc = loc;
}

/* An old call of the place lowest but one, a new one high above, and holes between. */
static void bed_fill(struct bed *bed)
{
	struct ftr_frame *frames = bed->slot.frames;
	unsigned i;

	for (i = 0; i < FRAMES; i++)
		frame_set(&frames[i], NULL, 0, minute);
	frame_set(&frames[0], &bed->place[1], OLD, minute);
	frame_set(&frames[1], &bed->place[0], OLD, 2 * minute);
	frame_set(&frames[HIGH], &bed->place[0], NEW, 3 * minute);
	bed->thread.top = &frames[HIGH + 1];
}

static void *move_again_and_again(void *arg)
{
	struct bed *bed = arg;
	uint64_t round;

	for (round = 1; round <= ROUNDS; round++) {
		bed_fill(bed);
		bed->thread.hole_nr = FRAMES;
		atomic_store(&bed->round, round);
		ftr_frames_count_hole(&bed->thread);
		while (atomic_load(&bed->done) != round)
			sched_yield();
	}
	return NULL;
}

/* A coroutine that changed threads returns while those that it left behind close their ranks. */
static void test_newest_of_a_place_while_frames_move(void **state)
{
	struct bed *bed = calloc(1, sizeof(*bed));
	uint64_t round, wrong_nr = 0;
	pthread_t thread;

	bed_init(bed);
	pthread_create(&thread, NULL, move_again_and_again, bed);
	for (round = 1; round <= ROUNDS; round++) {
		while (atomic_load(&bed->round) != round)
			sched_yield();
		wrong_nr += ftr_frame_close_foreign(&bed->slot, &bed->place[0]) != NEW;
		atomic_store(&bed->done, round);
	}
	pthread_join(thread, NULL);
	assert_int_equal(wrong_nr, 0);
	free(bed);
}

/* A call that was taken for left, and is newer than an open one of its place, is what returns. */
static void test_kept_call_is_newer(void **state)
{
	struct bed bed;

	bed_init(&bed);
	bed_fill(&bed);
	bed.slot.frames[HIGH].loc = NULL;
	ftr_return_keep(&bed.slot, &bed.place[0], NEW, ftr_stamp(3 * minute));
	assert_int_equal(ftr_frame_close_foreign(&bed.slot, &bed.place[0]), NEW);
	assert_ptr_equal(bed.slot.frames[1].loc, &bed.place[0]);
	/* Called again: */
	frame_set(&bed.slot.frames[HIGH], &bed.place[0], OLD + 1, 4 * minute);
	assert_int_equal(ftr_frame_close_foreign(&bed.slot, &bed.place[0]), OLD + 1);
}

/*
 * What a handler interrupted goes on: its frame is not another call's before, and none that
 * returns; unless a newer call has its place.
 */
static void test_frame_of_an_interrupted_hook(void **state)
{
	struct bed bed;
	struct ftr_frame *frame;

	bed_init(&bed);
	frame = bed.slot.frames;
	bed.thread.home_high = UINTPTR_MAX;
	bed.thread.top = frame + 1;
	frame_set(frame, &bed.place[0], OLD, minute);
	frame->state = FTR_FRAME_RETURN;
	ftr_frames_abandon(&bed.thread, frame - 1, &bed.place[1], false);
	assert_ptr_equal(frame->loc, &bed.place[0]);
	assert_ptr_equal(bed.thread.top, frame + 1);
	assert_int_equal(ftr_frame_close_foreign(&bed.slot, &bed.place[0]), 0);
	assert_int_equal(ftr_frames_newest(&bed.slot, &bed.place[0]), 0);
	ftr_frames_abandon(&bed.thread, frame - 1, &bed.place[0], true);
	assert_null(frame->loc);
	assert_ptr_equal(bed.thread.top, frame);
}

/* Who jumps out of it ends it, but its address is known still: that may be a guess. */
static void test_hook_that_is_jumped_out_of(void **state)
{
	const uintptr_t stub = 0x3000;
	struct bed bed;
	struct ftr_frame *frame;

	bed_init(&bed);
	frame = bed.slot.frames;
	frame_set(frame, &bed.place[0], OLD, minute);
	frame->state = FTR_FRAME_RETURN;
	bed.place[0] = stub;
	bed.thread.home_high = UINTPTR_MAX;
	bed.thread.stub = stub;
	bed.thread.top = frame + 1;
	ftr_self = bed.thread;
	ftr_frames_jumped(&bed.place[1]);
	assert_null(frame->loc);
	assert_ptr_equal(ftr_self.top, frame);
	assert_int_equal(ftr_return_find_of(&bed.slot, &bed.place[0]).ret, OLD);
	memset(&ftr_self, 0, sizeof(ftr_self));
}

/* The frame on top is that of the place, but a newer call of it was taken for left. */
static void test_kept_call_is_newer_than_the_top(void **state)
{
	const uintptr_t stub = 0x3000;
	struct bed bed;
	struct ftr_frame *frame;
	struct ftr_stacks *stacks = calloc(1, FTR_STACKS_BYTES(1));

	bed_init(&bed);
	frame = bed.slot.frames;
	stacks->max = 1;
	bed.thread.home_high = UINTPTR_MAX;
	bed.thread.stacks = stacks;
	bed.thread.stub = stub;
	bed.thread.top = frame + 1;
	bed.place[0] = stub;
	frame_set(frame, &bed.place[0], OLD, minute);
	frame->is_begun = false;
	ftr_return_keep(&bed.slot, &bed.place[0], NEW, ftr_stamp(2 * minute));
	/* Where its slot stays, it tells: it holds the stub of the open one alone. */
	assert_int_equal(ftr_leave_top(&bed.thread, &bed.place[0]), FTR_ARCH_SLOT_STAYS ? OLD : 0);
	assert_int_equal(frame->loc == NULL, FTR_ARCH_SLOT_STAYS);
	free(stacks);
}

/* ... in whichever order they were given up, for as long as servers run. */
static void test_older_call_is_given_up_last(void **state)
{
	const uint64_t month = 30 * 24 * 60 * minute;
	struct bed bed;

	bed_init(&bed);
	ftr_return_keep(&bed.slot, &bed.place[0], NEW, ftr_stamp(2 * month));
	ftr_return_keep(&bed.slot, &bed.place[0], OLD, ftr_stamp(month));
	assert_int_equal(ftr_return_find_of(&bed.slot, &bed.place[0]).ret, NEW);
	ftr_return_keep(&bed.slot, &bed.place[0], NEW + 1, ftr_stamp(3 * month));
	assert_int_equal(ftr_return_find_of(&bed.slot, &bed.place[0]).ret, NEW + 1);
}

/* What finds no room is told so, what has any is kept, and its place may be used again. */
static void test_nothing_is_lost(void **state)
{
	uintptr_t *places = calloc(4096, sizeof(*places)), i, nr = 0;
	struct bed bed;

	bed_init(&bed);
	while (ftr_return_keep(&bed.slot, &places[nr], NEW + nr, ftr_stamp((nr + 1) * minute)))
		nr++;
	assert_in_range(nr, RETURNS / 2, RETURNS);
	assert_int_equal(ftr_return_find_of(&bed.slot, &places[nr]).ret, 0);
	for (i = 0; i < nr; i++)
		assert_int_equal(ftr_return_find_of(&bed.slot, &places[i]).ret, NEW + i);
	for (i = 0; i < nr; i++)
		assert_true(ftr_return_keep(&bed.slot, &places[i], OLD + i,
					    ftr_stamp((5000 + i) * minute)));
	for (i = 0; i < nr; i++)
		assert_int_equal(ftr_return_find_of(&bed.slot, &places[i]).ret, OLD + i);
	free(places);
}

/* As many as ever find room lie in the first entries. */
static void test_used_part(void **state)
{
	uintptr_t *places = calloc(4096, sizeof(*places)), i;
	uint64_t used, at, nr;
	struct bed bed;

	bed_init(&bed);
	assert_in_range(ftr_returns_used(&bed.slot), 0, RETURNS / 4);
	for (i = 0; ftr_return_keep(&bed.slot, &places[i], NEW, ftr_stamp(minute)); i++) {
		used = ftr_returns_used(&bed.slot);
		for (at = 0, nr = 0; at < used; at++)
			nr += bed.returns[at].loc != NULL;
		assert_int_equal(nr, i + 1);
	}
	assert_int_equal(ftr_returns_used(&bed.slot), RETURNS);
	free(places);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest_of_a_place_while_frames_move),
		cmocka_unit_test(test_kept_call_is_newer),
		cmocka_unit_test(test_frame_of_an_interrupted_hook),
		cmocka_unit_test(test_hook_that_is_jumped_out_of),
		cmocka_unit_test(test_kept_call_is_newer_than_the_top),
		cmocka_unit_test(test_older_call_is_given_up_last),
		cmocka_unit_test(test_nothing_is_lost),
		cmocka_unit_test(test_used_part),
	};

	return cmocka_run_group_tests_name("mcount_frames", tests, NULL, NULL);
}

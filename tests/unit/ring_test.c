/* SPDX-License-Identifier: MIT */
/* The recorder's end of a ring: records without a payload, its beginning and its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/ring_util.h"

#include "utils/record/ring_memory.h"

static void takes_what_is_committed(void **state)
{
	struct ring_fixture *f = *state;

	ring_put(f, 10, FTR_RECORD_ENTRY, 0);
	ring_put(f, 20, FTR_RECORD_EXIT, 0);
	f->head++;			/* reserved, not yet committed */
	ring_put(f, 40, FTR_RECORD_ENTRY, 0);
	assert_int_equal(ring_take(f), 2);
	ring_check(f, 0, 10, FTR_RECORD_ENTRY, 0);
	ring_check(f, 1, 20, FTR_RECORD_EXIT, 0);
	assert_int_equal(f->data[0].word, 0);
	assert_int_equal(f->data[1].word, 0);
	assert_int_equal(f->header->tail, 32);
	assert_int_equal(ring_take(f), 0);
	f->data[2] = (struct ftr_record){ 30, ftr_record_word(FTR_RECORD_ENTRY, 0, RING_FUNC) };
	assert_int_equal(ring_take(f), 2);
	ring_check(f, 0, 30, FTR_RECORD_ENTRY, 0);
	/* A smaller depth: the frame above was abandoned. */
	ring_check(f, 1, 40, FTR_RECORD_ENTRY, 0);
}

static void goes_round_and_round(void **state)
{
	struct ring_fixture *f = *state;
	uint64_t time = 0;
	int lap;
	size_t i;

	for (lap = 0; lap < 50; lap++) {
		for (i = 0; i < 100; i++, time++)
			ring_put(f, time, i % 2 ? FTR_RECORD_EXIT : FTR_RECORD_ENTRY, 0);
		assert_int_equal(ring_take(f), 100);
		assert_int_equal(f->out[99].time, time - 1);
		assert_int_equal(f->header->tail, time * 16);
	}
}

static void death_skips_holes(void **state)
{
	struct ring_fixture *f = *state;

	ring_put(f, 10, FTR_RECORD_ENTRY, 0);
	f->head += 2;
	ring_put(f, 20, FTR_RECORD_ENTRY, 2);
	f->head += 1;
	ring_put(f, 30, FTR_RECORD_EXIT, 2);
	assert_int_equal(ring_take(f), 1);
	ftr_ring_end(&f->ring);
	assert_int_equal(ring_take(f), 2);
	assert_int_equal(f->out[0].time, 20);
	assert_int_equal(f->out[1].time, 30);
	assert_int_equal(ring_take(f), 0);
}

static blkcnt_t pages_of(const struct ftr_ring *ring)
{
	struct stat st;

	assert_int_equal(fstat(ring->fd, &st), 0);
	return st.st_blocks / (4096 / 512);
}

#define LARGE_BYTES (4 * 4096u)

/* What nobody wrote to gets no memory by being looked at. */
static void death_leaves_blank_pages(void **state)
{
	static const size_t places[] = { 3, 2 * 256 + 7, 3 * 256 };	/* none in page 1 */
	const struct ring_fixture *f = *state;
	struct ftr_convert convert = { .depth = FTR_CONVERT_DEPTH_UNKNOWN };
	struct ftr_record out[2 * RING_SLOTS];
	struct ftr_ring ring;
	size_t i;

	for (size_t nr = 0; nr <= 3; nr++) {
		assert_int_equal(ftr_ring_open(&ring, LARGE_BYTES, NULL), 0);
		for (i = 0; i < nr; i++)
			ring.data[places[i]] = (struct ftr_record){
				i, ftr_record_word(FTR_RECORD_ENTRY, (unsigned)i, RING_FUNC) };
		ring.data[0] = (struct ftr_record){
			0, ftr_record_word(FTR_RECORD_ENTRY, 0, RING_FUNC) };
		ftr_ring_end(&ring);
		assert_int_equal(ftr_ring_take(&ring, &convert, &f->ticks, out, sizeof(out)) / 16,
				 1 + nr);
		assert_int_equal(pages_of(&ring), 1 + 1 + (nr > 1) + (nr > 2));
		ftr_ring_close(&ring);
	}
}

/*
 * A handler jumped out of the hook: passed over when the thread waits for room behind it, no
 * sooner.
 */
static void waiting_producer_shows_holes(void **state)
{
	struct ring_fixture *f = *state;

	ring_put(f, 10, FTR_RECORD_ENTRY, 0);
	assert_int_equal(ring_take(f), 1);
	f->head += 2;
	while (f->head < RING_SLOTS + 1)
		ring_put(f, 20, f->head % 2 ? FTR_RECORD_ENTRY : FTR_RECORD_EXIT, 1);
	f->header->head = f->head * 16 - 16;		/* an earlier wait */
	assert_int_equal(ring_take(f), 0);
	f->header->head = f->head * 16;
	assert_int_equal(ring_take(f), RING_SLOTS - 2);
	assert_int_equal(f->header->tail, f->head * 16);
	f->head++;					/* waits no more: in the hook just now */
	ring_put(f, 30, FTR_RECORD_EXIT, 0);
	assert_int_equal(ring_take(f), 0);
}

static void dead_full_ring_is_taken_whole(void **state)
{
	struct ring_fixture *f = *state;
	size_t i;

	for (i = 0; i < RING_SLOTS; i++)
		ring_put(f, i, FTR_RECORD_ENTRY, (unsigned)i);
	ftr_ring_end(&f->ring);
	assert_int_equal(ring_take(f), RING_SLOTS);
	assert_int_equal(f->out[RING_SLOTS - 1].time, RING_SLOTS - 1);
	assert_int_equal(ring_take(f), 0);
}

static void time_never_falls_back(void **state)
{
	struct ring_fixture *f = *state;

	ring_put(f, 100, FTR_RECORD_ENTRY, 0);
	ring_put(f, 90, FTR_RECORD_ENTRY, 1);	/* a handler interrupted the hook of this one */
	ring_put(f, 110, FTR_RECORD_EXIT, 1);
	assert_int_equal(ring_take(f), 3);
	ring_check(f, 1, 100, FTR_RECORD_ENTRY, 1);
	ring_check(f, 2, 110, FTR_RECORD_EXIT, 1);
}

/* The handler's call is recorded a frame too deep, before the entry that it interrupted. */
static void depth_is_counted(void **state)
{
	struct ring_fixture *f = *state;

	ring_put(f, 1, FTR_RECORD_ENTRY, 0);
	ring_put(f, 2, FTR_RECORD_ENTRY, 2);
	ring_put(f, 3, FTR_RECORD_EXIT, 2);
	ring_put(f, 4, FTR_RECORD_ENTRY, 1);
	ring_put(f, 5, FTR_RECORD_EXIT, 1);
	ring_put(f, 6, FTR_RECORD_EXIT, 0);
	assert_int_equal(ring_take(f), 6);
	ring_check(f, 1, 2, FTR_RECORD_ENTRY, 1);
	ring_check(f, 2, 3, FTR_RECORD_EXIT, 1);
	ring_check(f, 3, 4, FTR_RECORD_ENTRY, 1);
	ring_check(f, 5, 6, FTR_RECORD_EXIT, 0);
}

static void depth_saturates(void **state)
{
	struct ring_fixture *f = *state;
	unsigned i;

	f->convert.depth = 1020;
	for (i = 0; i < 10; i++)
		ring_put(f, i, FTR_RECORD_ENTRY, 1020 + i < 1023 ? 1020 + i : 1023);
	for (i = 10; i-- > 0;)
		ring_put(f, 20, FTR_RECORD_EXIT, 1020 + i < 1023 ? 1020 + i : 1023);
	ring_put(f, 30, FTR_RECORD_EXIT, 1019);
	assert_int_equal(ring_take(f), 21);
	ring_check(f, 9, 9, FTR_RECORD_ENTRY, 1023);
	ring_check(f, 16, 20, FTR_RECORD_EXIT, 1023);
	ring_check(f, 17, 20, FTR_RECORD_EXIT, 1022);
	ring_check(f, 20, 30, FTR_RECORD_EXIT, 1019);
}

static void lost_is_counted_and_resyncs(void **state)
{
	struct ring_fixture *f = *state;

	atomic_store(&f->ring.header->lost, 7);
	ring_put(f, 50, FTR_RECORD_ENTRY, 0);
	ring_put_word(f, 0, ftr_record_word(FTR_RECORD_LOST, 0, 7));
	ring_put(f, 60, FTR_RECORD_ENTRY, 5);
	assert_int_equal(ring_take(f), 3);
	assert_int_equal(f->convert.lost, 7);
	assert_int_equal(f->out[1].time, 50);
	assert_int_equal(ftr_record_type(f->out[1].word), FTR_RECORD_LOST);
	ring_check(f, 2, 60, FTR_RECORD_ENTRY, 5);
}

/* A program that overruns a stack of its own may leave addresses in a ring. */
static void more_lost_than_counted_is_damage(void **state)
{
	struct ring_fixture *f = *state;

	atomic_store(&f->ring.header->lost, 7);
	ring_put(f, 50, FTR_RECORD_ENTRY, 0);
	ring_put_word(f, 0, ftr_record_word(FTR_RECORD_LOST, 0, 8));
	assert_int_equal(ring_take(f), 1);
	assert_int_equal(f->convert.lost, 0);
	assert_int_equal(f->convert.bad, 1);
}

static void nonsense_is_skipped(void **state)
{
	struct ring_fixture *f = *state;

	ring_put(f, 1, FTR_RECORD_ENTRY, 0);
	ring_put_word(f, 2, UINT64_C(0xffffffffffffffff));
	ring_put_word(f, 3, 1);
	ring_put_word(f, 5, ftr_record_word(FTR_RECORD_EVENT, 1, 200001));
	ring_put(f, 6, FTR_RECORD_EXIT, 0);
	assert_int_equal(ring_take(f), 2);
	assert_int_equal(f->convert.bad, 3);
	ring_check(f, 1, 6, FTR_RECORD_EXIT, 0);
}

static void own_events_pass(void **state)
{
	struct ring_fixture *f = *state;

	ring_put(f, 1, FTR_RECORD_ENTRY, 0);
	ring_put_word(f, 2, ftr_record_word(FTR_RECORD_EVENT, 0, FTR_RECORD_EVENT_STALL_BEGIN));
	assert_int_equal(ring_take(f), 2);
	assert_int_equal(f->convert.events, 1);
	assert_int_equal(f->out[1].word,
			 ftr_record_word(FTR_RECORD_EVENT, 1, FTR_RECORD_EVENT_STALL_BEGIN));
}

/* What is later than the newest pair waits for the next one; absurd times wait for nothing. */
static void future_waits(void **state)
{
	struct ring_fixture *f = *state;

	ftr_tick_map_add(&f->ticks, 100, 100);
	ring_put(f, 90, FTR_RECORD_ENTRY, 0);
	ring_put(f, 120, FTR_RECORD_EXIT, 0);
	assert_int_equal(ring_take(f), 1);
	ftr_tick_map_add(&f->ticks, 200, 200);
	ring_put(f, UINT64_MAX / 2, FTR_RECORD_ENTRY, 0);
	assert_int_equal(ring_take(f), 2);
	ring_check(f, 0, 120, FTR_RECORD_EXIT, 0);
	ring_check(f, 1, 200, FTR_RECORD_ENTRY, 0);
	ring_put(f, 250, FTR_RECORD_EXIT, 0);
	ftr_ring_end(&f->ring);
	assert_int_equal(ring_take(f), 1);
	ring_check(f, 0, 200, FTR_RECORD_EXIT, 0);
}

static void overwritten_starts_with_the_oldest(void **state)
{
	struct ring_fixture *f = *state;
	uint64_t i;

	for (i = 0; i < 3 * RING_SLOTS + 17; i++)
		ring_put(f, 1000 + i * 10 - (i % 5 == 0 ? 25 : 0),
		    i % 2 ? FTR_RECORD_EXIT : FTR_RECORD_ENTRY, 0);
	assert_true(ftr_ring_end_overwritten(&f->ring));
	assert_int_equal(ring_take(f), RING_SLOTS);
	assert_in_range(f->out[0].time, 1000 + (2 * RING_SLOTS + 17) * 10 - 25,
			1000 + (2 * RING_SLOTS + 17) * 10);
	assert_int_equal(f->out[RING_SLOTS - 1].time, 1000 + (3 * RING_SLOTS + 16) * 10);
}

static void overwritten_ring_with_room(void **state)
{
	struct ring_fixture *f = *state;

	f->head = RING_SLOTS - 1;		/* a ring that was handed on near its end */
	ring_put(f, 10, FTR_RECORD_ENTRY, 0);
	ring_put(f, 20, FTR_RECORD_EXIT, 0);
	assert_false(ftr_ring_end_overwritten(&f->ring));
	assert_int_equal(ring_take(f), 2);
	ring_check(f, 0, 10, FTR_RECORD_ENTRY, 0);
	ring_check(f, 1, 20, FTR_RECORD_EXIT, 0);
}

static void next_producer_goes_on(void **state)
{
	struct ring_fixture *f = *state;

	ring_put(f, 10, FTR_RECORD_ENTRY, 0);
	f->head += 3;				/* holes at the end */
	f->header->head = f->head * 16;
	ftr_ring_end(&f->ring);
	assert_int_equal(ring_take(f), 1);
	ftr_ring_renew(&f->ring);
	assert_int_equal(f->header->tail, f->head * 16);
	ring_put(f, 20, FTR_RECORD_ENTRY, 0);
	assert_int_equal(ring_take(f), 1);
	f->header->head = UINT64_MAX & ~15ull;	/* nonsense is not believed */
	ftr_ring_renew(&f->ring);
	assert_int_equal(f->header->tail, f->head * 16);
}

static void sharing_is_seen(void **state)
{
	struct ring_fixture *f = *state;

	assert_true(ftr_ring_is_shared(&f->ring));
	munmap(f->header, FTR_RING_DATA_OFFSET + RING_BYTES);
	f->header = NULL;
	assert_false(ftr_ring_is_shared(&f->ring));
}

/* The producer may ask again when it is told, not when it sees that the ring was emptied. */
static void dump_is_acknowledged(void **state)
{
	struct ring_fixture *f = *state;

	assert_false(ftr_ring_dump_is_reached(&f->ring));
	ring_put(f, 10, FTR_RECORD_ENTRY, 0);
	ring_put(f, 20, FTR_RECORD_EXIT, 0);
	f->header->dump_at = 2 * sizeof(struct ftr_record) + 1;
	assert_false(ftr_ring_dump_is_reached(&f->ring));
	assert_int_equal(ring_take(f), 2);
	assert_int_equal(f->header->dump_seen, 0);
	assert_true(ftr_ring_dump_is_reached(&f->ring));
	assert_int_equal(f->header->dump_seen, f->header->dump_at);
	assert_false(ftr_ring_dump_is_reached(&f->ring));
}

/* A reader of memory that can shrink ends with SIGBUS. */
static void tracee_cannot_resize(void **state)
{
	struct ring_fixture *f = *state;

	assert_int_equal(ftruncate(f->ring.fd, 4096), -1);
	assert_int_equal(ftruncate(f->ring.fd, 1 << 20), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RING_TEST(takes_what_is_committed),
		RING_TEST(goes_round_and_round),
		RING_TEST(death_skips_holes),
		RING_TEST(death_leaves_blank_pages),
		RING_TEST(waiting_producer_shows_holes),
		RING_TEST(dead_full_ring_is_taken_whole),
		RING_TEST(time_never_falls_back),
		RING_TEST(depth_is_counted),
		RING_TEST(depth_saturates),
		RING_TEST(lost_is_counted_and_resyncs),
		RING_TEST(more_lost_than_counted_is_damage),
		RING_TEST(nonsense_is_skipped),
		RING_TEST(own_events_pass),
		RING_TEST(future_waits),
		RING_TEST(overwritten_starts_with_the_oldest),
		RING_TEST(overwritten_ring_with_room),
		RING_TEST(next_producer_goes_on),
		RING_TEST(sharing_is_seen),
		RING_TEST(dump_is_acknowledged),
		RING_TEST(tracee_cannot_resize),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

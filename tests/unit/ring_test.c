/* SPDX-License-Identifier: MIT */
/* The recorder's end of a ring, with a producer that is the test itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "utils/record/ring.h"

#define BYTES 4096u
#define SLOTS (BYTES / 16)
#define MAIN  0x400100
#define FUNC  0x400200

struct fixture {
	struct ftr_ring ring;
	struct ftr_convert convert;
	struct ftr_tick_map ticks;
	struct ftr_ring_header *header;		/* the producer's mapping */
	struct ftr_record *data;
	uint64_t head;				/* in slots */
	struct ftr_record out[2 * SLOTS];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	size_t total = FTR_RING_DATA_OFFSET + BYTES;

	assert_int_equal(ftr_ring_open(&f->ring, BYTES, NULL), 0);
	f->header = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, f->ring.fd, 0);
	assert_ptr_not_equal(f->header, MAP_FAILED);
	f->data = (struct ftr_record *)((char *)f->header + FTR_RING_DATA_OFFSET);
	assert_int_equal(f->header->magic, FTR_RING_MAGIC);
	assert_int_equal(f->header->size_bytes, BYTES);
	assert_int_equal(ftr_tick_map_init(&f->ticks, true), 0);
	f->convert.depth = FTR_DEPTH_UNKNOWN;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->header != NULL)
		munmap(f->header, FTR_RING_DATA_OFFSET + BYTES);
	ftr_ring_close(&f->ring);
	ftr_tick_map_fini(&f->ticks);
	free(f);
	return 0;
}

static void put_word(struct fixture *f, uint64_t time, uint64_t word)
{
	f->data[f->head % SLOTS] = (struct ftr_record){ time, word };
	f->head++;
}

static void put(struct fixture *f, uint64_t time, enum ftr_record_type type, unsigned depth)
{
	put_word(f, time, ftr_record_word(type, depth, FUNC));
}

static size_t take(struct fixture *f)
{
	return ftr_ring_take(&f->ring, &f->convert, &f->ticks, f->out, 2 * SLOTS);
}

static void check(const struct fixture *f, size_t i, uint64_t time, enum ftr_record_type type,
		  unsigned depth)
{
	assert_int_equal(f->out[i].time, time);
	assert_int_equal(f->out[i].word, ftr_record_word(type, depth, FUNC));
}

static void takes_what_is_committed(void **state)
{
	struct fixture *f = *state;

	put(f, 10, FTR_RECORD_ENTRY, 0);
	put(f, 20, FTR_RECORD_EXIT, 0);
	f->head++;			/* reserved, not yet committed */
	put(f, 40, FTR_RECORD_ENTRY, 0);
	assert_int_equal(take(f), 2);
	check(f, 0, 10, FTR_RECORD_ENTRY, 0);
	check(f, 1, 20, FTR_RECORD_EXIT, 0);
	assert_int_equal(f->data[0].word, 0);
	assert_int_equal(f->data[1].word, 0);
	assert_int_equal(f->header->tail, 32);
	assert_int_equal(take(f), 0);
	f->data[2] = (struct ftr_record){ 30, ftr_record_word(FTR_RECORD_ENTRY, 0, FUNC) };
	assert_int_equal(take(f), 2);
	check(f, 0, 30, FTR_RECORD_ENTRY, 0);
	check(f, 1, 40, FTR_RECORD_ENTRY, 0);	/* a smaller depth: the frame above was abandoned */
}

static void goes_round_and_round(void **state)
{
	struct fixture *f = *state;
	uint64_t time = 0;
	int lap;
	size_t i;

	for (lap = 0; lap < 50; lap++) {
		for (i = 0; i < 100; i++, time++)
			put(f, time, i % 2 ? FTR_RECORD_EXIT : FTR_RECORD_ENTRY, 0);
		assert_int_equal(take(f), 100);
		assert_int_equal(f->out[99].time, time - 1);
		assert_int_equal(f->header->tail, time * 16);
	}
}

static void death_skips_holes(void **state)
{
	struct fixture *f = *state;

	put(f, 10, FTR_RECORD_ENTRY, 0);
	f->head += 2;
	put(f, 20, FTR_RECORD_ENTRY, 2);
	f->head += 1;
	put(f, 30, FTR_RECORD_EXIT, 2);
	assert_int_equal(take(f), 1);
	ftr_ring_end(&f->ring);
	assert_int_equal(take(f), 2);
	assert_int_equal(f->out[0].time, 20);
	assert_int_equal(f->out[1].time, 30);
	assert_int_equal(take(f), 0);
}

/*
 * A handler jumped out of the hook: passed over when the thread waits for room behind it, no
 * sooner.
 */
static void waiting_producer_shows_holes(void **state)
{
	struct fixture *f = *state;

	put(f, 10, FTR_RECORD_ENTRY, 0);
	assert_int_equal(take(f), 1);
	f->head += 2;
	while (f->head < SLOTS + 1)
		put(f, 20, f->head % 2 ? FTR_RECORD_ENTRY : FTR_RECORD_EXIT, 1);
	f->header->head = f->head * 16 - 16;		/* an earlier wait */
	assert_int_equal(take(f), 0);
	f->header->head = f->head * 16;
	assert_int_equal(take(f), SLOTS - 2);
	assert_int_equal(f->header->tail, f->head * 16);
	f->head++;					/* waits no more: in the hook just now */
	put(f, 30, FTR_RECORD_EXIT, 0);
	assert_int_equal(take(f), 0);
}

static void dead_full_ring_is_taken_whole(void **state)
{
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < SLOTS; i++)
		put(f, i, FTR_RECORD_ENTRY, (unsigned)i);
	ftr_ring_end(&f->ring);
	assert_int_equal(take(f), SLOTS);
	assert_int_equal(f->out[SLOTS - 1].time, SLOTS - 1);
	assert_int_equal(take(f), 0);
}

static void time_never_falls_back(void **state)
{
	struct fixture *f = *state;

	put(f, 100, FTR_RECORD_ENTRY, 0);
	put(f, 90, FTR_RECORD_ENTRY, 1);	/* a handler interrupted the hook of this one */
	put(f, 110, FTR_RECORD_EXIT, 1);
	assert_int_equal(take(f), 3);
	check(f, 1, 100, FTR_RECORD_ENTRY, 1);
	check(f, 2, 110, FTR_RECORD_EXIT, 1);
}

/* The handler's call is recorded a frame too deep, before the entry that it interrupted. */
static void depth_is_counted(void **state)
{
	struct fixture *f = *state;

	put(f, 1, FTR_RECORD_ENTRY, 0);
	put(f, 2, FTR_RECORD_ENTRY, 2);
	put(f, 3, FTR_RECORD_EXIT, 2);
	put(f, 4, FTR_RECORD_ENTRY, 1);
	put(f, 5, FTR_RECORD_EXIT, 1);
	put(f, 6, FTR_RECORD_EXIT, 0);
	assert_int_equal(take(f), 6);
	check(f, 1, 2, FTR_RECORD_ENTRY, 1);
	check(f, 2, 3, FTR_RECORD_EXIT, 1);
	check(f, 3, 4, FTR_RECORD_ENTRY, 1);
	check(f, 5, 6, FTR_RECORD_EXIT, 0);
}

static void depth_saturates(void **state)
{
	struct fixture *f = *state;
	unsigned i;

	f->convert.depth = 1020;
	for (i = 0; i < 10; i++)
		put(f, i, FTR_RECORD_ENTRY, 1020 + i < 1023 ? 1020 + i : 1023);
	for (i = 10; i-- > 0;)
		put(f, 20, FTR_RECORD_EXIT, 1020 + i < 1023 ? 1020 + i : 1023);
	put(f, 30, FTR_RECORD_EXIT, 1019);
	assert_int_equal(take(f), 21);
	check(f, 9, 9, FTR_RECORD_ENTRY, 1023);
	check(f, 16, 20, FTR_RECORD_EXIT, 1023);
	check(f, 17, 20, FTR_RECORD_EXIT, 1022);
	check(f, 20, 30, FTR_RECORD_EXIT, 1019);
}

static void lost_is_counted_and_resyncs(void **state)
{
	struct fixture *f = *state;

	put(f, 50, FTR_RECORD_ENTRY, 0);
	put_word(f, 0, ftr_record_word(FTR_RECORD_LOST, 0, 7));
	put(f, 60, FTR_RECORD_ENTRY, 5);
	assert_int_equal(take(f), 3);
	assert_int_equal(f->convert.lost, 7);
	assert_int_equal(f->out[1].time, 50);
	assert_int_equal(ftr_record_type(f->out[1].word), FTR_RECORD_LOST);
	check(f, 2, 60, FTR_RECORD_ENTRY, 5);
}

static void nonsense_is_skipped(void **state)
{
	struct fixture *f = *state;

	put(f, 1, FTR_RECORD_ENTRY, 0);
	put_word(f, 2, UINT64_C(0xffffffffffffffff));
	put_word(f, 3, 1);
	put_word(f, 4, ftr_record_word(FTR_RECORD_ENTRY, 1, FUNC) | FTR_RECORD_MORE);
	put_word(f, 5, ftr_record_word(FTR_RECORD_EVENT, 1, 200001));
	put(f, 6, FTR_RECORD_EXIT, 0);
	assert_int_equal(take(f), 2);
	assert_int_equal(f->convert.bad, 4);
	check(f, 1, 6, FTR_RECORD_EXIT, 0);
}

static void own_events_pass(void **state)
{
	struct fixture *f = *state;

	put(f, 1, FTR_RECORD_ENTRY, 0);
	put_word(f, 2, ftr_record_word(FTR_RECORD_EVENT, 0, FTR_RECORD_EVENT_STALL_BEGIN));
	assert_int_equal(take(f), 2);
	assert_int_equal(f->convert.events, 1);
	assert_int_equal(f->out[1].word,
			 ftr_record_word(FTR_RECORD_EVENT, 1, FTR_RECORD_EVENT_STALL_BEGIN));
}

/* What is later than the newest pair waits for the next one; absurd times wait for nothing. */
static void future_waits(void **state)
{
	struct fixture *f = *state;

	ftr_tick_map_add(&f->ticks, 100, 100);
	put(f, 90, FTR_RECORD_ENTRY, 0);
	put(f, 120, FTR_RECORD_EXIT, 0);
	assert_int_equal(take(f), 1);
	ftr_tick_map_add(&f->ticks, 200, 200);
	put(f, UINT64_MAX / 2, FTR_RECORD_ENTRY, 0);
	assert_int_equal(take(f), 2);
	check(f, 0, 120, FTR_RECORD_EXIT, 0);
	check(f, 1, 200, FTR_RECORD_ENTRY, 0);
	put(f, 250, FTR_RECORD_EXIT, 0);
	ftr_ring_end(&f->ring);
	assert_int_equal(take(f), 1);
	check(f, 0, 200, FTR_RECORD_EXIT, 0);
}

static void overwritten_starts_with_the_oldest(void **state)
{
	struct fixture *f = *state;
	uint64_t i;

	for (i = 0; i < 3 * SLOTS + 17; i++)
		put(f, 1000 + i * 10 - (i % 5 == 0 ? 25 : 0),
		    i % 2 ? FTR_RECORD_EXIT : FTR_RECORD_ENTRY, 0);
	assert_true(ftr_ring_end_overwritten(&f->ring));
	assert_int_equal(take(f), SLOTS);
	assert_in_range(f->out[0].time, 1000 + (2 * SLOTS + 17) * 10 - 25,
			1000 + (2 * SLOTS + 17) * 10);
	assert_int_equal(f->out[SLOTS - 1].time, 1000 + (3 * SLOTS + 16) * 10);
}

static void overwritten_ring_with_room(void **state)
{
	struct fixture *f = *state;

	f->head = SLOTS - 1;		/* a ring that was handed on near its end */
	put(f, 10, FTR_RECORD_ENTRY, 0);
	put(f, 20, FTR_RECORD_EXIT, 0);
	assert_false(ftr_ring_end_overwritten(&f->ring));
	assert_int_equal(take(f), 2);
	check(f, 0, 10, FTR_RECORD_ENTRY, 0);
	check(f, 1, 20, FTR_RECORD_EXIT, 0);
}

static void next_producer_goes_on(void **state)
{
	struct fixture *f = *state;

	put(f, 10, FTR_RECORD_ENTRY, 0);
	f->head += 3;				/* holes at the end */
	f->header->head = f->head * 16;
	ftr_ring_end(&f->ring);
	assert_int_equal(take(f), 1);
	ftr_ring_renew(&f->ring);
	assert_int_equal(f->header->tail, f->head * 16);
	put(f, 20, FTR_RECORD_ENTRY, 0);
	assert_int_equal(take(f), 1);
	f->header->head = UINT64_MAX & ~15ull;	/* nonsense is not believed */
	ftr_ring_renew(&f->ring);
	assert_int_equal(f->header->tail, f->head * 16);
}

static void sharing_is_seen(void **state)
{
	struct fixture *f = *state;

	assert_true(ftr_ring_is_shared(&f->ring));
	munmap(f->header, FTR_RING_DATA_OFFSET + BYTES);
	f->header = NULL;
	assert_false(ftr_ring_is_shared(&f->ring));
}

/* A reader of memory that can shrink ends with SIGBUS. */
static void tracee_cannot_resize(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ftruncate(f->ring.fd, 4096), -1);
	assert_int_equal(ftruncate(f->ring.fd, 1 << 20), -1);
}

#define RING_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RING_TEST(takes_what_is_committed),
		RING_TEST(goes_round_and_round),
		RING_TEST(death_skips_holes),
		RING_TEST(waiting_producer_shows_holes),
		RING_TEST(dead_full_ring_is_taken_whole),
		RING_TEST(time_never_falls_back),
		RING_TEST(depth_is_counted),
		RING_TEST(depth_saturates),
		RING_TEST(lost_is_counted_and_resyncs),
		RING_TEST(nonsense_is_skipped),
		RING_TEST(own_events_pass),
		RING_TEST(future_waits),
		RING_TEST(overwritten_starts_with_the_oldest),
		RING_TEST(overwritten_ring_with_room),
		RING_TEST(next_producer_goes_on),
		RING_TEST(sharing_is_seen),
		RING_TEST(tracee_cannot_resize),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

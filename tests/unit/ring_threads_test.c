/* SPDX-License-Identifier: MIT */
/*
 * Both ends of a ring at once, as they ship: libmcount's in one thread, the recorder's in another,
 * in the same memory, so that ThreadSanitizer (--enable-sanitizers=thread) sees every access of
 * both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "libmcount/state.h"
#include "utils/base/rt/sys.h"
#include "utils/record/ring.h"

#define RING_BYTES 4096u
#define CALLS 200000u
#define HOLE_EVERY 1000u	/* reserved, and never filled */
#define BATCH 64u

struct fixture {
	struct ftr_control control;
	struct ftr_ring ring;
	struct ftr_tick_map ticks;
	struct ftr_producer producer;
	bool has_holes;
	atomic_bool is_over;
};

/* The hook's fast path. */
static void put(struct fixture *f, struct ftr_thread *self, uint64_t word)
{
	uint64_t pos = ftr_arch_local_add(&f->producer.head, sizeof(struct ftr_record));
	struct ftr_record *record;

	if (pos >= f->producer.limit) {
		ftr_ring_put_slow(self, pos, word);
		return;
	}
	record = ftr_producer_record(&f->producer, pos);
	record->time = ftr_arch_ticks();
	__atomic_store_n(&record->word, word, __ATOMIC_RELEASE);
}

static void *produce(void *arg)
{
	struct fixture *f = arg;
	struct ftr_thread *self = &ftr_self;
	uint64_t i;

	self->producer = &f->producer;
	for (i = 1; i <= CALLS; i++) {
		put(f, self, ftr_record_word(FTR_RECORD_ENTRY, 0, i));
		if (f->has_holes && i % HOLE_EVERY == 0)
			ftr_arch_local_add(&f->producer.head, sizeof(struct ftr_record));
		put(f, self, ftr_record_word(FTR_RECORD_EXIT, 0, i));
	}
	atomic_store(&f->is_over, true);
	return NULL;
}

/* Every call once and in order; events are of waits for room. */
static uint64_t check(const struct ftr_record *records, size_t nr, uint64_t expected)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (ftr_record_type(records[i].word) == FTR_RECORD_EVENT)
			continue;
		assert_int_equal(ftr_record_addr(records[i].word), expected / 2 + 1);
		assert_int_equal(ftr_record_type(records[i].word), expected % 2);
		expected++;
	}
	return expected;
}

static void consume(struct fixture *f)
{
	struct ftr_convert convert = { .depth = FTR_DEPTH_UNKNOWN };
	struct ftr_record records[BATCH];
	uint64_t expected = 0;
	size_t nr;
	bool is_over;

	do {
		is_over = atomic_load(&f->is_over);
		if (is_over)
			ftr_ring_end(&f->ring);
		nr = ftr_ring_take(&f->ring, &convert, &f->ticks, records, BATCH);
		expected = check(records, nr, expected);
		if (nr == 0)
			sched_yield();
	} while (nr > 0 || !is_over);
	assert_int_equal(expected, 2 * CALLS);
	assert_int_equal(convert.lost + convert.bad, 0);
}

static void run(bool has_holes)
{
	struct fixture *f = calloc(1, sizeof(*f));
	pthread_t thread;

	assert_non_null(f);
	f->has_holes = has_holes;
	f->control = (struct ftr_control){ .on_full = FTR_ON_FULL_WAIT, .ticks_per_ms = 3000000,
					   .wait_ms = 60000 };
	ftr_state = (struct ftr_state){ .arming = FTR_ARMED, .control = &f->control };
	assert_int_equal(ftr_ring_open(&f->ring, RING_BYTES, NULL), 0);
	assert_int_equal(ftr_tick_map_init(&f->ticks, true), 0);
	f->producer.header = f->ring.header;
	f->producer.data = (uint64_t)f->ring.data - (uint64_t)&f->producer;
	f->producer.mask = RING_BYTES - 1;
	ftr_ring_update_limit(&f->producer);
	assert_int_equal(pthread_create(&thread, NULL, produce, f), 0);
	consume(f);
	pthread_join(thread, NULL);
	ftr_tick_map_fini(&f->ticks);
	ftr_ring_close(&f->ring);
	free(f);
}

static void test_every_record_once(void **state)
{
	run(false);
}

static void test_holes_are_passed(void **state)
{
	run(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_record_once),
		cmocka_unit_test(test_holes_are_passed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

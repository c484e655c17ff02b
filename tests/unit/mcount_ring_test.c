/* SPDX-License-Identifier: MIT */
/* The producer's slow path against a consumer that this test plays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "libmcount/state.h"

#define RING_BYTES 4096u
#define RECORDS (RING_BYTES / sizeof(struct ftr_record))

struct fixture {
	struct ftr_control control;
	struct ftr_ring_header header;
	struct ftr_record data[RECORDS];
	struct ftr_producer producer;
	struct ftr_thread thread;
};

static struct fixture *setup(enum ftr_on_full on_full)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->control.on_full = on_full;
	f->control.ticks_per_ms = 1000000;
	f->control.wait_ms = 50;
	f->producer.mask = RING_BYTES - 1;
	f->producer.data = (uint64_t)f->data - (uint64_t)&f->producer;
	f->producer.header = &f->header;
	f->thread.producer = &f->producer;
	ftr_state = (struct ftr_state){ .arming = FTR_ARMED, .control = &f->control };
	ftr_ring_update_limit(&f->producer);
	return f;
}

/* As the hook's fast path does. */
static void put(struct fixture *f, uint64_t addr)
{
	uint64_t word = ftr_record_word(FTR_RECORD_ENTRY, 0, addr);
	uint64_t pos = f->producer.head;
	struct ftr_record *record = &f->data[(pos & f->producer.mask) / sizeof(*record)];

	f->producer.head += sizeof(*record);
	if (pos >= f->producer.limit) {
		ftr_ring_put_slow(&f->thread, pos, word);
		return;
	}
	*record = (struct ftr_record){ addr, word };
}

/* Take one record as the recorder does; false when there is none. */
static bool take(struct fixture *f, struct ftr_record *record)
{
	uint64_t tail = atomic_load(&f->header.tail);
	struct ftr_record *slot = &f->data[(tail & f->producer.mask) / sizeof(*slot)];

	record->word = __atomic_load_n(&slot->word, __ATOMIC_ACQUIRE);
	if (record->word == 0)
		return false;
	record->time = slot->time;
	__atomic_store_n(&slot->word, 0, __ATOMIC_RELAXED);
	atomic_store(&f->header.tail, tail + sizeof(*slot));
	return true;
}

static void test_drop_counts_and_tells(void **state)
{
	struct fixture *f = setup(FTR_ON_FULL_DROP);
	struct ftr_record record;
	uint64_t i;

	for (i = 1; i <= RECORDS + 7; i++)
		put(f, i);
	assert_int_equal(atomic_load(&f->header.lost), 7);
	assert_int_equal(f->producer.head, RING_BYTES);	/* positions were given back */
	for (i = 1; i <= 3; i++)
		assert_true(take(f, &record));
	put(f, 1000);					/* room for the count and for it */
	for (i = 4; i <= RECORDS; i++) {
		assert_true(take(f, &record));
		assert_int_equal(ftr_record_addr(record.word), i);
	}
	assert_true(take(f, &record));
	assert_int_equal(ftr_record_type(record.word), FTR_RECORD_LOST);
	assert_int_equal(ftr_record_addr(record.word), 7);
	assert_true(take(f, &record));
	assert_int_equal(ftr_record_addr(record.word), 1000);
	assert_false(take(f, &record));
	free(f);
}

static void *consume(void *arg)
{
	struct fixture *f = arg;
	uint64_t expected = 1, stalls = 0;
	struct ftr_record record;

	while (expected <= 10 * RECORDS) {
		if (!take(f, &record)) {
			usleep(100);
			continue;
		}
		if (ftr_record_type(record.word) == FTR_RECORD_EVENT) {
			stalls++;
			continue;
		}
		if (ftr_record_addr(record.word) != expected)
			return "out of order";
		expected++;
	}
	return stalls % 2 == 0 ? NULL : "a wait without its end";
}

static void test_wait_loses_nothing(void **state)
{
	struct fixture *f = setup(FTR_ON_FULL_WAIT);
	pthread_t consumer;
	void *failure;
	uint64_t i;

	f->control.wait_ms = 10000;
	pthread_create(&consumer, NULL, consume, f);
	for (i = 1; i <= 10 * RECORDS; i++)
		put(f, i);
	pthread_join(consumer, &failure);
	assert_null(failure);
	assert_int_equal(atomic_load(&f->header.lost), 0);
	free(f);
}

static void test_wait_is_bounded(void **state)
{
	struct fixture *f = setup(FTR_ON_FULL_WAIT);
	struct ftr_record record;
	uint64_t i;

	for (i = 1; i <= RECORDS + 2; i++)
		put(f, i);
	assert_int_equal(atomic_load(&f->header.lost), 2);
	assert_false(f->thread.is_refused);
	for (i = 1; i <= 100000; i++)	/* nobody waits again before the recorder has come back */
		put(f, i);
	assert_int_equal(atomic_load(&f->header.lost), 100002);
	assert_true(take(f, &record));
	assert_true(take(f, &record));
	put(f, 1);
	assert_int_equal(atomic_load(&f->header.lost), 100002);
	free(f);
}

static void test_dead_recorder_disarms(void **state)
{
	struct fixture *f = setup(FTR_ON_FULL_WAIT);
	uint64_t i;

	f->control.wait_ms = 1000000;
	atomic_store(&f->control.recorder_futex, 0x40000000u | 1234);
	for (i = 1; i <= RECORDS + 1; i++)
		put(f, i);
	assert_true(f->thread.is_refused);
	assert_int_equal(atomic_load(&ftr_state.arming), FTR_DISARMED);
	free(f);
}

static void test_overwrite_never_waits(void **state)
{
	struct fixture *f = setup(FTR_ON_FULL_OVERWRITE);
	uint64_t i;

	for (i = 1; i <= 3 * RECORDS + 5; i++)
		put(f, i);
	assert_int_equal(ftr_record_addr(f->data[4].word), 3 * RECORDS + 5);
	assert_int_equal(ftr_record_addr(f->data[5].word), 2 * RECORDS + 6);
	free(f);
}

static void test_counter_clock(void **state)
{
	struct fixture *f = setup(FTR_ON_FULL_WAIT);

	f->control.clock = FTR_CONTROL_CLOCK_COUNTER;
	ftr_ring_update_limit(&f->producer);
	put(f, 1);
	put(f, 2);
	assert_int_equal(f->data[1].time - f->data[0].time, 1000);
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drop_counts_and_tells),
		cmocka_unit_test(test_wait_loses_nothing),
		cmocka_unit_test(test_wait_is_bounded),
		cmocka_unit_test(test_dead_recorder_disarms),
		cmocka_unit_test(test_overwrite_never_waits),
		cmocka_unit_test(test_counter_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

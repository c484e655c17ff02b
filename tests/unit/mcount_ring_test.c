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
	struct ftr_frame frame;
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

/* Records with a payload. */

#define EVENT_WORD ftr_record_word(FTR_RECORD_EVENT, 0, 42)

static void put_bytes(struct fixture *f, uint32_t bytes)
{
	uint8_t payload[FTR_PAYLOAD_MAX];
	uint32_t i;

	for (i = 0; i < bytes; i++)
		payload[i] = (uint8_t)(bytes + i);
	ftr_record_put(&f->thread, EVENT_WORD, payload, bytes);
}

/* A record as put_bytes writes it, taken from the ring: its number of bytes; -1 = there is none. */
static int take_bytes(struct fixture *f)
{
	uint8_t bytes[FTR_PAYLOAD_UNIT_BYTES];
	struct ftr_record unit;
	int nr = 0, i, last;

	if (!take(f, &unit) || unit.word != (EVENT_WORD | FTR_RECORD_MORE))
		return -1;
	do {
		if (!take(f, &unit) || !ftr_payload_is_unit(unit.word))
			return -1;
		last = (int)ftr_payload_last(unit.word);
		ftr_payload_unpack(unit, bytes);
		for (i = 0; i < (last != 0 ? last : (int)sizeof(bytes)); i++)
			bytes[i] = (uint8_t)(bytes[i] - nr++);
	} while (last == 0);
	for (i = 0; i < last; i++)
		assert_int_equal(bytes[i], (uint8_t)nr);
	return nr;
}

static struct fixture *setup_recording(enum ftr_on_full on_full)
{
	struct fixture *f = setup(on_full);

	f->thread.frames = &f->frame;
	f->thread.frames_end = &f->frame + 1;
	return f;
}

static void test_payloads(void **state)
{
	struct fixture *f = setup_recording(FTR_ON_FULL_WAIT);
	struct ftr_record record;
	uint32_t bytes;

	for (bytes = 1; bytes <= FTR_PAYLOAD_MAX; bytes++) {
		put_bytes(f, bytes);
		assert_int_equal(take_bytes(f), bytes);
	}
	put_bytes(f, 0);
	assert_true(take(f, &record));
	assert_int_equal(record.word, EVENT_WORD);
	assert_false(take(f, &record));
	ftr_record_put(&f->thread, EVENT_WORD, f, FTR_PAYLOAD_MAX + 1);
	assert_false(take(f, &record));
	assert_int_equal(atomic_load(&f->header.lost), 1);
	free(f);
}

/* Payloads of whole words arrive as others do. */
static void test_words(void **state)
{
	struct fixture *f = setup_recording(FTR_ON_FULL_WAIT);
	uint64_t words[FTR_PAYLOAD_MAX / 8 + 3];
	uint32_t bytes, i;

	for (bytes = 8; bytes <= FTR_PAYLOAD_MAX; bytes += 8) {
		memset(words, 0, sizeof(words));
		for (i = 0; i < bytes; i++)
			((uint8_t *)words)[i] = (uint8_t)(bytes + i);
		ftr_record_put_words(&f->thread, EVENT_WORD, 7, words, bytes);
		assert_int_equal(f->data[(f->producer.head - ftr_record_ring_bytes(bytes)) %
					 RING_BYTES / sizeof(struct ftr_record)].time, 7);
		assert_int_equal(take_bytes(f), bytes);
	}
	free(f);
}

/* All or nothing, and what is dropped is reported where there is room again. */
static void test_payload_is_dropped_whole(void **state)
{
	struct fixture *f = setup_recording(FTR_ON_FULL_DROP);
	struct ftr_record record;
	uint64_t i;

	for (i = 0; i < RECORDS - 3; i++)
		put(f, i + 1);
	put_bytes(f, 50);			/* 5 units, and 3 are free */
	assert_int_equal(atomic_load(&f->header.lost), 1);
	assert_int_equal(f->producer.head, RING_BYTES - 3 * 16);
	for (i = 0; i < 10; i++)
		assert_true(take(f, &record));
	put_bytes(f, 50);
	while (take(f, &record) && ftr_record_type(record.word) == FTR_RECORD_ENTRY)
		i++;
	assert_int_equal(i, RECORDS - 3);
	assert_int_equal(record.word, ftr_record_word(FTR_RECORD_LOST, 0, 1));
	for (i = 0; i < 4; i++) {		/* the rest of the extent that LOST used */
		assert_true(take(f, &record));
		assert_true(ftr_payload_is_unit(record.word));
	}
	assert_int_equal(take_bytes(f), 50);
	free(f);
}

/* An old record must not get the new one's payload units, even if that is never committed. */
static void test_payload_overwrites(void **state)
{
	struct fixture *f = setup_recording(FTR_ON_FULL_OVERWRITE);
	uint64_t i;

	for (i = 0; i < RECORDS; i++)
		put(f, i + 1);
	put_bytes(f, 20);
	assert_int_equal(f->data[0].word, EVENT_WORD | FTR_RECORD_MORE);
	assert_true(ftr_payload_is_unit(f->data[1].word));
	assert_true(ftr_payload_is_unit(f->data[2].word));
	assert_int_equal(ftr_record_addr(f->data[3].word), 4);
	free(f);
}

/* As for a child that is forked by a handler in the middle: fork has wiped the producer's page. */
static void test_wiped_producer_harms_nothing(void **state)
{
	struct fixture *f = setup_recording(FTR_ON_FULL_WAIT);
	struct ftr_producer wiped = { .limit = UINT64_MAX };
	size_t i;

	f->thread.producer = &wiped;
	put_bytes(f, FTR_PAYLOAD_MAX);
	assert_int_equal(wiped.scrap.word, EVENT_WORD | FTR_RECORD_MORE);
	assert_int_equal(wiped.limit, UINT64_MAX);
	assert_null(wiped.header);
	for (i = 0; i < RECORDS; i++)
		assert_int_equal(f->data[i].word, 0);
	free(f);
}

static void test_paused_thread_puts_nothing(void **state)
{
	struct fixture *f = setup_recording(FTR_ON_FULL_WAIT);

	f->thread.frames_end = f->thread.frames;	/* as ftr_thread_pause does */
	put_bytes(f, 1);
	assert_int_equal(f->producer.head, 0);
	f->thread.frames_end++;
	put_bytes(f, 1);
	assert_int_equal(take_bytes(f), 1);
	free(f);
}

static void *consume_bytes(void *arg)
{
	struct fixture *f = arg;
	uint64_t expected = 0, stalls = 0, rest = 0;
	struct ftr_record record;

	while (expected < 2000) {
		if (!take(f, &record)) {
			usleep(100);
			continue;
		}
		if (ftr_payload_is_unit(record.word)) {
			if (rest > 0)
				rest--;		/* others are of an extent that a stall used */
		} else if (rest > 0) {
			return "a record without its payload";
		} else if (ftr_record_has_payload(record.word)) {
			rest = ftr_payload_units(1 + (uint32_t)expected++ * 37 % FTR_PAYLOAD_MAX);
		} else {
			stalls++;
		}
	}
	return stalls % 2 == 0 ? NULL : "a stall without its end";
}

static void test_payloads_wait(void **state)
{
	struct fixture *f = setup_recording(FTR_ON_FULL_WAIT);
	pthread_t consumer;
	void *failure;
	uint32_t i;

	f->control.wait_ms = 10000;
	pthread_create(&consumer, NULL, consume_bytes, f);
	for (i = 0; i < 2000; i++)
		put_bytes(f, 1 + i * 37 % FTR_PAYLOAD_MAX);
	pthread_join(consumer, &failure);
	assert_null(failure);
	assert_int_equal(atomic_load(&f->header.lost), 0);
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
		cmocka_unit_test(test_payloads),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_payload_is_dropped_whole),
		cmocka_unit_test(test_payload_overwrites),
		cmocka_unit_test(test_wiped_producer_harms_nothing),
		cmocka_unit_test(test_paused_thread_puts_nothing),
		cmocka_unit_test(test_payloads_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

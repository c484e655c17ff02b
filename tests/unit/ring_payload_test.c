/* SPDX-License-Identifier: MIT */
/* The recorder's end of a ring: records with a payload. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/ring_util.h"
#include "utils/trace/event_kind.h"

/* A record with a payload as ftr_record_put writes it; @units of its payload units are written. */
static uint64_t put_units(struct ring_fixture *f, const uint8_t *payload, uint32_t bytes,
			  uint32_t units)
{
	uint64_t pos = f->head;
	uint32_t at;

	f->head += ftr_record_ring_bytes(bytes) / 16;
	for (at = 0; at < bytes && units > 0; at += FTR_PAYLOAD_UNIT_BYTES, units--)
		f->data[++pos % RING_SLOTS] = ftr_payload_pack(payload + at, bytes - at);
	return f->head - ftr_record_ring_bytes(bytes) / 16;
}

static void put_payload(struct ring_fixture *f, uint64_t time, uint64_t word, const void *payload,
			uint32_t bytes)
{
	uint64_t pos = put_units(f, payload, bytes, UINT32_MAX);

	f->data[pos % RING_SLOTS] = (struct ftr_record){ time, word | FTR_RECORD_MORE };
}

static void put_unit(struct ring_fixture *f, unsigned last)
{
	ring_put_word(f, UINT64_MAX,
		      UINT64_MAX << FTR_PAYLOAD_BYTES_SHIFT | FTR_PAYLOAD_TAG | last);
}

static const uint64_t entry_word = UINT64_C(0x28) | (uint64_t)RING_FUNC << FTR_RECORD_ADDR_SHIFT;

static void fill(uint8_t *bytes, size_t nr, unsigned seed)
{
	size_t i;

	for (i = 0; i < nr; i++)
		bytes[i] = (uint8_t)(seed + 7 * i + i / 251);
}

static void all_units_are_free(const struct ring_fixture *f)
{
	size_t i;

	for (i = 0; i < RING_SLOTS; i++)
		assert_int_equal(f->data[i].word, 0);
}

/* Every length there is, all the way round the ring, padded with zeros. */
static void payload_of_every_length(void **state)
{
	struct ring_fixture *f = *state;
	uint8_t payload[FTR_PAYLOAD_MAX], file[FTR_RECORD_FILE_BYTES_MAX];
	size_t bytes, padded;

	for (bytes = 1; bytes <= FTR_PAYLOAD_MAX; bytes++) {
		padded = (bytes + 7) / 8 * 8;
		memset(file, 0, sizeof(file));
		fill(file, bytes, (unsigned)bytes);
		fill(payload, bytes, (unsigned)bytes);
		put_payload(f, bytes, entry_word, payload, (uint32_t)bytes);
		ring_put(f, bytes, FTR_RECORD_EXIT, 0);
		assert_int_equal(ftr_ring_take(&f->ring, &f->convert, &f->ticks, f->out,
					       sizeof(f->out)), 32 + padded);
		assert_int_equal(f->out[0].time, bytes);
		assert_int_equal(f->out[0].word, entry_word | FTR_RECORD_MORE);
		assert_memory_equal(&f->out[1], file, padded);
		assert_int_equal(f->header->tail, f->head * 16);
	}
	all_units_are_free(f);
	assert_int_equal(f->convert.bad, 0);
	assert_int_equal(f->convert.records, 2 * FTR_PAYLOAD_MAX);
}

/* The file says how long the data of an event is. */
static void event_payload_has_its_length(void **state)
{
	static const uint8_t expected[8] = { 4, 0, 3, 0, 0, 0 };
	struct ring_fixture *f = *state;
	int32_t cpu = 3;

	put_payload(f, 5, ftr_record_word(FTR_RECORD_EVENT, 0, FTR_EVENT_ID_WATCH_CPU), &cpu,
		    sizeof(cpu));
	assert_int_equal(ftr_ring_take(&f->ring, &f->convert, &f->ticks, f->out, sizeof(f->out)),
			 24);
	assert_int_equal(f->out[0].word,
			 ftr_record_word(FTR_RECORD_EVENT, 0, FTR_EVENT_ID_WATCH_CPU) |
			 FTR_RECORD_MORE);
	assert_memory_equal(&f->out[1], expected, sizeof(expected));
	assert_int_equal(f->convert.events, 1);
}

/* Values in one unit are widened, and go where those are kept that TID.dat may not hold. */
static void small_values_stand_aside(void **state)
{
	static const struct { uint64_t address, bytes, caller; } rows[] = {
		{ 0x7ffffffff010, 24, 0x555555551234 }, { 0, 0, 1 },
		{ 0xffffffffffff, 0xffffff, 0xffffffffffff }, { 1, 0x800000, 0x8000 },
	};
	const uint64_t given = ftr_record_word(FTR_RECORD_EVENT, 0, FTR_EVENT_ID_MALLOC);
	const uint64_t freed = ftr_record_word(FTR_RECORD_EVENT, 0, FTR_EVENT_ID_FREE);
	struct ring_fixture *f = *state;
	uint64_t aside[1024];
	size_t i;

	f->convert.aside = (uint8_t *)aside;
	f->convert.aside_room = sizeof(aside);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ftr_record unit = ftr_small_pack(rows[i].address, rows[i].bytes,
							rows[i].caller, FTR_SMALL_GIVEN_BYTES);
		const uint64_t time = 10 * i + 5;
		uint16_t bytes;

		assert_true(ftr_small_fits(rows[i].address, rows[i].bytes, rows[i].caller));
		ring_put_word(f, time, given | FTR_RECORD_MORE);
		ring_put_word(f, unit.time, unit.word);
		ring_put(f, time, FTR_RECORD_ENTRY, 0);
		unit = ftr_small_pack(rows[i].address, 0, rows[i].caller, FTR_SMALL_FREED_BYTES);
		ring_put_word(f, time, freed | FTR_RECORD_MORE);
		ring_put_word(f, unit.time, unit.word);
		f->convert.aside_len = f->convert.aside_records = 0;
		assert_int_equal(ftr_ring_take(&f->ring, &f->convert, &f->ticks, f->out,
					       sizeof(f->out)), sizeof(struct ftr_record));
		assert_int_equal(f->convert.records, i + 1);
		assert_int_equal(f->convert.aside_records, 2);
		assert_int_equal(f->convert.aside_len, 48 + 40);
		assert_int_equal(aside[0], time);
		assert_int_equal(f->out[0].time, time + 1);	/* not at one time */
		assert_int_equal(ftr_record_addr(aside[1]), FTR_EVENT_ID_MALLOC);
		memcpy(&bytes, &aside[2], sizeof(bytes));
		assert_int_equal(bytes, 24);
		assert_memory_equal((uint8_t *)&aside[2] + 2, &rows[i], 24);
		memcpy(&bytes, &aside[8], sizeof(bytes));
		assert_int_equal(bytes, 16);
		assert_memory_equal((uint8_t *)&aside[8] + 2, &rows[i].address, 8);
		assert_memory_equal((uint8_t *)&aside[8] + 10, &rows[i].caller, 8);
	}
	assert_false(ftr_small_fits(UINT64_C(1) << 48, 0, 0));
	assert_false(ftr_small_fits(0, 1 << 24, 0));
	assert_false(ftr_small_fits(0, 0, UINT64_MAX));
}

/* No record is split, and none is lost, where there is no more room aside. */
static void aside_fills_up(void **state)
{
	const uint64_t word = ftr_record_word(FTR_RECORD_EVENT, 0, FTR_EVENT_ID_MALLOC);
	struct ring_fixture *f = *state;
	uint8_t aside[FTR_RECORD_FILE_BYTES_MAX + 60];
	unsigned records = 0, i;

	f->convert.aside = aside;
	f->convert.aside_room = sizeof(aside);
	for (i = 0; i < 10; i++) {
		const uint64_t values[3] = { i, UINT64_MAX, i };

		put_payload(f, i + 1, word, values, sizeof(values));
	}
	for (i = 0; i < 10 && records < 10; i++) {
		f->convert.aside_len = f->convert.aside_records = 0;
		assert_int_equal(ftr_ring_take(&f->ring, &f->convert, &f->ticks, f->out,
					       sizeof(f->out)), 0);
		assert_in_range(f->convert.aside_records, 1, 2);
		assert_int_equal(f->convert.aside_len, 48 * f->convert.aside_records);
		records += (unsigned)f->convert.aside_records;
	}
	assert_int_equal(records, 10);
	assert_int_equal(f->convert.records, 0);
	assert_int_equal(f->convert.bad, 0);
}

static void payload_waits_for_its_record(void **state)
{
	uint8_t payload[40] = { 1 };
	struct ring_fixture *f = *state;
	uint64_t pos = put_units(f, payload, sizeof(payload), UINT32_MAX);

	ring_put(f, 20, FTR_RECORD_ENTRY, 1);	/* of a handler that interrupted it */
	assert_int_equal(ring_take(f), 0);
	f->data[pos] = (struct ftr_record){ 10, entry_word | FTR_RECORD_MORE };
	assert_int_equal(ring_take(f), (16 + 40 + 16) / 16);
	assert_int_equal(f->convert.records, 2);
}

/* Killed, or left by a jump, at each moment: what else is there is intact. */
static void uncommitted_payload_is_skipped(void **state)
{
	uint8_t payload[100] = { 0 };
	struct ring_fixture *f = *state;
	uint32_t units;

	for (units = 0; units <= ftr_payload_units(sizeof(payload)); units++) {
		f->convert.depth = FTR_CONVERT_DEPTH_UNKNOWN;
		ring_put(f, 10, FTR_RECORD_ENTRY, 0);
		put_units(f, payload, sizeof(payload), units);
		ring_put(f, 20, FTR_RECORD_EXIT, 0);
		assert_int_equal(ring_take(f), 1);
		ftr_ring_end(&f->ring);
		assert_int_equal(ring_take(f), 1);
		ring_check(f, 0, 20, FTR_RECORD_EXIT, 0);
		all_units_are_free(f);
		f->header->head = f->head * 16;
		ftr_ring_renew(&f->ring);
	}
	assert_int_equal(f->convert.bad, 0);
}

static void waiting_producer_shows_payload_holes(void **state)
{
	uint8_t payload[60] = { 0 };
	struct ring_fixture *f = *state;
	uint64_t hole;

	hole = put_units(f, payload, sizeof(payload), 2);
	while (f->head < RING_SLOTS)
		ring_put(f, 20, f->head % 2 ? FTR_RECORD_ENTRY : FTR_RECORD_EXIT, 1);
	assert_int_equal(ring_take(f), 0);
	f->header->head = (hole + RING_SLOTS) * 16;
	assert_int_equal(ring_take(f), 0);	/* as far as the two units that it wrote */
	assert_int_equal(f->header->tail, (hole + 3) * 16);
	f->header->head = (hole + 3 + RING_SLOTS) * 16;	/* so it went on, and waits again */
	assert_int_equal(ring_take(f), RING_SLOTS - 5);
	all_units_are_free(f);
	assert_int_equal(f->convert.bad, 0);
}

/* What says that it has a payload and has none, or one that never ends, costs that record alone. */
static void payload_lies(void **state)
{
	static const uint64_t times[] = { 1, 3, 5, 7, 11 };
	struct ring_fixture *f = *state;
	unsigned i;

	ring_put(f, 1, FTR_RECORD_ENTRY, 0);
	ring_put_word(f, 2, entry_word | FTR_RECORD_MORE);		/* nothing follows */
	ring_put(f, 3, FTR_RECORD_EXIT, 0);
	ring_put_word(f, 4, entry_word | FTR_RECORD_MORE);		/* no end */
	put_unit(f, 0);
	ring_put(f, 5, FTR_RECORD_ENTRY, 0);
	ring_put_word(f, 6, entry_word | FTR_RECORD_MORE);		/* too much */
	for (i = 0; i < ftr_payload_units(FTR_PAYLOAD_MAX); i++)
		put_unit(f, 0);
	put_unit(f, 1);
	ring_put(f, 7, FTR_RECORD_EXIT, 0);
	put_unit(f, 15);					/* of no record */
	ring_put_word(f, 8, ftr_record_word(FTR_RECORD_LOST, 0, 9) | FTR_RECORD_MORE);
	put_unit(f, 1);
	ring_put_word(f, 9, ftr_record_word(FTR_RECORD_EVENT, 0, FTR_EVENT_ID_WATCH_CPU) |
		       FTR_RECORD_MORE);
	put_unit(f, 5);						/* it has 4 */
	ring_put_word(f, 10, ftr_record_word(FTR_RECORD_EVENT, 0, FTR_EVENT_ID_WATCH_CPU));
	ring_put(f, 11, FTR_RECORD_ENTRY, 0);
	assert_int_equal(ring_take(f), 5);
	for (i = 0; i < 5; i++)
		assert_int_equal(f->out[i].time, times[i]);
	assert_int_equal(f->convert.bad, 6);
	assert_int_equal(f->convert.lost, 0);
	all_units_are_free(f);
}

/* A payload that goes round the ring to its own record. */
static void endless_payload_ends(void **state)
{
	struct ring_fixture *f = *state;

	ring_put_word(f, 6, entry_word | FTR_RECORD_MORE);
	while (f->head < RING_SLOTS)
		put_unit(f, 0);
	assert_int_equal(ring_take(f), 0);
	assert_int_equal(f->convert.bad, 1);
	all_units_are_free(f);
}

static void little_room_at_a_time(void **state)
{
	uint8_t payload[200] = { 0 };
	struct ring_fixture *f = *state;
	uint64_t records = 0;
	size_t bytes;

	while (f->head + 16 < RING_SLOTS) {
		put_payload(f, f->head, entry_word, payload, sizeof(payload));
		ring_put(f, f->head, FTR_RECORD_EXIT, 0);
		records += 2;
	}
	do {
		bytes = ftr_ring_take(&f->ring, &f->convert, &f->ticks, f->out,
				      FTR_RECORD_FILE_BYTES_MAX + 40);
		assert_true(bytes <= FTR_RECORD_FILE_BYTES_MAX + 40);
	} while (bytes > 40);
	assert_int_equal(f->convert.records, records);
}

/* A flight recorder whose oldest record is half gone, with payloads that look like records. */
static void overwritten_inside_a_payload(void **state)
{
	struct ftr_record decoys[6];
	struct ring_fixture *f = *state;
	uint64_t i, bytes, last_ns;
	const uint8_t *at;

	for (i = 0; i < 6; i++)
		decoys[i] = (struct ftr_record){ 1, entry_word };
	for (i = 1; i <= 200; i++) {
		uint64_t pos = f->head;

		if (f->data[pos % RING_SLOTS].word != 0)	/* as ftr_record_put does */
			f->data[pos % RING_SLOTS].word = FTR_PAYLOAD_TAG;
		put_payload(f, 1000 + i, entry_word, decoys, sizeof(decoys));
	}
	assert_true(ftr_ring_end_overwritten(&f->ring));
	bytes = ftr_ring_take(&f->ring, &f->convert, &f->ticks, f->out, sizeof(f->out));
	assert_int_equal(f->convert.records, RING_SLOTS / 8);	/* 1 + 7 units each */
	assert_int_equal(bytes, RING_SLOTS / 8 * (16 + sizeof(decoys)));
	at = (const uint8_t *)f->out;
	memcpy(&last_ns, at + bytes - 16 - sizeof(decoys), sizeof(last_ns));
	assert_int_equal(last_ns, 1200);
	assert_int_equal(f->convert.bad, 0);

	f->head += 3;			/* from now on at other places */
	for (i = 0; i < RING_SLOTS; i++)
		f->data[i] = (struct ftr_record){ 0, 0 };
	for (i = 1; i <= 200; i++)
		put_payload(f, 2000 + i, entry_word, decoys, 8 + (uint32_t)i % 60);
	f->convert = (struct ftr_convert){ .depth = FTR_CONVERT_DEPTH_UNKNOWN };
	assert_true(ftr_ring_end_overwritten(&f->ring));
	assert_true(ftr_ring_take(&f->ring, &f->convert, &f->ticks, f->out, sizeof(f->out)) > 0);
	assert_int_equal(f->convert.bad, 0);
	assert_int_equal(f->convert.last_ns, 2200);
	assert_int_equal(f->out[0].time, 2200 - f->convert.records + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RING_TEST(payload_of_every_length),
		RING_TEST(event_payload_has_its_length),
		RING_TEST(small_values_stand_aside),
		RING_TEST(aside_fills_up),
		RING_TEST(payload_waits_for_its_record),
		RING_TEST(uncommitted_payload_is_skipped),
		RING_TEST(waiting_producer_shows_payload_holes),
		RING_TEST(payload_lies),
		RING_TEST(endless_payload_ends),
		RING_TEST(little_room_at_a_time),
		RING_TEST(overwritten_inside_a_payload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

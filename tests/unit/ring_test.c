/* SPDX-License-Identifier: MIT */
/* The recorder's end of a ring, with a producer that is the test itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "utils/record/ring.h"
#include "utils/trace/event_kind.h"

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
	f->convert.depth = FTR_CONVERT_DEPTH_UNKNOWN;
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

/* A record with a payload as ftr_record_put writes it; @units of its payload units are written. */
static uint64_t put_units(struct fixture *f, const uint8_t *payload, uint32_t bytes, uint32_t units)
{
	uint64_t pos = f->head;
	uint32_t at;

	f->head += ftr_record_ring_bytes(bytes) / 16;
	for (at = 0; at < bytes && units > 0; at += FTR_PAYLOAD_UNIT_BYTES, units--)
		f->data[++pos % SLOTS] = ftr_payload_pack(payload + at, bytes - at);
	return f->head - ftr_record_ring_bytes(bytes) / 16;
}

static void put_payload(struct fixture *f, uint64_t time, uint64_t word, const void *payload,
			uint32_t bytes)
{
	uint64_t pos = put_units(f, payload, bytes, UINT32_MAX);

	f->data[pos % SLOTS] = (struct ftr_record){ time, word | FTR_RECORD_MORE };
}

static void put_unit(struct fixture *f, unsigned last)
{
	put_word(f, UINT64_MAX, UINT64_MAX << FTR_PAYLOAD_BYTES_SHIFT | FTR_PAYLOAD_TAG | last);
}

/* How many records: right where none has a payload. */
static size_t take(struct fixture *f)
{
	return ftr_ring_take(&f->ring, &f->convert, &f->ticks, f->out, sizeof(f->out)) / 16;
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

	atomic_store(&f->ring.header->lost, 7);
	put(f, 50, FTR_RECORD_ENTRY, 0);
	put_word(f, 0, ftr_record_word(FTR_RECORD_LOST, 0, 7));
	put(f, 60, FTR_RECORD_ENTRY, 5);
	assert_int_equal(take(f), 3);
	assert_int_equal(f->convert.lost, 7);
	assert_int_equal(f->out[1].time, 50);
	assert_int_equal(ftr_record_type(f->out[1].word), FTR_RECORD_LOST);
	check(f, 2, 60, FTR_RECORD_ENTRY, 5);
}

/* A program that overruns a stack of its own may leave addresses in a ring. */
static void more_lost_than_counted_is_damage(void **state)
{
	struct fixture *f = *state;

	atomic_store(&f->ring.header->lost, 7);
	put(f, 50, FTR_RECORD_ENTRY, 0);
	put_word(f, 0, ftr_record_word(FTR_RECORD_LOST, 0, 8));
	assert_int_equal(take(f), 1);
	assert_int_equal(f->convert.lost, 0);
	assert_int_equal(f->convert.bad, 1);
}

static void nonsense_is_skipped(void **state)
{
	struct fixture *f = *state;

	put(f, 1, FTR_RECORD_ENTRY, 0);
	put_word(f, 2, UINT64_C(0xffffffffffffffff));
	put_word(f, 3, 1);
	put_word(f, 5, ftr_record_word(FTR_RECORD_EVENT, 1, 200001));
	put(f, 6, FTR_RECORD_EXIT, 0);
	assert_int_equal(take(f), 2);
	assert_int_equal(f->convert.bad, 3);
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

/* Records with a payload. */

static const uint64_t entry_word = UINT64_C(0x28) | (uint64_t)FUNC << FTR_RECORD_ADDR_SHIFT;

static void fill(uint8_t *bytes, size_t nr, unsigned seed)
{
	size_t i;

	for (i = 0; i < nr; i++)
		bytes[i] = (uint8_t)(seed + 7 * i + i / 251);
}

static void all_units_are_free(const struct fixture *f)
{
	size_t i;

	for (i = 0; i < SLOTS; i++)
		assert_int_equal(f->data[i].word, 0);
}

/* Every length there is, all the way round the ring, padded with zeros. */
static void payload_of_every_length(void **state)
{
	struct fixture *f = *state;
	uint8_t payload[FTR_PAYLOAD_MAX], file[FTR_RECORD_FILE_BYTES_MAX];
	size_t bytes, padded;

	for (bytes = 1; bytes <= FTR_PAYLOAD_MAX; bytes++) {
		padded = (bytes + 7) / 8 * 8;
		memset(file, 0, sizeof(file));
		fill(file, bytes, (unsigned)bytes);
		fill(payload, bytes, (unsigned)bytes);
		put_payload(f, bytes, entry_word, payload, (uint32_t)bytes);
		put(f, bytes, FTR_RECORD_EXIT, 0);
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
	struct fixture *f = *state;
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
	struct fixture *f = *state;
	uint64_t aside[1024];
	size_t i;

	f->convert.aside = (uint8_t *)aside;
	f->convert.aside_room = sizeof(aside);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ftr_record unit = ftr_small_pack(rows[i].address, rows[i].bytes,
							rows[i].caller, FTR_SMALL_GIVEN_BYTES);
		uint16_t bytes;

		assert_true(ftr_small_fits(rows[i].address, rows[i].bytes, rows[i].caller));
		put_word(f, 5 + i, given | FTR_RECORD_MORE);
		put_word(f, unit.time, unit.word);
		put(f, 5 + i, FTR_RECORD_ENTRY, 0);
		unit = ftr_small_pack(rows[i].address, 0, rows[i].caller, FTR_SMALL_FREED_BYTES);
		put_word(f, 5 + i, freed | FTR_RECORD_MORE);
		put_word(f, unit.time, unit.word);
		f->convert.aside_len = f->convert.aside_records = 0;
		assert_int_equal(ftr_ring_take(&f->ring, &f->convert, &f->ticks, f->out,
					       sizeof(f->out)), sizeof(struct ftr_record));
		assert_int_equal(f->convert.records, i + 1);
		assert_int_equal(f->convert.aside_records, 2);
		assert_int_equal(f->convert.aside_len, 48 + 40);
		assert_int_equal(aside[0], 5 + i);
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
	struct fixture *f = *state;
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
	struct fixture *f = *state;
	uint64_t pos = put_units(f, payload, sizeof(payload), UINT32_MAX);

	put(f, 20, FTR_RECORD_ENTRY, 1);	/* of a handler that interrupted it */
	assert_int_equal(take(f), 0);
	f->data[pos] = (struct ftr_record){ 10, entry_word | FTR_RECORD_MORE };
	assert_int_equal(take(f), (16 + 40 + 16) / 16);
	assert_int_equal(f->convert.records, 2);
}

/* Killed, or left by a jump, at each moment: what else is there is intact. */
static void uncommitted_payload_is_skipped(void **state)
{
	uint8_t payload[100] = { 0 };
	struct fixture *f = *state;
	uint32_t units;

	for (units = 0; units <= ftr_payload_units(sizeof(payload)); units++) {
		f->convert.depth = FTR_CONVERT_DEPTH_UNKNOWN;
		put(f, 10, FTR_RECORD_ENTRY, 0);
		put_units(f, payload, sizeof(payload), units);
		put(f, 20, FTR_RECORD_EXIT, 0);
		assert_int_equal(take(f), 1);
		ftr_ring_end(&f->ring);
		assert_int_equal(take(f), 1);
		check(f, 0, 20, FTR_RECORD_EXIT, 0);
		all_units_are_free(f);
		f->header->head = f->head * 16;
		ftr_ring_renew(&f->ring);
	}
	assert_int_equal(f->convert.bad, 0);
}

static void waiting_producer_shows_payload_holes(void **state)
{
	uint8_t payload[60] = { 0 };
	struct fixture *f = *state;
	uint64_t hole;

	hole = put_units(f, payload, sizeof(payload), 2);
	while (f->head < SLOTS)
		put(f, 20, f->head % 2 ? FTR_RECORD_ENTRY : FTR_RECORD_EXIT, 1);
	assert_int_equal(take(f), 0);
	f->header->head = (hole + SLOTS) * 16;
	assert_int_equal(take(f), 0);			/* as far as the two units that it wrote */
	assert_int_equal(f->header->tail, (hole + 3) * 16);
	f->header->head = (hole + 3 + SLOTS) * 16;	/* so it went on, and waits again */
	assert_int_equal(take(f), SLOTS - 5);
	all_units_are_free(f);
	assert_int_equal(f->convert.bad, 0);
}

/* What says that it has a payload and has none, or one that never ends, costs that record alone. */
static void payload_lies(void **state)
{
	static const uint64_t times[] = { 1, 3, 5, 7, 11 };
	struct fixture *f = *state;
	unsigned i;

	put(f, 1, FTR_RECORD_ENTRY, 0);
	put_word(f, 2, entry_word | FTR_RECORD_MORE);		/* nothing follows */
	put(f, 3, FTR_RECORD_EXIT, 0);
	put_word(f, 4, entry_word | FTR_RECORD_MORE);		/* no end */
	put_unit(f, 0);
	put(f, 5, FTR_RECORD_ENTRY, 0);
	put_word(f, 6, entry_word | FTR_RECORD_MORE);		/* too much */
	for (i = 0; i < ftr_payload_units(FTR_PAYLOAD_MAX); i++)
		put_unit(f, 0);
	put_unit(f, 1);
	put(f, 7, FTR_RECORD_EXIT, 0);
	put_unit(f, 15);					/* of no record */
	put_word(f, 8, ftr_record_word(FTR_RECORD_LOST, 0, 9) | FTR_RECORD_MORE);
	put_unit(f, 1);
	put_word(f, 9, ftr_record_word(FTR_RECORD_EVENT, 0, FTR_EVENT_ID_WATCH_CPU) |
		       FTR_RECORD_MORE);
	put_unit(f, 5);						/* it has 4 */
	put_word(f, 10, ftr_record_word(FTR_RECORD_EVENT, 0, FTR_EVENT_ID_WATCH_CPU));
	put(f, 11, FTR_RECORD_ENTRY, 0);
	assert_int_equal(take(f), 5);
	for (i = 0; i < 5; i++)
		assert_int_equal(f->out[i].time, times[i]);
	assert_int_equal(f->convert.bad, 6);
	assert_int_equal(f->convert.lost, 0);
	all_units_are_free(f);
}

/* A payload that goes round the ring to its own record. */
static void endless_payload_ends(void **state)
{
	struct fixture *f = *state;

	put_word(f, 6, entry_word | FTR_RECORD_MORE);
	while (f->head < SLOTS)
		put_unit(f, 0);
	assert_int_equal(take(f), 0);
	assert_int_equal(f->convert.bad, 1);
	all_units_are_free(f);
}

static void little_room_at_a_time(void **state)
{
	uint8_t payload[200] = { 0 };
	struct fixture *f = *state;
	uint64_t records = 0;
	size_t bytes;

	while (f->head + 16 < SLOTS) {
		put_payload(f, f->head, entry_word, payload, sizeof(payload));
		put(f, f->head, FTR_RECORD_EXIT, 0);
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
	struct fixture *f = *state;
	uint64_t i, bytes, last_ns;
	const uint8_t *at;

	for (i = 0; i < 6; i++)
		decoys[i] = (struct ftr_record){ 1, entry_word };
	for (i = 1; i <= 200; i++) {
		uint64_t pos = f->head;

		if (f->data[pos % SLOTS].word != 0)	/* as ftr_record_put does */
			f->data[pos % SLOTS].word = FTR_PAYLOAD_TAG;
		put_payload(f, 1000 + i, entry_word, decoys, sizeof(decoys));
	}
	assert_true(ftr_ring_end_overwritten(&f->ring));
	bytes = ftr_ring_take(&f->ring, &f->convert, &f->ticks, f->out, sizeof(f->out));
	assert_int_equal(f->convert.records, SLOTS / 8);	/* 1 + 7 units each */
	assert_int_equal(bytes, SLOTS / 8 * (16 + sizeof(decoys)));
	at = (const uint8_t *)f->out;
	memcpy(&last_ns, at + bytes - 16 - sizeof(decoys), sizeof(last_ns));
	assert_int_equal(last_ns, 1200);
	assert_int_equal(f->convert.bad, 0);

	f->head += 3;			/* from now on at other places */
	for (i = 0; i < SLOTS; i++)
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
		RING_TEST(more_lost_than_counted_is_damage),
		RING_TEST(nonsense_is_skipped),
		RING_TEST(own_events_pass),
		RING_TEST(future_waits),
		RING_TEST(overwritten_starts_with_the_oldest),
		RING_TEST(overwritten_ring_with_room),
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
		RING_TEST(next_producer_goes_on),
		RING_TEST(sharing_is_seen),
		RING_TEST(tracee_cannot_resize),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

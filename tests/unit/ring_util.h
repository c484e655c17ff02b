/* SPDX-License-Identifier: MIT */
/* A ring whose producer is the test itself. */
#ifndef FTR_TESTS_UNIT_RING_UTIL_H
#define FTR_TESTS_UNIT_RING_UTIL_H

#include "utils/record/ring.h"

#define RING_BYTES 4096u
#define RING_SLOTS (RING_BYTES / 16)
#define RING_MAIN  0x400100
#define RING_FUNC  0x400200

struct ring_fixture {
	struct ftr_ring ring;
	struct ftr_convert convert;
	struct ftr_tick_map ticks;
	struct ftr_ring_header *header;		/* the producer's mapping */
	struct ftr_record *data;
	uint64_t head;				/* in slots */
	struct ftr_record out[2 * RING_SLOTS];
};

int ring_setup(void **state);
int ring_teardown(void **state);
void ring_put_word(struct ring_fixture *f, uint64_t time, uint64_t word);
void ring_put(struct ring_fixture *f, uint64_t time, enum ftr_record_type type, unsigned depth);

/* How many records: right where none has a payload. */
size_t ring_take(struct ring_fixture *f);
void ring_check(const struct ring_fixture *f, size_t i, uint64_t time, enum ftr_record_type type,
		  unsigned depth);

#define RING_TEST(name) cmocka_unit_test_setup_teardown(name, ring_setup, ring_teardown)

#endif /* FTR_TESTS_UNIT_RING_UTIL_H */

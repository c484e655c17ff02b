/* SPDX-License-Identifier: MIT */
/* See ring_util.h. */
#include "tests/unit/ring_util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "utils/record/ring_memory.h"

int ring_setup(void **state)
{
	struct ring_fixture *f = calloc(1, sizeof(*f));
	size_t total = FTR_RING_DATA_OFFSET + RING_BYTES;

	assert_int_equal(ftr_ring_open(&f->ring, RING_BYTES, NULL), 0);
	f->header = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, f->ring.fd, 0);
	assert_ptr_not_equal(f->header, MAP_FAILED);
	f->data = (struct ftr_record *)((char *)f->header + FTR_RING_DATA_OFFSET);
	assert_int_equal(f->header->magic, FTR_RING_MAGIC);
	assert_int_equal(f->header->size_bytes, RING_BYTES);
	assert_int_equal(ftr_tick_map_init(&f->ticks, true), 0);
	f->convert.depth = FTR_CONVERT_DEPTH_UNKNOWN;
	*state = f;
	return 0;
}

int ring_teardown(void **state)
{
	struct ring_fixture *f = *state;

	if (f->header != NULL)
		munmap(f->header, FTR_RING_DATA_OFFSET + RING_BYTES);
	ftr_ring_close(&f->ring);
	ftr_tick_map_fini(&f->ticks);
	free(f);
	return 0;
}

void ring_put_word(struct ring_fixture *f, uint64_t time, uint64_t word)
{
	f->data[f->head % RING_SLOTS] = (struct ftr_record){ time, word };
	f->head++;
}

void ring_put(struct ring_fixture *f, uint64_t time, enum ftr_record_type type, unsigned depth)
{
	ring_put_word(f, time, ftr_record_word(type, depth, RING_FUNC));
}

/* How many records: right where none has a payload. */
size_t ring_take(struct ring_fixture *f)
{
	return ftr_ring_take(&f->ring, &f->convert, &f->ticks, f->out, sizeof(f->out)) / 16;
}

void ring_check(const struct ring_fixture *f, size_t i, uint64_t time, enum ftr_record_type type,
		  unsigned depth)
{
	assert_int_equal(f->out[i].time, time);
	assert_int_equal(f->out[i].word, ftr_record_word(type, depth, RING_FUNC));
}

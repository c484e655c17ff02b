/* SPDX-License-Identifier: MIT */
/* Pages of the kernel's ring buffer: their bytes, and what libtraceevent reads in them. */
#include <kbuffer.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "utils/base/bytes.h"
#include "utils/format/ftrace/page_write.h"

#define RANDOM_RECORDS 100000u

static uint64_t page_u64(const uint8_t *page, size_t at)
{
	return ftr_get_u64(page + at, FTR_HOST_IS_BIG);
}

static uint32_t page_u32(const uint8_t *page, size_t at)
{
	return ftr_get_u32(page + at, FTR_HOST_IS_BIG);
}

static uint32_t head(uint32_t type, uint32_t delta)
{
	return FTR_HOST_IS_BIG ? type << 27 | delta : type | delta << 5;
}

/*
 *	 0	time 1000
 *	 8	48 bytes of data
 *	16	type 2 (words), delta 0	| "abcdefgh"
 *	28	type 2, delta 7		| "ABCDE", padded
 *	40	type 30, delta 5	| 3: 3 * 2^27 + 5 ns pass
 *	48	type 1, delta 0		| "wxyz"
 *	56	type 1, delta 2^27 - 1	| "1234"
 *	64	nothing
 */
static void short_records(void **state)
{
	struct ftr_kbuf kbuf = { .used = 0 };
	const uint8_t *page;

	assert_true(ftr_kbuf_is_empty(&kbuf));
	assert_true(ftr_kbuf_put(&kbuf, 1000, "abcdefgh", 8));
	assert_true(ftr_kbuf_put(&kbuf, 1007, "ABCDE", 5));
	assert_true(ftr_kbuf_put(&kbuf, 1012 + (UINT64_C(3) << 27), "wxyz", 4));
	assert_true(ftr_kbuf_put(&kbuf, 1011 + (UINT64_C(4) << 27), "1234", 4));
	assert_false(ftr_kbuf_is_empty(&kbuf));
	page = ftr_kbuf_take(&kbuf);
	assert_true(ftr_kbuf_is_empty(&kbuf));
	assert_int_equal(page_u64(page, 0), 1000);
	assert_int_equal(page_u64(page, 8), 48);
	assert_int_equal(page_u32(page, 16), head(2, 0));
	assert_memory_equal(page + 20, "abcdefgh", 8);
	assert_int_equal(page_u32(page, 28), head(2, 7));
	assert_memory_equal(page + 32, "ABCDE\0\0\0", 8);
	assert_int_equal(page_u32(page, 40), head(30, 5));
	assert_int_equal(page_u32(page, 44), 3);
	assert_int_equal(page_u32(page, 48), head(1, 0));
	assert_memory_equal(page + 52, "wxyz", 4);
	assert_int_equal(page_u32(page, 56), head(1, (1 << 27) - 1));
	assert_memory_equal(page + 60, "1234", 4);
	for (size_t i = 64; i < FTR_KBUF_PAGE_BYTES; i++)
		assert_int_equal(page[i], 0);
}

/* From 113 bytes on a record has a length of its own: type 0 | length + 4 | record. */
static void long_records(void **state)
{
	static uint8_t record[FTR_KBUF_RECORD_MAX];
	struct ftr_kbuf kbuf = { .used = 0 };
	const uint8_t *page;

	memset(record, 'x', sizeof(record));
	assert_true(ftr_kbuf_put(&kbuf, 5, record, 112));
	assert_true(ftr_kbuf_put(&kbuf, 6, record, 113));
	assert_false(ftr_kbuf_put(&kbuf, 7, record, sizeof(record)));
	page = ftr_kbuf_take(&kbuf);
	assert_int_equal(page_u64(page, 8), 4 + 112 + 8 + 116);
	assert_int_equal(page_u32(page, 16), head(28, 0));
	assert_int_equal(page_u32(page, 132), head(0, 1));
	assert_int_equal(page_u32(page, 136), 116 + 4);
	assert_int_equal(page[140 + 112], 'x');
	assert_int_equal(page[140 + 113], 0);
	assert_true(ftr_kbuf_put(&kbuf, 7, record, sizeof(record)));
	page = ftr_kbuf_take(&kbuf);
	assert_int_equal(page_u64(page, 0), 7);
	assert_int_equal(page_u64(page, 8), 8 + sizeof(record));
	assert_int_equal(page_u32(page, 16), head(0, 0));
}

/* More than 2^59 ns: no record of time that passed holds that, so it is another page's. */
static void gap_beyond_all(void **state)
{
	struct ftr_kbuf kbuf = { .used = 0 };
	const uint8_t *page;

	assert_true(ftr_kbuf_put(&kbuf, 1, "aaaa", 4));
	assert_true(ftr_kbuf_put(&kbuf, UINT64_C(1) << 59, "bbbb", 4));
	assert_false(ftr_kbuf_put(&kbuf, UINT64_C(1) << 60, "cccc", 4));
	page = ftr_kbuf_take(&kbuf);
	assert_int_equal(page_u32(page, 24), head(30, (1 << 27) - 1));
	assert_int_equal(page_u32(page, 28), UINT32_MAX);
	assert_true(ftr_kbuf_put(&kbuf, UINT64_C(1) << 60, "cccc", 4));
	assert_int_equal(page_u64(ftr_kbuf_take(&kbuf), 0), UINT64_C(1) << 60);
}

/*
 * Bit 31: some are lost; bit 30: their number lies behind the data, for which there is always room.
 */
static void losses(void **state)
{
	static uint8_t record[FTR_KBUF_RECORD_MAX];
	struct ftr_kbuf kbuf = { .used = 0 };
	const uint8_t *page;

	assert_true(ftr_kbuf_put(&kbuf, 10, "aaaa", 4));
	assert_false(ftr_kbuf_lose(&kbuf, 20, 7));
	assert_int_equal(page_u64(ftr_kbuf_take(&kbuf), 8), 8);
	assert_true(ftr_kbuf_lose(&kbuf, 20, 7));
	assert_false(ftr_kbuf_is_empty(&kbuf));
	assert_true(ftr_kbuf_lose(&kbuf, 20, 5));
	assert_true(ftr_kbuf_put(&kbuf, 21, record, sizeof(record)));
	page = ftr_kbuf_take(&kbuf);
	assert_int_equal(page_u64(page, 0), 20);
	assert_int_equal(page_u64(page, 8), UINT64_C(0xc0000000) | (8 + sizeof(record)));
	assert_int_equal(page_u32(page, 16), head(0, 1));
	assert_int_equal(page_u64(page, 16 + 8 + sizeof(record)), 12);
	assert_true(ftr_kbuf_lose(&kbuf, 30, 7));
	assert_true(ftr_kbuf_lose(&kbuf, 30, 0));
	assert_int_equal(page_u64(ftr_kbuf_take(&kbuf), 8), UINT64_C(0x80000000));
	assert_true(ftr_kbuf_is_empty(&kbuf));
}

/* ---- as libtraceevent reads it ---- */

struct made {
	uint64_t time_ns;
	uint32_t len, seed;
	uint32_t lost_nr;	/* before it */
};

static uint32_t rnd(uint64_t *seed, uint32_t below)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*seed >> 33) % below);
}

static void fill(uint8_t *bytes, const struct made *made)
{
	for (uint32_t i = 0; i < made->len; i++)
		bytes[i] = (uint8_t)(made->seed + i * 7);
}

static void make(uint64_t *seed, struct made *made, uint64_t *time_ns)
{
	static const uint64_t steps[] = { 0, 1, 200, (1 << 27) - 1, 1 << 27, UINT64_C(1) << 40 };

	*time_ns += steps[rnd(seed, sizeof(steps) / sizeof(steps[0]))];
	*made = (struct made){ *time_ns,
			       4 + rnd(seed, rnd(seed, 100) == 0 ? FTR_KBUF_RECORD_MAX - 3 : 150),
			       rnd(seed, 256), rnd(seed, 500) == 0 ? 1 + rnd(seed, 9) : 0 };
}

/* Pages, one behind the other. */
static void store(struct ftr_kbuf *kbuf, uint8_t **pages, size_t *nr)
{
	if ((*nr & (*nr - 1)) == 0)		/* full: as much again */
		*pages = realloc(*pages, (*nr == 0 ? 1 : 2 * *nr) * FTR_KBUF_PAGE_BYTES);
	assert_non_null(*pages);
	memcpy(*pages + *nr * FTR_KBUF_PAGE_BYTES, ftr_kbuf_take(kbuf), FTR_KBUF_PAGE_BYTES);
	++*nr;
}

static void expect(struct kbuffer *kbuffer, const uint8_t *data, uint64_t time_ns,
		   const struct made *made)
{
	static uint8_t bytes[FTR_KBUF_RECORD_MAX];

	assert_int_equal(time_ns, made->time_ns);
	assert_int_equal(kbuffer_event_size(kbuffer), (made->len + 3) / 4 * 4);
	fill(bytes, made);
	assert_memory_equal(data, bytes, made->len);
}

static size_t walk_page(struct kbuffer *kbuffer, uint8_t *page, const struct made *made)
{
	unsigned long long time_ns;
	size_t nr = 0;

	assert_int_equal(kbuffer_load_subbuffer(kbuffer, page), 0);
	assert_int_equal(kbuffer_missed_events(kbuffer), made->lost_nr);
	for (void *data = kbuffer_read_event(kbuffer, &time_ns); data != NULL;
	     data = kbuffer_next_event(kbuffer, &time_ns))
		expect(kbuffer, data, time_ns, &made[nr++]);
	return nr;
}

static void random_records(void **state)
{
	struct kbuffer *kbuffer = kbuffer_alloc(KBUFFER_LSIZE_8, FTR_HOST_IS_BIG ?
									 KBUFFER_ENDIAN_BIG :
									 KBUFFER_ENDIAN_LITTLE);
	struct made *made = calloc(RANDOM_RECORDS, sizeof(*made));
	struct ftr_kbuf kbuf = { .used = 0 };
	static uint8_t bytes[FTR_KBUF_RECORD_MAX];
	uint64_t seed = 4711, time_ns = 1000;
	uint8_t *pages = NULL;
	size_t page_nr = 0, walked = 0;

	assert_non_null(made);
	for (size_t i = 0; i < RANDOM_RECORDS; i++) {
		make(&seed, &made[i], &time_ns);
		while (made[i].lost_nr != 0 && !ftr_kbuf_lose(&kbuf, time_ns, made[i].lost_nr))
			store(&kbuf, &pages, &page_nr);
		fill(bytes, &made[i]);
		while (!ftr_kbuf_put(&kbuf, time_ns, bytes, made[i].len))
			store(&kbuf, &pages, &page_nr);
	}
	while (!ftr_kbuf_is_empty(&kbuf))
		store(&kbuf, &pages, &page_nr);
	for (size_t i = 0; i < page_nr; i++)
		walked += walk_page(kbuffer, pages + i * FTR_KBUF_PAGE_BYTES, &made[walked]);
	assert_int_equal(walked, RANDOM_RECORDS);
	kbuffer_free(kbuffer);
	free(pages);
	free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_records),
		cmocka_unit_test(long_records),
		cmocka_unit_test(gap_beyond_all),
		cmocka_unit_test(losses),
		cmocka_unit_test(random_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

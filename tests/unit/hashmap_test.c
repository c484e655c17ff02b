/* SPDX-License-Identifier: MIT */
/* Maps from numbers, and the hash of bytes. */
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/hashmap.h"

#define NR 50000

static void empty_finds_nothing(void **state)
{
	struct ftr_hashmap map;
	size_t pos = 0;

	ftr_hashmap_init(&map);
	assert_null(ftr_hashmap_find(&map, 0));
	assert_null(ftr_hashmap_next(&map, &pos));
	ftr_hashmap_fini(&map);
}

/*
 * Keys that differ in few bits, low or high, must not cluster: a probe over all would take minutes.
 */
static void keys_of_any_stride(void **state)
{
	static const unsigned shifts[] = { 0, 4, 12, 32, 44 };

	for (size_t s = 0; s < sizeof(shifts) / sizeof(shifts[0]); s++) {
		struct ftr_hashmap map;

		ftr_hashmap_init(&map);
		for (uintptr_t i = 0; i < NR; i++)
			assert_int_equal(ftr_hashmap_set(&map, i << shifts[s], (void *)(i + 1)), 0);
		assert_int_equal(map.nr, NR);
		for (uintptr_t i = 0; i < NR; i++)
			assert_ptr_equal(ftr_hashmap_find(&map, i << shifts[s]), (void *)(i + 1));
		assert_null(ftr_hashmap_find(&map, (uint64_t)NR << shifts[s]));
		ftr_hashmap_fini(&map);
	}
}

static void set_replaces(void **state)
{
	struct ftr_hashmap map;
	int a, b;

	ftr_hashmap_init(&map);
	assert_int_equal(ftr_hashmap_set(&map, UINT64_MAX, &a), 0);
	assert_int_equal(ftr_hashmap_set(&map, UINT64_MAX, &b), 0);
	assert_int_equal(map.nr, 1);
	assert_ptr_equal(ftr_hashmap_find(&map, UINT64_MAX), &b);
	ftr_hashmap_fini(&map);
}

static void next_visits_each_once(void **state)
{
	struct ftr_hashmap map;
	const struct ftr_hashmap_slot *slot;
	unsigned char seen[1000] = { 0 };
	size_t pos = 0;
	size_t nr = 0;

	ftr_hashmap_init(&map);
	for (uint64_t i = 0; i < sizeof(seen); i++)
		ftr_hashmap_set(&map, i, &seen[i]);
	while ((slot = ftr_hashmap_next(&map, &pos)) != NULL) {
		assert_ptr_equal(slot->value, &seen[slot->key]);
		assert_int_equal(seen[slot->key]++, 0);
		nr++;
	}
	assert_int_equal(nr, sizeof(seen));
	ftr_hashmap_fini(&map);
}

/*
 * Against an array: whatever was taken, the rest is found; keys share homes and wrap around the
 * end.
 */
static void take_leaves_the_rest(void **state)
{
	unsigned char values[200];
	bool is_in[200] = { false };
	struct ftr_hashmap map;
	uint64_t random = 1;
	size_t nr = 0;

	ftr_hashmap_init(&map);
	assert_null(ftr_hashmap_take(&map, 1));
	for (size_t step = 0; step < 200000; step++) {
		size_t key;

		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		key = (random >> 33) % (step % 1000 < 500 ? 200 : 20);
		if (random >> 63) {
			assert_int_equal(ftr_hashmap_set(&map, key << 20, &values[key]), 0);
			nr += !is_in[key];
			is_in[key] = true;
		} else {
			assert_ptr_equal(ftr_hashmap_take(&map, key << 20),
					 is_in[key] ? &values[key] : NULL);
			nr -= is_in[key];
			is_in[key] = false;
		}
		assert_int_equal(map.nr, nr);
		for (size_t i = 0; step % 16 == 0 && i < 200; i++)
			assert_ptr_equal(ftr_hashmap_find(&map, i << 20),
					 is_in[i] ? &values[i] : NULL);
	}
	assert_true(map.cap <= 512);
	ftr_hashmap_fini(&map);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Every length and every bit counts. */
static void hash_bytes_differs(void **state)
{
	unsigned char bytes[64] = { 0 };
	uint64_t hashes[64 * 8 + 65];
	size_t nr = 0;

	for (size_t len = 0; len <= sizeof(bytes); len++)
		hashes[nr++] = ftr_hash_bytes(bytes, len);
	for (size_t bit = 0; bit < sizeof(bytes) * 8; bit++) {
		bytes[bit / 8] ^= 1u << bit % 8;
		hashes[nr++] = ftr_hash_bytes(bytes, sizeof(bytes));
		bytes[bit / 8] ^= 1u << bit % 8;
	}
	qsort(hashes, nr, sizeof(hashes[0]), compare_u64);
	for (size_t i = 1; i < nr; i++)
		assert_true(hashes[i] != hashes[i - 1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_finds_nothing),
		cmocka_unit_test(keys_of_any_stride),
		cmocka_unit_test(set_replaces),
		cmocka_unit_test(next_visits_each_once),
		cmocka_unit_test(take_leaves_the_rest),
		cmocka_unit_test(hash_bytes_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Growable arrays. */
#include "tests/unit/unit.h"

#include "utils/base/vec.h"

static void pushes_keep_order(void **state)
{
	FTR_VEC(uint64_t) vec = { 0 };

	for (uint64_t i = 0; i < 100000; i++)
		assert_int_equal(ftr_vec_push(&vec, i * i), 0);
	assert_int_equal(vec.nr, 100000);
	for (uint64_t i = 0; i < vec.nr; i++)
		assert_int_equal(vec.v[i], i * i);
	ftr_vec_fini(&vec);
	assert_null(vec.v);
	assert_int_equal(vec.cap, 0);
}

static void reserve_grows_once(void **state)
{
	FTR_VEC(struct { char bytes[3]; }) vec = { 0 };
	size_t nothing = 0;

	assert_int_equal(ftr_vec_reserve(&vec, nothing), 0);
	assert_null(vec.v);
	assert_int_equal(ftr_vec_reserve(&vec, 1000), 0);
	assert_true(vec.cap >= 1000);
	assert_int_equal(vec.nr, 0);
	ftr_vec_fini(&vec);
}

static void absurd_reserves_fail_and_keep(void **state)
{
	FTR_VEC(uint32_t) vec = { 0 };

	assert_int_equal(ftr_vec_push(&vec, 7), 0);
	assert_int_equal(ftr_vec_reserve(&vec, SIZE_MAX), -ENOMEM);
	assert_int_equal(ftr_vec_reserve(&vec, SIZE_MAX / 4), -ENOMEM);
	assert_int_equal(vec.v[0], 7);
	ftr_vec_fini(&vec);
}

/* What is new is zeros, also where there was room left over, and what was there stays. */
static void tables_reach_as_far_as_asked(void **state)
{
	FTR_VEC(uint16_t) vec = { 0 };
	uint8_t none = 0, last = UINT8_MAX;

	assert_int_equal(ftr_vec_extend(&vec, none), 0);
	assert_null(vec.v);
	for (uint16_t i = 0; i < 100; i++)
		assert_int_equal(ftr_vec_push(&vec, UINT16_MAX), 0);
	vec.nr = 1;
	for (size_t i = 0; i < 50; i++) {
		assert_int_equal(ftr_vec_reach(&vec, i), 0);
		assert_int_equal(vec.nr, i + 1);
		assert_int_equal(vec.v[i], i == 0 ? UINT16_MAX : 0);
	}
	assert_int_equal(ftr_vec_reach(&vec, last), 0);
	assert_int_equal(vec.nr, 256);
	assert_int_equal(ftr_vec_extend(&vec, 300u), 0);
	for (size_t i = 1; i < 300; i++)
		assert_int_equal(vec.v[i], 0);
	assert_int_equal(ftr_vec_extend(&vec, 7u), 0);
	assert_int_equal(vec.nr, 300);
	assert_int_equal(ftr_vec_extend(&vec, SIZE_MAX), -ENOMEM);
	assert_int_equal(ftr_vec_reach(&vec, SIZE_MAX), -ENOMEM);
	assert_int_equal(ftr_vec_reach(&vec, SIZE_MAX / 2), -ENOMEM);
	assert_int_equal(vec.nr, 300);
	ftr_vec_fini(&vec);
}

static void numbers_are_sorted(void **state)
{
	int32_t numbers[] = { 7, INT32_MIN, 0, INT32_MAX, 7, -1 };
	const int32_t sorted[] = { INT32_MIN, -1, 0, 7, 7, INT32_MAX };

	ftr_vec_sort_int32(numbers, 6);
	assert_memory_equal(numbers, sorted, sizeof(sorted));
	ftr_vec_sort_int32(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushes_keep_order),
		cmocka_unit_test(reserve_grows_once),
		cmocka_unit_test(absurd_reserves_fail_and_keep),
		cmocka_unit_test(tables_reach_as_far_as_asked),
		cmocka_unit_test(numbers_are_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

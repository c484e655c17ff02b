/* SPDX-License-Identifier: MIT */
/* Integers of both byte orders, unaligned. */
#include "tests/unit/unit.h"

#include "utils/base/bytes.h"

static void both_orders(void **state)
{
	static const unsigned char bytes[] = { 0xee, 1, 2, 3, 4, 5, 6, 7, 8 };

	assert_int_equal(ftr_get_u16(bytes + 1, false), 0x0201);
	assert_int_equal(ftr_get_u16(bytes + 1, true), 0x0102);
	assert_int_equal(ftr_get_u32(bytes + 1, false), 0x04030201);
	assert_int_equal(ftr_get_u32(bytes + 1, true), 0x01020304);
	assert_true(ftr_get_u64(bytes + 1, false) == UINT64_C(0x0807060504030201));
	assert_true(ftr_get_u64(bytes + 1, true) == UINT64_C(0x0102030405060708));
}

static void aligning(void **state)
{
	assert_int_equal(ftr_align_up(0, 8), 0);
	assert_int_equal(ftr_align_up(1, 8), 8);
	assert_int_equal(ftr_align_up(8, 8), 8);
	assert_int_equal(ftr_align_up(9, 4), 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_orders),
		cmocka_unit_test(aligning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

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

static void leb128(void **state)
{
	static const struct {
		uint64_t value;
		size_t nr;
		unsigned char bytes[FTR_LEB128_MAX];
	} cases[] = {
		{ 0, 1, { 0 } }, { 0x7f, 1, { 0x7f } }, { 0x80, 2, { 0x80, 1 } },
		{ 300, 2, { 0xac, 2 } },
		{ UINT64_MAX, 10, { 255, 255, 255, 255, 255, 255, 255, 255, 255, 1 } },
	};
	unsigned char bytes[FTR_LEB128_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(ftr_put_leb128(bytes, cases[i].value), cases[i].nr);
		assert_memory_equal(bytes, cases[i].bytes, cases[i].nr);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_orders),
		cmocka_unit_test(aligning),
		cmocka_unit_test(leb128),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

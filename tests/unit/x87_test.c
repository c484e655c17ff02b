/* SPDX-License-Identifier: MIT */
/* x87's numbers as floats and doubles: Intel SDM volume 1, 4.2.2, and IEEE 754, 4.3.1. */
#include "tests/unit/unit.h"

#include "libmcount/x87.h"

static const struct {
	uint16_t sign_exponent;
	uint64_t mantissa, as_double;
	uint32_t as_float;
} rows[] = {
	{ 0x0000, 0, 0, 0 },
	{ 0x8000, 0, 0x8000000000000000, 0x80000000 },
	{ 0x3fff, 0x8000000000000000, 0x3ff0000000000000, 0x3f800000 },	/* 1 */
	{ 0xc000, 0xa000000000000000, 0xc004000000000000, 0xc0200000 },	/* -2.5 */
	/* halfway: to even, down and up; a little more; into the next power of two */
	{ 0x3fff, 0x8000008000000000, 0x3ff0000010000000, 0x3f800000 },
	{ 0x3fff, 0x8000018000000000, 0x3ff0000030000000, 0x3f800002 },
	{ 0x3fff, 0x8000000000000400, 0x3ff0000000000000, 0x3f800000 },
	{ 0x3fff, 0x8000000000000c00, 0x3ff0000000000002, 0x3f800000 },
	{ 0x3fff, 0x8000000000000401, 0x3ff0000000000001, 0x3f800000 },
	{ 0x3fff, 0xffffffffffffffff, 0x4000000000000000, 0x40000000 },
	/* the largest, and what is too large: float first, then both */
	{ 0x407e, 0xffffff0000000000, 0x47efffffe0000000, 0x7f7fffff },
	{ 0x407e, 0xffffff8000000000, 0x47effffff0000000, 0x7f800000 },
	{ 0x43fe, 0xfffffffffffff800, 0x7fefffffffffffff, 0x7f800000 },
	{ 0xc3fe, 0xfffffffffffffc00, 0xfff0000000000000, 0xff800000 },
	{ 0x7ffe, 0xffffffffffffffff, 0x7ff0000000000000, 0x7f800000 },
	/* the smallest that are normal, those that are not, the last one, half of it, less */
	{ 0x3f81, 0x8000000000000000, 0x3810000000000000, 0x00800000 },
	{ 0x3f80, 0x8000000000000000, 0x3800000000000000, 0x00400000 },
	{ 0x3f80, 0xffffffffffffffff, 0x3810000000000000, 0x00800000 },
	{ 0x3f6a, 0x8000000000000000, 0x36a0000000000000, 0x00000001 },
	{ 0x3f69, 0x8000000000000000, 0x3690000000000000, 0x00000000 },
	{ 0x3f69, 0x8000000000000001, 0x3690000000000000, 0x00000001 },
	{ 0x3c01, 0x8000000000000000, 0x0010000000000000, 0 },
	{ 0x3bcd, 0x8000000000000000, 0x0000000000000001, 0 },
	{ 0x3bcc, 0x8000000000000000, 0, 0 },
	{ 0x3bcc, 0x8000000000000001, 1, 0 },
	{ 0x3bcb, 0xffffffffffffffff, 0, 0 },
	{ 0x0001, 0x8000000000000000, 0, 0 },
	{ 0x7fff, 0x8000000000000000, 0x7ff0000000000000, 0x7f800000 },
	{ 0xffff, 0x8000000000000000, 0xfff0000000000000, 0xff800000 },
	{ 0x7fff, 0xc000000000000000, 0x7ff8000000000000, 0x7fc00000 },	/* NaNs */
	{ 0x7fff, 0xa000010000000000, 0x7ffc000020000000, 0x7fe00001 },
	{ 0x7fff, 0x8000000000000001, 0x7ff8000000000000, 0x7fc00000 },
};

static uint64_t narrowed(size_t row, uint32_t bytes)
{
	uint8_t x87[FTR_X87_BYTES];
	uint64_t bits = 0;

	for (unsigned i = 0; i < 8; i++)
		x87[i] = (uint8_t)(rows[row].mantissa >> 8 * i);
	x87[8] = (uint8_t)rows[row].sign_exponent;
	x87[9] = (uint8_t)(rows[row].sign_exponent >> 8);
	assert_int_equal(ftr_x87_narrow(x87, bytes), bytes);
	for (unsigned i = 0; i < bytes; i++)
		bits |= (uint64_t)x87[i] << 8 * i;
	return bits;
}

static void test_narrow(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(narrowed(i, 8), rows[i].as_double);
		assert_int_equal(narrowed(i, 4), rows[i].as_float);
	}
}

static void test_wide(void **state)
{
	uint8_t x87[FTR_X87_BYTES] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };

	assert_int_equal(ftr_x87_narrow(x87, 16), FTR_X87_BYTES);
	for (unsigned i = 0; i < FTR_X87_BYTES; i++)
		assert_int_equal(x87[i], i + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_wide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

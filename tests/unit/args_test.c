/* SPDX-License-Identifier: MIT */
/* Values out of the bytes of a payload, on any host. */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "utils/base/strbuf.h"
#include "utils/trace/args.h"

static const struct ftr_arg wide = { .format = FTR_ARG_FLOAT, .size = 10 };

static long double decoded(const uint8_t bytes[10])
{
	struct ftr_value value = { .arg = &wide };

	ftr_value_decode(&value, bytes, 10, false);
	return value.f;
}

/* x87's format, Intel SDM volume 1, 4.2.2. */
static void x87_of_every_kind(void **state)
{
	static const struct row {
		uint8_t bytes[10];
		long double value;
	} rows[] = {
		{ { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 0 },
		{ { 0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f }, 1 },
		{ { 0, 0, 0, 0, 0, 0, 0, 0xe0, 0x00, 0x40 }, 3.5L },
		{ { 0, 0, 0, 0, 0, 0, 0, 0xe0, 0x00, 0xc0 }, -3.5L },
		{ { 0, 0, 0, 0, 0, 0, 0, 0xa0, 0xfc, 0x3f }, 0.15625L },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3e, 0x40 },
		  18446744073709551615.0L },
		{ { 1, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f }, 1 + 0x1p-63L },
		{ { 0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x7f }, HUGE_VALL },
		{ { 0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0xff }, -HUGE_VALL },
		{ { 1, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 0x1p-16445L },	/* the smallest of all */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (decoded(rows[i].bytes) != rows[i].value)
			fail_msg("row %zu: %La", i, decoded(rows[i].bytes));
	}
	assert_true(signbit(decoded((uint8_t[10]){ [9] = 0x80 })) != 0);
	assert_true(isnan(decoded((uint8_t[10]){ [7] = 0xc0, [8] = 0xff, [9] = 0x7f })));
	assert_true(isnan(decoded((uint8_t[10]){ [7] = 0x7f, [8] = 0xff, [9] = 0x3f })));
	assert_true(isnan(decoded((uint8_t[10]){ [0] = 1, [9] = 0x40 })));
	assert_true(isnan(decoded((uint8_t[10]){ [8] = 0xff, [9] = 0x7f })));
}

static void floats_of_either_byte_order(void **state)
{
	static const struct ftr_arg narrow = { .format = FTR_ARG_FLOAT, .size = 4 };
	static const struct ftr_arg middle = { .format = FTR_ARG_FLOAT, .size = 8 };
	struct ftr_value value = { .arg = &narrow };

	ftr_value_decode(&value, (const uint8_t *)"\0\0\x20\xc0", 4, false);
	assert_true(value.f == -2.5L);
	ftr_value_decode(&value, (const uint8_t *)"\xc0\x20\0\0", 4, true);
	assert_true(value.f == -2.5L);
	value.arg = &middle;
	ftr_value_decode(&value, (const uint8_t *)"\0\0\0\0\0\0\x04\xc0", 8, false);
	assert_true(value.f == -2.5L);
	ftr_value_decode(&value, (const uint8_t *)"\xc0\x04\0\0\0\0\0\0", 8, true);
	assert_true(value.f == -2.5L);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x87_of_every_kind),
		cmocka_unit_test(floats_of_either_byte_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

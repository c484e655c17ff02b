/* SPDX-License-Identifier: MIT */
/* Clocks by name. */
#include "tests/unit/unit.h"

#include "utils/base/clock.h"

static void names_are_found(void **state)
{
	assert_int_equal(ftr_clock_find("mono")->id, CLOCK_MONOTONIC);
	assert_int_equal(ftr_clock_find("mono_raw")->id, CLOCK_MONOTONIC_RAW);
	assert_int_equal(ftr_clock_find("boot")->id, CLOCK_BOOTTIME);
	assert_int_equal(ftr_clock_find("realtime")->id, CLOCK_REALTIME);
	assert_true(ftr_clock_find("counter")->is_counter);
	assert_false(ftr_clock_find("mono")->is_counter);
	assert_null(ftr_clock_find("Mono"));
	assert_null(ftr_clock_find(""));
}

static void time_goes_on(void **state)
{
	uint64_t before = ftr_clock_now_ns(CLOCK_MONOTONIC);
	struct timespec pause = { .tv_nsec = 2000000 };
	uint64_t after;

	nanosleep(&pause, NULL);
	after = ftr_clock_now_ns(CLOCK_MONOTONIC);
	assert_true(after - before >= 2000000);
	assert_true(after - before < UINT64_C(60000000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(time_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

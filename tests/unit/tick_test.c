/* SPDX-License-Identifier: MIT */
/* Ticks to nanoseconds: exact at the pairs, never decreasing, for hours and after thinning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "utils/record/tick.h"

static void is_exact_at_pairs(void **state)
{
	static const struct ftr_tick_pair pairs[] = {
		{ 1000, 500 },
		{ 3500, 1500 },
		{ 1000000, 400000 },
		{ UINT64_C(9000000000000), 3600000000000 },
	};
	struct ftr_tick_map map;
	size_t i;

	assert_int_equal(ftr_tick_map_init(&map, false), 0);
	for (i = 0; i < 4; i++)
		ftr_tick_map_add(&map, pairs[i].tick, pairs[i].ns);
	for (i = 0; i < 4; i++)
		assert_int_equal(ftr_tick_map_ns(&map, pairs[i].tick), pairs[i].ns);
	assert_int_equal(ftr_tick_map_ns(&map, 2250), 1000);	/* half way */
	ftr_tick_map_fini(&map);
}

static void long_segment_is_precise(void **state)
{
	struct ftr_tick_segment segment;
	struct ftr_tick_map map;

	ftr_tick_map_init(&map, false);
	ftr_tick_map_add(&map, 0, 0);
	ftr_tick_map_add(&map, UINT64_C(9000000000000), UINT64_C(3600000000000));
	assert_true(ftr_tick_map_find(&map, 1, &segment));
	/* an hour at 2.5 ticks a nanosecond: off by less than one at its end */
	assert_in_range(ftr_tick_segment_ns(&segment, UINT64_C(8999999999999)),
			UINT64_C(3599999999998), UINT64_C(3600000000000));
	ftr_tick_map_fini(&map);
}

static void outside_is_the_nearest_pair(void **state)
{
	struct ftr_tick_segment segment;
	struct ftr_tick_map map;

	ftr_tick_map_init(&map, false);
	assert_int_equal(ftr_tick_map_ns(&map, 77), 0);
	assert_false(ftr_tick_map_find(&map, 77, &segment));
	ftr_tick_map_add(&map, 1000, 500);
	ftr_tick_map_add(&map, 2000, 1000);
	assert_int_equal(ftr_tick_map_ns(&map, 3), 500);
	assert_int_equal(ftr_tick_map_ns(&map, UINT64_MAX), 1000);
	assert_false(ftr_tick_map_find(&map, 2001, &segment));
	ftr_tick_map_fini(&map);
}

static void clock_set_back_stands_still(void **state)
{
	struct ftr_tick_map map;

	ftr_tick_map_init(&map, false);
	ftr_tick_map_add(&map, 1000, 500);
	ftr_tick_map_add(&map, 2000, 100);
	ftr_tick_map_add(&map, 3000, 700);
	assert_int_equal(ftr_tick_map_ns(&map, 1999), 500);
	assert_int_equal(ftr_tick_map_ns(&map, 2500), 600);
	assert_int_equal(ftr_tick_map_ns(&map, 3000), 700);
	ftr_tick_map_fini(&map);
}

static void counter_set_back_begins_anew(void **state)
{
	struct ftr_tick_segment segment;
	struct ftr_tick_map map;

	ftr_tick_map_init(&map, false);
	assert_true(ftr_tick_map_add(&map, 1000, 500));
	assert_true(ftr_tick_map_add(&map, 2000, 1000));
	assert_true(ftr_tick_map_add(&map, 2000, 1100));	/* the same: ignored */
	assert_int_equal(ftr_tick_map_ns(&map, 2000), 1000);
	assert_false(ftr_tick_map_add(&map, 300, 1200));
	assert_true(ftr_tick_map_add(&map, 500, 1300));
	assert_int_equal(ftr_tick_map_ns(&map, 400), 1250);
	assert_int_equal(ftr_tick_map_ns(&map, 100), 1200);	/* between: no earlier */
	assert_false(ftr_tick_map_find(&map, 1500, &segment));	/* of before */
	assert_true(ftr_tick_map_add(&map, 10, 1250));		/* again: said already */
	assert_int_equal(ftr_tick_map_last(&map).tick, 10);
	assert_int_equal(ftr_tick_map_ns(&map, 10), 1300);	/* nor does time go back */
	ftr_tick_map_fini(&map);
}

/* Where ticks are the clock's time: that is another matter than the counter. */
static void clock_of_ticks_set_back_stands_still(void **state)
{
	struct ftr_tick_map map;

	ftr_tick_map_init(&map, true);
	assert_true(ftr_tick_map_add(&map, 2000, 2000));
	assert_true(ftr_tick_map_add(&map, 1000, 1000));
	assert_int_equal(ftr_tick_map_last(&map).ns, 2000);
	assert_int_equal(ftr_tick_map_ns(&map, 1500), 1500);
	ftr_tick_map_fini(&map);
}

/* A slow counter beside a fast clock, and hours of pairs: never backwards. */
static void never_decreases_when_thinned(void **state)
{
	struct ftr_tick_map map;
	uint64_t i, tick, before = 0;

	ftr_tick_map_init(&map, false);
	for (i = 0; i < 5 * FTR_TICK_PAIRS_MAX; i++)
		ftr_tick_map_add(&map, i * 997, i * 3001 + i % 7);
	assert_true(map.nr <= FTR_TICK_PAIRS_MAX);
	for (tick = 0; tick < i * 997; tick += 331) {
		uint64_t ns = ftr_tick_map_ns(&map, tick);

		assert_true(ns >= before);
		before = ns;
	}
	/* the newest half is as fine as it was given */
	assert_int_equal(ftr_tick_map_ns(&map, (i - 100) * 997), (i - 100) * 3001 + (i - 100) % 7);
	ftr_tick_map_fini(&map);
}

static void identity_passes_through(void **state)
{
	struct ftr_tick_segment segment;
	struct ftr_tick_map map;

	ftr_tick_map_init(&map, true);
	assert_int_equal(ftr_tick_map_ns(&map, UINT64_C(123456789012345)),
			 UINT64_C(123456789012345));
	ftr_tick_map_add(&map, 5000, 5000);	/* now it is known how late it is */
	assert_int_equal(ftr_tick_map_ns(&map, 4999), 4999);
	assert_int_equal(ftr_tick_map_ns(&map, 5000), 5000);
	assert_false(ftr_tick_map_find(&map, 5001, &segment));
	ftr_tick_map_fini(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_exact_at_pairs),
		cmocka_unit_test(long_segment_is_precise),
		cmocka_unit_test(outside_is_the_nearest_pair),
		cmocka_unit_test(clock_set_back_stands_still),
		cmocka_unit_test(counter_set_back_begins_anew),
		cmocka_unit_test(clock_of_ticks_set_back_stands_still),
		cmocka_unit_test(never_decreases_when_thinned),
		cmocka_unit_test(identity_passes_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

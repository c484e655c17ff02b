/* SPDX-License-Identifier: MIT */
/* Percentiles, against the sorted values themselves. */
#include "tests/unit/unit.h"

#include <stdlib.h>

#include "utils/analysis/histogram.h"

#define MANY 20000

static const unsigned percents[] = { 1, 50, 90, 99, 100 };

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t random_next(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state ^ *state >> 29;
}

/* Of all sizes. */
static void values_fill(uint64_t *values, size_t nr)
{
	uint64_t state = nr;

	for (size_t i = 0; i < nr; i++) {
		unsigned shift = (unsigned)(random_next(&state) % 64);

		values[i] = random_next(&state) >> shift;
	}
}

/* @nr values give the true percentiles, give or take a part of @precision. */
static void check(uint64_t *values, size_t nr, uint64_t precision)
{
	struct ftr_histogram histogram = { .nr = 0 };

	for (size_t i = 0; i < nr; i++)
		assert_int_equal(ftr_histogram_add(&histogram, values[i]), 0);
	qsort(values, nr, sizeof(*values), compare);
	for (size_t i = 0; i < sizeof(percents) / sizeof(*percents); i++) {
		uint64_t truth = values[(nr * percents[i] + 99) / 100 - 1];
		uint64_t slack = precision == 0 ? 0 : truth / precision;
		uint64_t found = ftr_histogram_percentile(&histogram, percents[i]);

		assert_true(found >= truth - slack && found - truth + slack <= 2 * slack);
	}
	assert_int_equal(ftr_histogram_percentile(&histogram, 100), values[nr - 1]);
	ftr_histogram_fini(&histogram);
}

static void few_are_exact(void **state)
{
	uint64_t values[FTR_HISTOGRAM_FEW];

	for (size_t nr = 1; nr <= FTR_HISTOGRAM_FEW; nr++) {
		values_fill(values, nr);
		check(values, nr, 0);
	}
}

static void many_are_within_a_percent(void **state)
{
	uint64_t *values = calloc(MANY, sizeof(*values));

	for (size_t nr = FTR_HISTOGRAM_FEW + 1; nr <= MANY; nr = nr * 5 / 3) {
		values_fill(values, nr);
		check(values, nr, 128);
	}
	free(values);
}

static void small_and_extreme_values_are_exact(void **state)
{
	uint64_t values[200];

	for (size_t i = 0; i < 200; i++)
		values[i] = i % 64;
	check(values, 200, 0);
	for (size_t i = 0; i < 200; i++)
		values[i] = UINT64_MAX;
	check(values, 200, 0);
}

/* By the number of times or one by one: the percentiles are the same. */
static void times_are_single_values(void **state)
{
	for (uint64_t times = 1; times <= 3 * FTR_HISTOGRAM_FEW; times++) {
		struct ftr_histogram single = { .nr = 0 }, many = { .nr = 0 };

		for (uint64_t value = 1000; value < 1000000; value *= 10) {
			for (uint64_t i = 0; i < times; i++)
				assert_int_equal(ftr_histogram_add(&single, value), 0);
			assert_int_equal(ftr_histogram_add_times(&many, value, times), 0);
		}
		assert_int_equal(ftr_histogram_add_times(&many, 7, 0), 0);
		assert_int_equal(many.nr, 3 * times);
		for (unsigned percent = 1; percent <= 100; percent++)
			assert_int_equal(ftr_histogram_percentile(&many, percent),
					 ftr_histogram_percentile(&single, percent));
		ftr_histogram_fini(&single);
		ftr_histogram_fini(&many);
	}
}

static void nothing_has_no_percentile(void **state)
{
	struct ftr_histogram histogram = { .nr = 0 };

	assert_int_equal(ftr_histogram_percentile(&histogram, 50), 0);
	ftr_histogram_fini(&histogram);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_are_exact),
		cmocka_unit_test(many_are_within_a_percent),
		cmocka_unit_test(small_and_extreme_values_are_exact),
		cmocka_unit_test(times_are_single_values),
		cmocka_unit_test(nothing_has_no_percentile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

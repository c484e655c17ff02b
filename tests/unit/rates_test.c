/* SPDX-License-Identifier: MIT */
/* Rows of intervals become what functions did in the last one, and ever, in an order. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "utils/analysis/rates.h"
#include "utils/trace/summary.h"

static struct ftr_rates rates;

static int setup(void **state)
{
	ftr_rates_init(&rates);
	return 0;
}

static int teardown(void **state)
{
	ftr_rates_fini(&rates);
	return 0;
}

/* Two octaves, one of which has calls within calls of the same function. */
static void add(const char *name, uint64_t calls, uint64_t ns)
{
	static struct ftr_summary_row row;

	memset(&row, 0xa5, sizeof(row));	/* sums of octaves without calls are stale */
	row.used = 1 << 3 | UINT64_C(1) << 40;
	row.octaves[3] = (struct ftr_call_sum){ .calls = 1, .total_ns = 10, .self_ns = 4,
						.nested_ns = 3 };
	row.octaves[40] = (struct ftr_call_sum){ .calls = calls - 1, .total_ns = ns - 7,
						 .self_ns = ns - 5 };
	assert_int_equal(ftr_rates_add(&rates, name, &row), 0);
}

static void assert_order(enum ftr_rate_key key, bool is_all, const char *names)
{
	char text[64] = "";
	size_t nr;
	const struct ftr_rate **sorted = ftr_rates_sorted(&rates, key, is_all, &nr);

	assert_non_null(sorted);
	for (size_t i = 0; i < nr; i++)
		strcat(strcat(text, sorted[i]->name), " ");
	free(sorted);
	assert_string_equal(text, names);
}

static void test_sums(void **state)
{
	ftr_rates_begin(&rates, 1000);
	add("f", 5, 100);
	add("f", 7, 50);
	assert_int_equal(rates.rows.nr, 1);
	assert_int_equal(rates.rows.v[0].now.calls, 12);
	assert_int_equal(rates.rows.v[0].now.total_ns, 150);
	assert_int_equal(rates.rows.v[0].now.self_ns, 148);
}

static void test_intervals(void **state)
{
	ftr_rates_begin(&rates, 1000);
	add("f", 5, 100);
	ftr_rates_begin(&rates, 1000);		/* it goes on */
	add("f", 5, 100);
	assert_int_equal(rates.rows.v[0].now.calls, 10);
	ftr_rates_begin(&rates, 2000);
	assert_int_equal(rates.rows.v[0].now.calls, 0);
	add("f", 2, 20);
	add("g", 3, 30);
	assert_int_equal(rates.rows.v[0].now.calls, 2);
	assert_int_equal(rates.rows.v[0].all.calls, 12);
	assert_int_equal(rates.rows.v[0].all.total_ns, 220);
	assert_int_equal(rates.interval_nr, 2);
}

static void test_order(void **state)
{
	ftr_rates_begin(&rates, 1000);
	add("old", 100, 1000);
	ftr_rates_begin(&rates, 2000);
	add("often", 50, 200);
	add("long", 2, 300);
	add("again", 2, 300);
	assert_order(FTR_RATE_SELF, false, "again long often ");
	assert_order(FTR_RATE_TOTAL, true, "old again long often ");
	assert_order(FTR_RATE_CALLS, true, "old often again long ");
	assert_order(FTR_RATE_AVG, true, "again long old often ");
	assert_order(FTR_RATE_NAME, false, "again long often ");
	ftr_rates_begin(&rates, 3000);
	assert_order(FTR_RATE_SELF, false, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sums, setup, teardown),
		cmocka_unit_test_setup_teardown(test_intervals, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Reading performance counters as the kernel shows them: of a made-up page and processor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "utils/proto/pmu.h"

#define WIDTH 48
#define OFFSET (UINT64_C(7) << 50)

static struct perf_event_mmap_page page;
static uint64_t counter;		/* what the processor shows */
static uint32_t asked;			/* which one was read last */
static unsigned changes;		/* of the page, while it is read */
static unsigned reads;

static uint64_t processor(uint32_t n)
{
	asked = n;
	reads++;
	if (changes > 0) {
		changes--;
		page.lock++;
		page.offset++;
	}
	return counter;
}

static int page_make(void **state)
{
	page = (struct perf_event_mmap_page){
		.index = 3, .offset = OFFSET, .pmc_width = WIDTH, .cap_user_rdpmc = 1,
	};
	counter = 1000;
	changes = reads = 0;
	return 0;
}

static void adds_what_the_processor_has(void **state)
{
	uint64_t value = 0;

	assert_true(ftr_pmu_read(&page, processor, &value));
	assert_int_equal(value, OFFSET + 1000);
	assert_int_equal(asked, 2);
	assert_int_equal(reads, 1);
}

/* The kernel begins below zero, so that a counter overflows in time. */
static void counters_begin_below_zero(void **state)
{
	uint64_t value = 0;

	counter = (UINT64_C(1) << WIDTH) - 5;
	assert_true(ftr_pmu_read(&page, processor, &value));
	assert_int_equal(value, OFFSET - 5);
	page.pmc_width = 64;
	counter = 9;
	assert_true(ftr_pmu_read(&page, processor, &value));
	assert_int_equal(value, OFFSET + 9);
}

static void reads_again_what_has_changed(void **state)
{
	uint64_t value = 0;

	changes = 2;
	assert_true(ftr_pmu_read(&page, processor, &value));
	assert_int_equal(value, OFFSET + 2 + 1000);
	assert_int_equal(reads, 3);
}

static void gives_up_in_time(void **state)
{
	uint64_t value = 0;

	changes = UINT32_MAX;
	assert_false(ftr_pmu_read(&page, processor, &value));
	assert_int_equal(reads, FTR_PMU_TRIES);
}

/* An instruction that is not permitted would end the program. */
static void asks_no_processor_that_is_not_to_be(void **state)
{
	uint64_t value = 0;

	page.cap_user_rdpmc = 0;
	assert_false(ftr_pmu_read(&page, processor, &value));
	page_make(state);
	page.index = 0;
	assert_false(ftr_pmu_read(&page, processor, &value));
	page_make(state);
	page.pmc_width = 0;
	assert_false(ftr_pmu_read(&page, processor, &value));
	page.pmc_width = 65;
	assert_false(ftr_pmu_read(&page, processor, &value));
	assert_int_equal(reads, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(adds_what_the_processor_has, page_make),
		cmocka_unit_test_setup(counters_begin_below_zero, page_make),
		cmocka_unit_test_setup(reads_again_what_has_changed, page_make),
		cmocka_unit_test_setup(gives_up_in_time, page_make),
		cmocka_unit_test_setup(asks_no_processor_that_is_not_to_be, page_make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

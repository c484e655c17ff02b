/* SPDX-License-Identifier: MIT */
/* A violated invariant of the runtime disarms and is reported once; the program goes on. */
#include "tests/unit/unit.h"

#include <string.h>

#include "libmcount/channel.h"
#include "libmcount/invariant.h"

static unsigned sent;
static char text[256];

uint64_t ftr_channel_send(enum ftr_channel_type type, const char *what, const char *more)
{
	assert_int_equal(type, FTR_CHANNEL_WARN);
	assert_null(more);
	sent++;
	strncpy(text, what, sizeof(text) - 1);
	return 0;
}

static void test_holds(void **state)
{
	ftr_state.arming = FTR_ARMED;
	assert_true(FTR_INVARIANT(sent == 0));
	assert_int_equal(ftr_state.arming, FTR_ARMED);
	assert_false(ftr_self.is_refused);
}

static void test_violated(void **state)
{
	int one = 1;

	ftr_state.arming = FTR_ARMED;
	assert_false(FTR_INVARIANT(one == 2));
	assert_int_equal(ftr_state.arming, FTR_DISARMED);
	assert_true(ftr_self.is_refused);
	assert_int_equal(sent, 1);
	assert_non_null(strstr(text, "(one == 2)"));
	assert_false(FTR_INVARIANT(one == 3));		/* one report is enough */
	assert_int_equal(sent, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holds),
		cmocka_unit_test(test_violated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The argument of --Event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "utils/record/event_word.h"

static const char *at;

static void expect(const char *name, bool is_kernel, const char *filter)
{
	struct ftr_event_word word;

	assert_true(ftr_event_word_next(&at, &word));
	assert_true(ftr_slice_eq(word.name, name));
	assert_int_equal(word.is_kernel, is_kernel);
	assert_int_equal(word.filter.len, strlen(filter));
	assert_true(filter[0] == '\0' || ftr_slice_eq(word.filter, filter));
}

static void expect_end(void)
{
	struct ftr_event_word word;

	assert_false(ftr_event_word_next(&at, &word));
	assert_false(ftr_event_word_next(&at, &word));
}

static void test_names(void **state)
{
	at = "linux:schedule, sched:*@kernel;a:b@kernel";
	expect("linux:schedule", false, "");
	expect("sched:*", true, "");
	expect("a:b", true, "");
	expect_end();
}

static void test_filter_takes_the_rest(void **state)
{
	at = "x:y,a:b@kernel if comm == \"p,q;r\" && cpu & CPUS{1,2} ";
	expect("x:y", false, "");
	expect("a:b", true, "comm == \"p,q;r\" && cpu & CPUS{1,2}");
	expect_end();
}

static void test_empty(void **state)
{
	at = "";
	expect("", false, "");
	expect_end();
	at = "a:b@kernel,";
	expect("a:b", true, "");
	expect("", false, "");
	expect_end();
	at = "@kernel";
	expect("", true, "");
	expect_end();
	at = "a:b@kernel if ";
	expect("a:b", true, "");
	expect_end();
}

/* What is neither is nobody's, so that it is refused as an unknown name. */
static void test_neither(void **state)
{
	at = "a:b@kernels,a:b@kernel iffy,a@kernel@kernel";
	expect("a:b@kernels", false, "");
	expect("a:b@kernel iffy", false, "");
	expect("a@kernel@kernel", false, "");
	expect_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_filter_takes_the_rest),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_neither),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The source that makes every stream of calls well-formed. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/trace_util.h"
#include "utils/trace/calls.h"

/* In batches of every size, for batches are cut anywhere. */
static void expect_calls(const char *words, bool has_details, const char *text)
{
	for (size_t batch = 1; batch < 8; batch++)
		expect(ftr_calls_new(stream_new(trace, words, batch), trace), has_details, text);
}

static void test_calls_balanced(void **state)
{
	expect_calls("10:a( 12:b( 15:b) 16:b( 17:b) 20:a)", true,
		     "10:a(d0 12:b(d1 15:b)d1=3-0 16:b(d1 17:b)d1=1-0 20:a)d0=10-4");
	expect_calls("10:a(@0 12:b(@1 15:b)@1 20:a)@0", true,
		     "10:a(d0 12:b(d1 15:b)d1=3-0 20:a)d0=10-3");
	expect_calls("", true, "");
}

static void test_calls_unfinished(void **state)
{
	expect_calls("10:a( 12:b(", false, "10:a( 12:b( 12:b)~? 12:a)~?");
	expect_calls("10:a( T2 12:b( T1 14:c(", false,
		     "10:a( T2 12:b( T1 14:c( 14:c)~? 14:a)~? T2 12:b)~?");
}

static void test_calls_longjmp(void **state)
{
	/* The recorded depth says what was left. */
	expect_calls("1:a(@0 2:j(@1 3:k(@2 5:b(@1 6:b)@1 7:a)@0", false,
		     "1:a( 2:j( 3:k( 3:k)~ 3:j)~ 5:b( 6:b) 7:a)");
	/* A second return of setjmp: its ENTRY was matched before. */
	expect_calls("1:a(@0 2:s(@1 3:s)@1 4:j(@1 6:s)@1 7:a)@0", false,
		     "1:a( 2:s( 3:s) 4:j( 4:j)~ 4:s(~< 6:s)< 7:a)");
}

static void test_calls_without_entry(void **state)
{
	expect_calls("5:f)@1 6:a)@0", false, "5:<lost>(~< 5:f(~< 5:f)< 5:<lost>)~< 5:a(~< 6:a)<");
	expect_calls("5:f) 6:a( 7:g) 8:a)", false, "5:f(~< 5:f)< 6:a( 6:g(~< 7:g)< 8:a)");
}

static void test_calls_unknown_depth(void **state)
{
	/* An exit of an outer call closes what is inside. */
	expect_calls("1:a( 2:b( 3:c( 4:a)", false, "1:a( 2:b( 3:c( 3:c)~ 3:b)~ 4:a)");
}

static void test_calls_lost(void **state)
{
	expect_calls("1:a(@0 1:!3 2:c(@2 3:c)@2 4:a)@0", false,
		     "1:a( 1:!3 1:<lost>(~< 2:c( 3:c) 3:<lost>)~< 4:a)");
}

static void test_calls_absurd_depth(void **state)
{
	expect_calls("1:a(@0 2:b(@70000 3:b)@70000 4:a)@0", true,
		     "1:a(d0 2:b(d1 3:b)d1=1-0 4:a)d0=3-1");
}

static void test_calls_time_back(void **state)
{
	expect_calls("10:a( 8:b( 9:b) 20:a)", true, "10:a(d0 10:b(d1 10:b)d1=0-0 20:a)d0=10-0");
}

static void test_calls_deep(void **state)
{
	struct ftr_strbuf words;
	struct ftr_source *source;
	struct ftr_event *evs;
	uint32_t deepest = 0;
	ssize_t nr;

	/* Deeper than a record can say, and than a batch: an abrupt end closes them all. */
	ftr_strbuf_init(&words);
	for (int i = 0; i < 1500; i++)
		ftr_strbuf_printf(&words, "%d:f( ", i + 1);
	source = ftr_calls_new(stream_new(trace, ftr_strbuf_str(&words), 256), trace);
	size_t events = 0;
	while ((nr = ftr_source_next(source, &evs, NULL)) > 0) {
		events += (size_t)nr;
		for (ssize_t i = 0; i < nr; i++)
			deepest = evs[i].depth > deepest ? evs[i].depth : deepest;
	}
	assert_int_equal(events, 3000);
	assert_int_equal(deepest, 1499);
	ftr_source_free(source);
	ftr_strbuf_fini(&words);
}

static void test_calls_scheduled(void **state)
{
	/* Time scheduled out is a callee's. */
	expect_calls("10:a( 12:out 18:in 20:a)", true, "10:a(d0 12:outd1 18:ind1 20:a)d0=10-6");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, trace_setup, trace_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_calls_balanced), TEST(test_calls_unfinished), TEST(test_calls_longjmp),
		TEST(test_calls_without_entry), TEST(test_calls_unknown_depth),
		TEST(test_calls_lost), TEST(test_calls_absurd_depth), TEST(test_calls_time_back),
		TEST(test_calls_deep), TEST(test_calls_scheduled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

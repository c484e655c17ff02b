/* SPDX-License-Identifier: MIT */
/* Numbers and words in texts, and the columns of durations. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "utils/base/text.h"

static struct ftr_slice slice(const char *s)
{
	return ftr_slice_make(s, strlen(s));
}

static void expect_slice(struct ftr_slice got, const char *s)
{
	assert_int_equal(got.len, strlen(s));
	assert_memory_equal(got.s, s, got.len);
}

static void slices(void **state)
{
	assert_true(ftr_slice_eq(slice("abc"), "abc"));
	assert_false(ftr_slice_eq(slice("abc"), "abcd"));
	assert_false(ftr_slice_eq(slice("abc"), "ab"));
	assert_true(ftr_slice_eq(slice(""), ""));
	assert_true(ftr_slice_starts(slice("abc"), "ab"));
	assert_true(ftr_slice_starts(slice("abc"), ""));
	assert_false(ftr_slice_starts(slice("a"), "ab"));
	expect_slice(ftr_slice_trim(slice(" \t a b\r\n")), "a b");
	expect_slice(ftr_slice_trim(slice("   ")), "");
}

static void split_visits_every_part(void **state)
{
	static const char *const parts[] = { "a", "", "bc", "" };
	struct ftr_slice rest = slice("a,,bc,");
	struct ftr_slice head;

	for (size_t i = 0; i < 4; i++) {
		assert_true(ftr_slice_split(&rest, ',', &head));
		expect_slice(head, parts[i]);
	}
	assert_false(ftr_slice_split(&rest, ',', &head));
	rest = slice("");
	assert_true(ftr_slice_split(&rest, ',', &head));
	expect_slice(head, "");
	assert_false(ftr_slice_split(&rest, ',', &head));
}

/* Every byte at every place, in texts of up to three times what is looked at together. */
static void control_characters_are_found(void **state)
{
	char text[48];

	memset(text, 'x', sizeof(text));
	for (size_t len = 0; len <= sizeof(text); len++) {
		assert_true(ftr_text_is_printable(text, len));
		for (size_t at = 0; at < len; at++) {
			for (int c = 0; c < 256; c++) {
				text[at] = (char)c;
				assert_int_equal(ftr_text_is_printable(text, len),
						 c >= ' ' && c != 0x7f);
			}
			text[at] = '\n';
			assert_true(ftr_text_is_printable(text, at));
			text[at] = 'x';
		}
	}
}

static const struct number_case {
	const char *text;
	unsigned base;
	int ret;
	uint64_t value;
} u64_cases[] = {
	{ "0", 10, 0, 0 },
	{ "18446744073709551615", 10, 0, UINT64_MAX },
	{ "18446744073709551616", 10, -ERANGE, 0 },
	{ "99999999999999999999999", 10, -ERANGE, 0 },
	{ "ffffffffffffffff", 16, 0, UINT64_MAX },
	{ "10000000000000000", 16, -ERANGE, 0 },
	{ "DeadBeef", 16, 0, 0xdeadbeef },
	{ "0x1F", 0, 0, 31 },
	{ "017", 0, 0, 17 },
	{ "777", 8, 0, 511 },
	{ "8", 8, -EINVAL, 0 },
	{ "", 10, -EINVAL, 0 },
	{ "0x", 0, -EINVAL, 0 },
	{ "0x1", 16, -EINVAL, 0 },
	{ "-1", 10, -EINVAL, 0 },
	{ "+1", 10, -EINVAL, 0 },
	{ " 1", 10, -EINVAL, 0 },
	{ "1 ", 10, -EINVAL, 0 },
	{ "12a", 10, -EINVAL, 0 },
	{ "99999999999999999999999x", 10, -EINVAL, 0 },
};

static void unsigned_numbers(void **state)
{
	for (size_t i = 0; i < sizeof(u64_cases) / sizeof(u64_cases[0]); i++) {
		const struct number_case *c = &u64_cases[i];
		uint64_t value = 4711;

		assert_int_equal(ftr_parse_u64(slice(c->text), c->base, &value), c->ret);
		assert_int_equal(value, c->ret == 0 ? c->value : 4711);
	}
}

static void signed_numbers(void **state)
{
	int64_t value = 0;

	assert_int_equal(ftr_parse_i64(slice("-9223372036854775808"), &value), 0);
	assert_true(value == INT64_MIN);
	assert_int_equal(ftr_parse_i64(slice("9223372036854775807"), &value), 0);
	assert_true(value == INT64_MAX);
	assert_int_equal(ftr_parse_i64(slice("+5"), &value), 0);
	assert_int_equal(value, 5);
	assert_int_equal(ftr_parse_i64(slice("9223372036854775808"), &value), -ERANGE);
	assert_int_equal(ftr_parse_i64(slice("-9223372036854775809"), &value), -ERANGE);
	assert_int_equal(ftr_parse_i64(slice("-"), &value), -EINVAL);
	assert_int_equal(ftr_parse_i64(slice("--1"), &value), -EINVAL);
	assert_int_equal(ftr_parse_i64(slice(""), &value), -EINVAL);
}

static void sizes(void **state)
{
	static const struct number_case cases[] = {
		{ "0", 0, 0, 0 },
		{ "100", 0, 0, 100 },
		{ "100B", 0, 0, 100 },
		{ "128K", 0, 0, 131072 },
		{ "4m", 0, 0, 4194304 },
		{ "1G", 0, 0, 1073741824 },
		{ "2TB", 0, 0, UINT64_C(2) << 40 },
		{ "17179869183G", 0, 0, UINT64_C(17179869183) << 30 },
		{ "17179869184G", 0, -ERANGE, 0 },
		{ "99999999999999999999", 0, -ERANGE, 0 },
		{ "", 0, -EINVAL, 0 },
		{ "K", 0, -EINVAL, 0 },
		{ "1KK", 0, -EINVAL, 0 },
		{ "1.5K", 0, -EINVAL, 0 },
		{ "-1", 0, -EINVAL, 0 },
		{ "1 K", 0, -EINVAL, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = 4711;

		assert_int_equal(ftr_parse_size(slice(cases[i].text), &value), cases[i].ret);
		assert_int_equal(value, cases[i].ret == 0 ? cases[i].value : 4711);
	}
}

static void times(void **state)
{
	static const struct number_case cases[] = {
		{ "100", false, 0, 100 },
		{ "0", false, 0, 0 },
		{ "10ns", true, 0, 10 },
		{ "10us", true, 0, 10000 },
		{ "1.5ms", true, 0, 1500000 },
		{ "1.0000005ms", true, 0, 1000000 },
		{ "2s", true, 0, 2000000000 },
		{ "1.5m", true, 0, UINT64_C(90000000000) },
		{ "2h", true, 0, UINT64_C(7200000000000) },
		{ "0.000000001s", true, 0, 1 },
		{ "1.23456789012345678901234567890s", true, 0, 1234567890 },
		{ "18446744073709551615", false, 0, UINT64_MAX },
		{ "18446744073s", true, 0, UINT64_C(18446744073000000000) },
		{ "18446744074s", true, -ERANGE, 0 },
		{ "18446744073.999s", true, -ERANGE, 0 },
		{ "99999999999999999999", false, -ERANGE, 0 },
		{ "1.5", false, -EINVAL, 0 },
		{ "1.s", false, -EINVAL, 0 },
		{ ".5s", false, -EINVAL, 0 },
		{ "5 s", true, -EINVAL, 0 },
		{ "5sec", true, -EINVAL, 0 },
		{ "5S", true, -EINVAL, 0 },
		{ "-5s", false, -EINVAL, 0 },
		{ "", false, -EINVAL, 0 },
		{ "s", false, -EINVAL, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool has_unit = false;
		uint64_t value = 4711;

		assert_int_equal(ftr_parse_time(slice(cases[i].text), &value, NULL), cases[i].ret);
		assert_int_equal(ftr_parse_time(slice(cases[i].text), &value, &has_unit),
				 cases[i].ret);
		assert_int_equal(value, cases[i].ret == 0 ? cases[i].value : 4711);
		assert_int_equal(has_unit, cases[i].base);
	}
}

static void timestamps(void **state)
{
	static const struct number_case cases[] = {
		{ "2891.568304588", 0, 0, UINT64_C(2891568304588) },
		{ "0.000000001", 0, 0, 1 },
		{ "5", 0, 0, UINT64_C(5000000000) },
		{ "5.5", 0, 0, UINT64_C(5500000000) },
		{ "18446744073.709551615", 0, 0, UINT64_MAX },
		{ "18446744073.709551616", 0, -ERANGE, 0 },
		{ "1.0000000001", 0, -EINVAL, 0 },
		{ "1.", 0, -EINVAL, 0 },
		{ ".1", 0, -EINVAL, 0 },
		{ "1.-1", 0, -EINVAL, 0 },
		{ "1,5", 0, -EINVAL, 0 },
		{ "", 0, -EINVAL, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = 4711;

		assert_int_equal(ftr_parse_timestamp(slice(cases[i].text), &value), cases[i].ret);
		assert_int_equal(value, cases[i].ret == 0 ? cases[i].value : 4711);
	}
}

static void utf8_characters(void **state)
{
	assert_int_equal(ftr_utf8_char("", 0), 0);
	assert_int_equal(ftr_utf8_char("\0", 1), 1);
	assert_int_equal(ftr_utf8_char("\x7f", 1), 1);
	assert_int_equal(ftr_utf8_char("\xc2\x80", 2), 2);
	assert_int_equal(ftr_utf8_char("\xe0\xa0\x80", 3), 3);
	assert_int_equal(ftr_utf8_char("\xef\xbf\xbf", 3), 3);
	assert_int_equal(ftr_utf8_char("\xf4\x8f\xbf\xbf", 4), 4);
	assert_int_equal(ftr_utf8_char("\xf4\x90\x80\x80", 4), 0);	/* above U+10FFFF */
	assert_int_equal(ftr_utf8_char("\xe0\x9f\xbf", 3), 0);		/* overlong */
	assert_int_equal(ftr_utf8_char("\xf0\x8f\xbf\xbf", 4), 0);
	assert_int_equal(ftr_utf8_char("\xed\xbf\xbf", 3), 0);		/* surrogate */
	assert_int_equal(ftr_utf8_char("\xe2\x82\xac", 2), 0);		/* cut off */
	assert_int_equal(ftr_utf8_char("\xe2\x82(", 3), 0);
	assert_int_equal(ftr_utf8_char("\x80", 1), 0);
}

/* Taken from uftrace's own output, but from one hour on, where it is wrong. */
static void durations(void **state)
{
	static const struct { uint64_t ns; const char *text; } cases[] = {
		{ 0, "          " },
		{ 1, "  0.001 us" },
		{ 849, "  0.849 us" },
		{ 999, "  0.999 us" },
		{ 1000, "  1.000 us" },
		{ 201034, "201.034 us" },
		{ 999999, "999.999 us" },
		{ 1000000, "  1.000 ms" },
		{ 2351999, "  2.351 ms" },
		{ 999999999, "999.999 ms" },
		{ 1000000000, "  1.000  s" },
		{ 1234567890, "  1.234  s" },
		{ UINT64_C(59999999999), " 59.999  s" },
		{ UINT64_C(60000000000), "  1.000  m" },
		{ UINT64_C(61000000000), "  1.001  m" },
		{ UINT64_C(119999999999), "  1.059  m" },
		{ UINT64_C(1439999999999), " 23.059  m" },
		{ UINT64_C(3599999999999), " 59.059  m" },
		{ UINT64_C(3600000000000), "  1.000  h" },
		{ UINT64_C(7980000000000), "  2.013  h" },
		{ UINT64_C(3599999999999999), "999.059  h" },
		{ UINT64_C(3600000000000000), "999.999  h" },
		{ UINT64_MAX, "999.999  h" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[FTR_DURATION_CHARS + 1];

		text[FTR_DURATION_CHARS] = '#';
		assert_ptr_equal(ftr_fmt_duration(text, cases[i].ns), text + FTR_DURATION_CHARS);
		assert_int_equal(text[FTR_DURATION_CHARS], '#');
		text[FTR_DURATION_CHARS] = '\0';
		assert_string_equal(text, cases[i].text);
	}
}

/* Every three digits, before the point and behind it. */
static void durations_have_all_digits(void **state)
{
	for (unsigned i = 1; i < 1000; i++) {
		char text[FTR_DURATION_CHARS + 1] = "", wanted[32];

		ftr_fmt_duration(text, i * UINT64_C(1000) + 999 - i);
		snprintf(wanted, sizeof(wanted), "%3u.%03u us", i, 999 - i);
		assert_string_equal(text, wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices),
		cmocka_unit_test(split_visits_every_part),
		cmocka_unit_test(control_characters_are_found),
		cmocka_unit_test(unsigned_numbers),
		cmocka_unit_test(signed_numbers),
		cmocka_unit_test(sizes),
		cmocka_unit_test(times),
		cmocka_unit_test(timestamps),
		cmocka_unit_test(utf8_characters),
		cmocka_unit_test(durations),
		cmocka_unit_test(durations_have_all_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

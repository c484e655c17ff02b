/* SPDX-License-Identifier: MIT */
/* Patterns: whole names, globs, regular expressions. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

#include "utils/trace/pattern.h"

static bool matches(const char *text, enum ftr_match match, const char *name)
{
	struct ftr_pattern *pattern;
	struct ftr_err err = { 0 };
	bool is_so;

	assert_int_equal(ftr_pattern_new(&pattern, ftr_slice_make(text, strlen(text)), match, NULL,
					 &err), 0);
	is_so = ftr_pattern_matches(pattern, name);
	ftr_pattern_free(pattern);
	return is_so;
}

static void a_plain_pattern_is_a_whole_name(void **state)
{
	for (int match = FTR_MATCH_REGEX; match <= FTR_MATCH_EXACT; match++) {
		assert_true(matches("main", match, "main"));
		assert_false(matches("main", match, "mainly"));
		assert_false(matches("main", match, "domain"));
		assert_true(matches("ns::f", match, "ns::f"));
	}
	assert_false(matches("ma.n", FTR_MATCH_EXACT, "main"));
	assert_false(matches("ma*", FTR_MATCH_EXACT, "main"));
}

static void a_regex_matches_anywhere(void **state)
{
	assert_true(matches("^ma", FTR_MATCH_REGEX, "main"));
	assert_false(matches("^ai", FTR_MATCH_REGEX, "main"));
	assert_true(matches("ai.", FTR_MATCH_REGEX, "main"));
	assert_true(matches("a|b", FTR_MATCH_REGEX, "xbx"));
	assert_true(matches("^(foo|bar)[0-9]+$", FTR_MATCH_REGEX, "bar12"));
	assert_false(matches("^(foo|bar)[0-9]+$", FTR_MATCH_REGEX, "bar12x"));
	assert_true(matches("\\bmap\\b", FTR_MATCH_REGEX, "std::map::find"));
}

static void a_glob_matches_the_whole(void **state)
{
	assert_true(matches("ma*", FTR_MATCH_GLOB, "main"));
	assert_false(matches("a*", FTR_MATCH_GLOB, "main"));
	assert_true(matches("m[ai]?n", FTR_MATCH_GLOB, "main"));
	assert_true(matches("std::*", FTR_MATCH_GLOB, "std::map::find"));
	/* What is special in a regular expression is a letter here. */
	assert_true(matches("f.part.0", FTR_MATCH_GLOB, "f.part.0"));
	assert_false(matches("f.part.0", FTR_MATCH_GLOB, "f_part_0"));
}

static void a_name_with_special_letters_is_itself(void **state)
{
	assert_true(matches("operator+", FTR_MATCH_REGEX, "operator+"));
	assert_true(matches("operator()", FTR_MATCH_REGEX, "operator()"));
	assert_true(matches("f[abi:cxx11]", FTR_MATCH_GLOB, "f[abi:cxx11]"));
}

static void a_bad_regex_has_a_place(void **state)
{
	struct ftr_pattern *pattern;
	struct ftr_err err = { 0 };
	size_t at = 0;

	assert_int_equal(ftr_pattern_new(&pattern, ftr_slice_make("ab(c", 4), FTR_MATCH_REGEX, &at,
					 &err), -EINVAL);
	assert_int_equal(at, 4);
	assert_non_null(strstr(err.text, "not a regular expression: "));
	/* As glob and as name it is fine. */
	assert_true(matches("ab(c", FTR_MATCH_GLOB, "ab(c"));
}

static void a_hopeless_regex_ends(void **state)
{
	assert_false(matches("^(a+)+$", FTR_MATCH_REGEX,
			     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"));
}

static void a_symbol_has_several_names(void **state)
{
	const struct ftr_pattern_names names = {
		.shown = "ns::f(int)", .simple = "ns::f", .mangled = "_ZN2ns1fEi"
	};
	static const struct {
		const char *text;
		bool is_match;
	} cases[] = {
		{ "ns::f", true }, { "ns::f(int)", true }, { "_ZN2ns1fEi", true }, { "^ns", true },
		{ "int", false }, { "i.t", true }, { "^_ZN", false }, { "f", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ftr_pattern *pattern;

		assert_int_equal(ftr_pattern_new(&pattern, ftr_slice_make(cases[i].text,
									  strlen(cases[i].text)),
						 FTR_MATCH_REGEX, NULL, NULL), 0);
		assert_int_equal(ftr_pattern_matches_names(pattern, &names), cases[i].is_match);
		ftr_pattern_free(pattern);
	}
}

static bool matches_symbol(const char *text, const char *shown, const char *mangled)
{
	const struct ftr_pattern_names names = { .shown = shown, .mangled = mangled };
	struct ftr_pattern *pattern;
	bool is_match;

	assert_int_equal(ftr_pattern_new(&pattern, ftr_slice_make(text, strlen(text)),
					 FTR_MATCH_REGEX, NULL, NULL), 0);
	is_match = ftr_pattern_matches_symbol(pattern, &names);
	ftr_pattern_free(pattern);
	return is_match;
}

/* Of functions that are shown without them. */
static void parameters_and_template_arguments_choose(void **state)
{
	static const struct {
		const char *text;
		bool is_match;
	} cases[] = {
		{ "int ns::most<int>(int, int)", true }, { "ns::most<int>(int, int)", true },
		{ "ns::most<int>(int,int)", true }, { "ns::most<int>", true },
		{ "ns::most", true }, { "ns::most<long>", false }, { "ns::most<int>(int)", false },
		{ "most<int>", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(matches_symbol(cases[i].text, "ns::most",
						"_ZN2ns4mostIiEET_S1_S1_"), cases[i].is_match);
	assert_true(matches_symbol("call(void (*)(int))", "call", "_Z4callPFviE"));
	assert_false(matches_symbol("call(void (*)(long))", "call", "_Z4callPFviE"));
	assert_true(matches_symbol("(anonymous namespace)::f(int)", "(anonymous namespace)::f",
				   "_ZN12_GLOBAL__N_11fEi"));
}

static void tags_do_not_count(void **state)
{
	static const char *const texts[] = {
		"ns::text", "ns::text(int)", "ns::text[abi:cxx11](int)", "ns::text::cxx11", NULL
	};

	for (const char *const *text = texts; *text != NULL; text++)
		assert_true(matches_symbol(*text, "ns::text::cxx11", "_ZN2ns4textB5cxx11Ei"));
	assert_false(matches_symbol("text", "ns::text::cxx11", "_ZN2ns4textB5cxx11Ei"));
	assert_false(matches_symbol("ns::text(long)", "ns::text::cxx11", "_ZN2ns4textB5cxx11Ei"));
}

static void operators_are_themselves(void **state)
{
	static const char *const names[] = {
		"op::operator[]", "op::operator()", "op::operator+", "op::operator++", "op::operator<",
		"op::operator|", "op::operator*", "op::operator->", "operator new[]", NULL
	};

	for (const char *const *a = names; *a != NULL; a++) {
		for (const char *const *b = names; *b != NULL; b++)
			assert_int_equal(matches(*a, FTR_MATCH_REGEX, *b), a == b);
	}
	assert_true(matches_symbol("op::operator[](int)", "op::operator[]", "_ZN2opixEi"));
	assert_false(matches_symbol("op::operator[](long)", "op::operator[]", "_ZN2opixEi"));
	assert_true(matches("operator.*", FTR_MATCH_REGEX, "op::operator+"));
	assert_true(matches("operator(new|delete)?", FTR_MATCH_REGEX, "operatornew"));
	assert_true(matches("my_operator+", FTR_MATCH_REGEX, "my_operatorr"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_pattern_is_a_whole_name),
		cmocka_unit_test(a_regex_matches_anywhere),
		cmocka_unit_test(a_glob_matches_the_whole),
		cmocka_unit_test(a_name_with_special_letters_is_itself),
		cmocka_unit_test(a_bad_regex_has_a_place),
		cmocka_unit_test(a_hopeless_regex_ends),
		cmocka_unit_test(a_symbol_has_several_names),
		cmocka_unit_test(parameters_and_template_arguments_choose),
		cmocka_unit_test(tags_do_not_count),
		cmocka_unit_test(operators_are_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

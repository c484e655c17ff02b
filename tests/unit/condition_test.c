/* SPDX-License-Identifier: MIT */
/* Conditions of rules: what they compare, what they know, and what is wrong with them. */
#include "tests/unit/rule_util.h"

#include <errno.h>
#include <string.h>

#include "utils/base/strbuf.h"
#include "utils/trace/args.h"
#include "utils/trace/condition.h"
#include "utils/trace/rule.h"
#include "utils/trace/rule_text.h"

/* f(int, char *, double, enum, unsigned, auto, bool) = signed */
static const struct ftr_arg_enum colors = {
	.name = "color", .nr = 2,
	.values = (const struct ftr_arg_enumerator[]){ { "RED", 0 }, { "BLUE", 4 } },
};

static const struct ftr_arg args_of_f[] = {
	{ .index = 1, .format = FTR_ARG_SIGNED, .size = 4 },
	{ .index = 2, .format = FTR_ARG_STRING },
	{ .index = 1, .format = FTR_ARG_FLOAT, .size = 8, .is_float_reg = true },
	{ .index = 3, .format = FTR_ARG_ENUM, .size = 4, .values = &colors },
	{ .index = 4, .format = FTR_ARG_HEX, .size = 4 },
	{ .index = 5, .format = FTR_ARG_AUTO, .size = 8 },
	{ .index = 6, .format = FTR_ARG_CHAR, .size = 1 },
};

static const struct ftr_arg retval_of_f = { .format = FTR_ARG_SIGNED, .size = 4 };

/* In the rules' arena. */
static const struct ftr_argspec *spec_new(const struct ftr_arg *args, uint16_t nr)
{
	struct ftr_argspec *spec =
		ftr_arena_alloc(&rules.arena, sizeof(*spec) + nr * sizeof(*args));

	assert_non_null(spec);
	spec->nr = nr;
	memcpy(spec->args, args, nr * sizeof(*args));
	return spec;
}

struct values {
	int32_t number;
	uint16_t len;
	char text[6];
	double real;
	uint32_t color, bits;
	uint64_t any;
	char c[4];
} __attribute__((packed));

static const struct values values = {
	.number = -7, .len = 6, .text = { 'G', 'E', 'T', ' ', '/', 'x' }, .real = 2.5, .color = 4,
	.bits = 0xfffffffe, .any = 0xfffffffb, .c = "x",
};

static enum ftr_truth test_misfit(const char *text, bool has_exit,
				  struct ftr_condition_misfit *misfit)
{
	static const int32_t result = -1;
	const struct ftr_payload args = { .data = (const uint8_t *)&values, .len = sizeof(values),
					  .spec = spec_new(args_of_f, 7) };
	const struct ftr_payload retval = { .data = (const uint8_t *)&result, .len = 4,
					    .spec = spec_new(&retval_of_f, 1) };
	const struct ftr_condition_facts facts = {
		.args = &args, .retval = has_exit ? &retval : NULL, .duration_ns = 12000,
		.has_exit = has_exit,
	};
	struct ftr_rule_text reader = { .s = text };
	const struct ftr_condition *condition = NULL;
	struct ftr_err err = { 0 };
	int ret = ftr_condition_parse(&condition, &reader, &rules.arena, &err);

	if (ret < 0 || text[reader.pos] != '\0')
		print_error("%s: %s\n", text, err.text);
	assert_int_equal(ret, 0);
	assert_int_equal(text[reader.pos], '\0');
	*misfit = ftr_condition_misfit(condition, &facts);
	return ftr_condition_test(condition, &facts);
}

static enum ftr_truth test(const char *text, bool has_exit)
{
	struct ftr_condition_misfit misfit;

	return test_misfit(text, has_exit, &misfit);
}

static void comparisons_are_as_in_c(void **state)
{
	static const char *const are_true[] = {
		"arg1 == -7", "arg1==-7", "arg1 != 7", "arg1 < 0", "arg1 <= -7", "arg1 >= -7",
		"arg1 > -8", "arg1", "!(arg1 == 3)", "! arg1 == 3", "arg4 == 0xfffffffe", "arg4 > 5",
		"arg4 == -2", "arg4 & 2", "!arg4 & 1", "arg5 == -5", "arg5 < 0", "arg6 == 'x'",
		"arg6 == 120", "arg6 == 0170", "fparg1 == 2.5", "fparg1 > 2", "fparg1 < 1e1",
		"fparg1 == 2.4999999999999999", "fparg1 == 2.50000000000000000001",
		"fparg1", "arg1 < -6.5", "arg2 == \"GET /x\"", "arg2 ~ \"GET *\"", "arg2 ~ GET*",
		"arg2 !~ POST*", "arg2 != GET", "arg2", "arg3 == BLUE", "arg3 != RED", "arg3 == 4",
		"arg1 == -7 && arg3 == BLUE", "arg1 == 0 || arg3 == BLUE",
		"(arg1 == 0 || arg1 == -7) && !(arg3 == RED)",
		"arg1==0&&arg1==0||arg3==4", " ( ( arg1 < 0 ) ) ",
	};
	static const char *const are_false[] = {
		"arg1 == 7", "arg1 > -7", "arg1 < -7", "!arg1", "arg4 & 1", "fparg1 == 2",
		"arg2 ~ GET", "arg2 == POST", "arg3 == RED", "arg1 == -7 && arg3 == RED",
		"!(arg1 == -7 || arg3 == RED)", "arg1 == 0 && (arg3 == 4 || arg3 == 4)",
	};

	for (size_t i = 0; i < sizeof(are_true) / sizeof(are_true[0]); i++) {
		if (test(are_true[i], false) != FTR_TRUE)
			fail_msg("%s is not true", are_true[i]);
	}
	for (size_t i = 0; i < sizeof(are_false) / sizeof(are_false[0]); i++) {
		if (test(are_false[i], false) != FTR_FALSE)
			fail_msg("%s is not false", are_false[i]);
	}
}

static void what_is_not_known_is_neither(void **state)
{
	static const char *const unknown[] = {
		"arg9 == 1", "!(arg9 == 1)", "arg9", "fparg2 > 1", "arg2 > 3 && arg9", "arg2 & 1",
		"arg1 == hello", "arg1 ~ 1*", "fparg1 == x", "retval < 0", "duration > 1us",
		"arg9 == 1 && arg1 == -7", "arg9 == 1 || arg1 == 0",
	};

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		if (test(unknown[i], false) != FTR_UNKNOWN)
			fail_msg("%s is known", unknown[i]);
	}
	/* What decides, decides. */
	assert_int_equal(test("arg9 == 1 && arg1 == 0", false), FTR_FALSE);
	assert_int_equal(test("arg9 == 1 || arg1 == -7", false), FTR_TRUE);
	assert_int_equal(test("retval < 0", true), FTR_TRUE);
	assert_int_equal(test("retval == 0", true), FTR_FALSE);
	assert_int_equal(test("duration > 10us", true), FTR_TRUE);
	assert_int_equal(test("duration >= 12us", true), FTR_TRUE);
	assert_int_equal(test("duration < 12000", true), FTR_FALSE);
}

/* What is compared with what it is not: the first of them. */
static void misfits_are_found(void **state)
{
	static const struct {
		const char *text, *word;
		enum ftr_arg_format format;
	} rows[] = {
		{ "arg1 == hello", "hello", FTR_ARG_SIGNED },
		{ "arg9 == 1 && arg3 == REDD", "REDD", FTR_ARG_ENUM },
		{ "!(arg3 == BLUE && arg1 ~ \"1*\")", "1*", FTR_ARG_SIGNED },
		{ "arg2 & 3", "3", FTR_ARG_STRING },
		{ "fparg1 == x || arg1 == y", "x", FTR_ARG_FLOAT },
	};
	struct ftr_condition_misfit misfit;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		test_misfit(rows[i].text, false, &misfit);
		assert_non_null(misfit.node);
		assert_string_equal(misfit.node->text, rows[i].word);
		assert_int_equal(misfit.format, rows[i].format);
		assert_ptr_equal(misfit.values, misfit.format == FTR_ARG_ENUM ? &colors : NULL);
	}
	test_misfit("arg9 == 1 || retval == x || duration > 1us || arg3 == RED", false, &misfit);
	assert_null(misfit.node);
}

static void conditions_know_when_to_ask(void **state)
{
	static const struct {
		const char *text;
		bool needs_exit;
	} cases[] = {
		{ "f@if:arg1>1", false }, { "f@if:retval>1", true }, { "f@if:duration>1", true },
		{ "f@if:arg1>1 && !(arg2 || fparg1)", false },
		{ "f@if:arg1>1||!(arg2||retval)", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ftr_rule *rule = parse(FTR_RULE_OF_FILTER, cases[i].text);

		assert_int_equal(ftr_condition_needs_exit(rule->condition), cases[i].needs_exit);
	}
}

static void a_condition_ends_where_it_must(void **state)
{
	const struct ftr_rule *rule =
		parse(FTR_RULE_OF_FILTER, "f@depth=1,if:arg1 ~ \"a,b;c\\\"@\" && arg2>1,time=5;g");

	assert_int_equal(rules.rules.nr, 2);
	assert_string_equal(rule->text, "g");
	assert_int_equal(rule[-1].values.time_ns, 5);
	assert_string_equal(rule[-1].condition->left->text, "a,b;c\"@");
}

static void wrong_conditions_have_a_place(void **state)
{
	static const struct {
		const char *text, *why;
		int column;
	} cases[] = {
		{ "", "a condition is about argN, fpargN, retval or duration", 0 },
		{ "x>1", "a condition is about argN, fpargN, retval or duration", 0 },
		{ "arg>1", "arguments count from 1: arg1, fparg1", 3 },
		{ "arg0>1", "arguments count from 1: arg1, fparg1", 3 },
		{ "arg1>", "a number, a time, 'c' or \"text\" is expected here", 5 },
		{ "arg1=1", "the condition ends here; \",\" or \"&&\" is missing", 4 },
		{ "arg1 arg2", "the condition ends here; \",\" or \"&&\" is missing", 5 },
		{ "arg1>1)", "the condition ends here; \",\" or \"&&\" is missing", 6 },
		{ "(arg1>1", "this ( has no )", 0 },
		{ "arg1>1 &&", "a condition is about argN, fpargN, retval or duration", 9 },
		{ "arg1 == \"x", "the text has no end: \" is missing", 8 },
		{ "arg1 & x", "\"&\" compares with a number", 7 },
		{ "arg1 ~ 'x'", "\"~\" compares texts", 7 },
		{ "duration > x", "a time is expected here, like 10ms", 11 },
		{ "duration & 1", "a duration is compared with a time, by == != > >= < <=", 11 },
		{ "duration > \"1\"",
		  "a duration is compared with a time, by == != > >= < <=", 11 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[80];

		snprintf(text, sizeof(text), "f@if:%s", cases[i].text);
		refuse(FTR_RULE_OF_FILTER, text, cases[i].why, 5 + cases[i].column);
	}
}

static void endless_conditions_are_refused(void **state)
{
	static const char *const parts[] = { "(", "!", "arg1||" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct ftr_strbuf text;
		struct ftr_err err = { 0 };

		ftr_strbuf_init(&text);
		ftr_strbuf_puts(&text, "f@if:");
		for (int n = 0; n < 100000; n++)
			ftr_strbuf_puts(&text, parts[i]);
		ftr_strbuf_puts(&text, "arg1");
		assert_int_equal(ftr_rules_parse(&rules, FTR_RULE_OF_FILTER, text.s,
						 FTR_MATCH_REGEX, &err), -EINVAL);
		assert_non_null(strstr(err.text, "too many parts"));
		ftr_strbuf_fini(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(comparisons_are_as_in_c, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_known_is_neither, setup, teardown),
		cmocka_unit_test_setup_teardown(misfits_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(conditions_know_when_to_ask, setup, teardown),
		cmocka_unit_test_setup_teardown(a_condition_ends_where_it_must, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_conditions_have_a_place, setup, teardown),
		cmocka_unit_test_setup_teardown(endless_conditions_are_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

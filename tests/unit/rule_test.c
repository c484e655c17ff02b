/* SPDX-License-Identifier: MIT */
/* Rules, their patterns and conditions: every form, good and bad. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/strbuf.h"
#include "utils/trace/args.h"
#include "utils/trace/condition.h"
#include "utils/trace/pattern.h"
#include "utils/trace/rule.h"
#include "utils/trace/rule_text.h"

static struct ftr_rules rules;

static int setup(void **state)
{
	ftr_rules_init(&rules);
	return 0;
}

static int teardown(void **state)
{
	ftr_rules_fini(&rules);
	return 0;
}

/* ---- patterns ---- */

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

/* ---- rules ---- */

static const struct ftr_rule *parse(enum ftr_rule_kind kind, const char *text)
{
	struct ftr_err err = { 0 };
	int ret = ftr_rules_parse(&rules, kind, text, FTR_MATCH_REGEX, &err);

	if (ret < 0)
		print_error("%s\n", err.text);
	assert_int_equal(ret, 0);
	return &rules.rules.v[rules.rules.nr - 1];
}

/* @text is wrong, in this way and at this place, below which a caret stands. */
static void refuse(enum ftr_rule_kind kind, const char *text, const char *why, int column)
{
	struct ftr_err err = { 0 };
	char want[300];

	snprintf(want, sizeof(want), "--%s: %s\n  %s\n  %*s^", ftr_rule_option(kind), why, text,
		 column, "");
	assert_int_equal(ftr_rules_parse(&rules, kind, text, FTR_MATCH_REGEX, &err), -EINVAL);
	assert_string_equal(err.text, want);
}

static void each_option_has_its_action(void **state)
{
	static const struct {
		enum ftr_rule_kind kind;
		uint32_t actions;
	} cases[] = {
		{ FTR_RULE_OF_FILTER, FTR_RULE_FILTER },
		{ FTR_RULE_OF_NOTRACE, FTR_RULE_NOTRACE },
		{ FTR_RULE_OF_CALLER, FTR_RULE_CALLER },
		{ FTR_RULE_OF_HIDE, FTR_RULE_HIDE },
		{ FTR_RULE_OF_LOCATION, FTR_RULE_LOCATION },
		{ FTR_RULE_OF_ARGUMENT, FTR_RULE_ARGUMENT },
		{ FTR_RULE_OF_RETVAL, FTR_RULE_RETVAL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ftr_rule *rule = parse(cases[i].kind, "main");

		assert_int_equal(rule->actions, cases[i].actions);
		assert_string_equal(ftr_pattern_text(rule->pattern), "main");
		assert_string_equal(rule->text, "main");
		assert_null(rule->module);
		assert_null(rule->args);
		assert_null(rule->retval);
	}
}

static void each_action_has_its_bit(void **state)
{
	static const struct {
		const char *text;
		uint32_t actions;
	} cases[] = {
		{ "f@filter", FTR_RULE_FILTER }, { "f@notrace", FTR_RULE_NOTRACE },
		{ "f@hide", FTR_RULE_HIDE }, { "f@caller", FTR_RULE_CALLER },
		{ "f@depth=3", FTR_RULE_DEPTH }, { "f@time=1ms", FTR_RULE_TIME },
		{ "f@size=10", FTR_RULE_SIZE }, { "f@trace", FTR_RULE_TRACE },
		{ "f@trace_on", FTR_RULE_TRACE_ON }, { "f@traceon", FTR_RULE_TRACE_ON },
		{ "f@trace-on", FTR_RULE_TRACE_ON }, { "f@trace_off", FTR_RULE_TRACE_OFF },
		{ "f@traceoff", FTR_RULE_TRACE_OFF }, { "f@TRACE-OFF", FTR_RULE_TRACE_OFF },
		{ "f@finish", FTR_RULE_FINISH }, { "f@recover", FTR_RULE_RECOVER },
		{ "f@backtrace", FTR_RULE_BACKTRACE }, { "f@color=red", FTR_RULE_COLOR },
		{ "f@read=page-fault", FTR_RULE_READ }, { "f@callsite", FTR_RULE_CALLSITE },
		{ "f@arg1", FTR_RULE_ARGUMENT }, { "f@fparg1", FTR_RULE_ARGUMENT },
		{ "f@retval", FTR_RULE_RETVAL }, { "f@auto-args", FTR_RULE_AUTO_ARGS },
		{ "f@sample=10", FTR_RULE_SAMPLE }, { "f@rate=5/s", FTR_RULE_RATE },
		{ "f@dump", FTR_RULE_DUMP }, { "f@clear", FTR_RULE_CLEAR },
		{ "f@depth=1,time=2,trace", FTR_RULE_DEPTH | FTR_RULE_TIME | FTR_RULE_TRACE },
		{ "f@filter,notrace", FTR_RULE_NOTRACE },
		{ "f@trace_off,trace_on", FTR_RULE_TRACE_ON },
		{ "f@libx,trace", FTR_RULE_TRACE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(parse(FTR_RULE_OF_TRIGGER, cases[i].text)->actions,
				 cases[i].actions);
	assert_int_equal(parse(FTR_RULE_OF_FILTER, "f@notrace")->actions, FTR_RULE_NOTRACE);
	assert_int_equal(parse(FTR_RULE_OF_FILTER, "f@depth=2")->actions,
			 FTR_RULE_FILTER | FTR_RULE_DEPTH);
	assert_int_equal(parse(FTR_RULE_OF_FILTER, "!f")->actions, FTR_RULE_NOTRACE);
}

static void values_are_read(void **state)
{
	const struct ftr_rule *rule =
		parse(FTR_RULE_OF_TRIGGER, "f@depth=7,time=1.5us,size=4k,color=bold,"
		      "read=proc/statm,read=pmu-cache,sample=9,rate=200/s");

	assert_int_equal(rule->depth, 7);
	assert_int_equal(rule->time_ns, 1500);
	assert_int_equal(rule->size_bytes, 4096);
	assert_int_equal(rule->color, 'B');
	assert_int_equal(rule->reads, FTR_READ_STATM | FTR_READ_PMU_CACHE);
	assert_int_equal(rule->sample_nr, 9);
	assert_int_equal(rule->rate_per_s, 200);
}

static void specs_are_kept_as_they_are(void **state)
{
	const struct ftr_rule *rule = parse(FTR_RULE_OF_ARGUMENT,
					    "f@arg1/i32%rdi,fparg2/80%stack+8,retval/e:color,arg2/s");

	assert_string_equal(rule->args, "arg1/i32%rdi,fparg2/80%stack+8,arg2/s");
	assert_string_equal(rule->retval, "retval/e:color");
	assert_int_equal(rule->actions, FTR_RULE_ARGUMENT | FTR_RULE_RETVAL);
	rule = parse(FTR_RULE_OF_ARGUMENT, "f@retval");
	assert_int_equal(rule->actions, FTR_RULE_RETVAL);
	assert_string_equal(rule->retval, "retval");
	rule = parse(FTR_RULE_OF_RETVAL, "f@auto-args");
	assert_int_equal(rule->actions, FTR_RULE_AUTO_ARGS);
	/* A module may begin like one. */
	assert_string_equal(parse(FTR_RULE_OF_FILTER, "f@argparse")->module, "argparse");
	assert_string_equal(parse(FTR_RULE_OF_FILTER, "f@retvals")->module, "retvals");
}

static void several_rules_stand_in_one_text(void **state)
{
	parse(FTR_RULE_OF_FILTER, "a;b@depth=2;!c;");
	assert_int_equal(rules.rules.nr, 3);
	assert_string_equal(rules.rules.v[0].text, "a");
	assert_string_equal(rules.rules.v[1].text, "b@depth=2");
	assert_string_equal(rules.rules.v[2].text, "!c");
	assert_int_equal(rules.rules.v[2].actions, FTR_RULE_NOTRACE);
	assert_int_equal(ftr_rules_actions(&rules),
			 FTR_RULE_FILTER | FTR_RULE_DEPTH | FTR_RULE_NOTRACE);
	/* What is right before what is wrong is no rule, either. */
	refuse(FTR_RULE_OF_FILTER, "x;y;(", "not a regular expression: missing closing parenthesis",
	       5);
	assert_int_equal(rules.rules.nr, 3);
}

static void modules_are_of_kinds(void **state)
{
	const struct ftr_rule *rule = parse(FTR_RULE_OF_FILTER, "f@libfoo,depth=1");

	assert_int_equal(ftr_rule_module(rule), FTR_RULE_MODULE_NAMED);
	assert_true(ftr_rule_names_module(rule, "/usr/lib/libfoo.so.1"));
	assert_true(ftr_rule_names_module(rule, "libfoo"));
	assert_false(ftr_rule_names_module(rule, "/libfoo/bar"));
	assert_int_equal(ftr_rule_module(parse(FTR_RULE_OF_FILTER, "f")), FTR_RULE_MODULE_ANY);
	assert_int_equal(ftr_rule_module(parse(FTR_RULE_OF_FILTER, "f@plt")), FTR_RULE_MODULE_PLT);
	assert_int_equal(ftr_rule_module(parse(FTR_RULE_OF_FILTER, "f@PLT")), FTR_RULE_MODULE_PLT);
	assert_int_equal(ftr_rule_module(parse(FTR_RULE_OF_FILTER, "f@kernel")),
			 FTR_RULE_MODULE_KERNEL);
	assert_int_equal(ftr_rule_module(parse(FTR_RULE_OF_FILTER, "f@k")), FTR_RULE_MODULE_KERNEL);
	assert_int_equal(ftr_rule_module(parse(FTR_RULE_OF_FILTER, "f@k3b")),
			 FTR_RULE_MODULE_NAMED);
}

static void what_is_wrong_has_a_place(void **state)
{
	static const struct {
		const char *text, *why;
		int column;
	} cases[] = {
		{ "", "the name of a function is expected here", 0 },
		{ "@trace", "the name of a function is expected here", 0 },
		{ "f", "a trigger needs an action: FUNC@ACTION", 1 },
		{ "f@libx", "a trigger needs an action: FUNC@ACTION", 6 },
		{ "!f@trace", "\"!\" belongs to --filter alone", 0 },
		{ "f@", "an action or a module is expected here", 2 },
		{ "f@trace,", "an action or a module is expected here", 8 },
		{ "f@depht=3", "no action \"depht\"; did you mean depth?", 2 },
		{ "f@xyz=3", "no action \"xyz\"", 2 },
		{ "f@depth", "\"depth\" needs a value: depth=...", 7 },
		{ "f@depth=", "\"\" is not a depth from 1 on", 8 },
		{ "f@depth=0", "\"0\" is not a depth from 1 on", 8 },
		{ "f@depth=x,trace", "\"x\" is not a depth from 1 on", 8 },
		{ "f@trace=1", "\"trace\" takes no value", 7 },
		{ "f@time=9x", "\"9x\" is not a time like 10us", 7 },
		{ "f@size=a", "\"a\" is not a size in bytes", 7 },
		{ "f@sample=0", "\"0\" is not a number of calls from 1 on", 9 },
		{ "f@rate=5", "\"5\" is not a rate like 100/s", 7 },
		{ "f@rate=/s", "\"/s\" is not a rate like 100/s", 7 },
		{ "f@color=pink",
		  "\"pink\" is not a colour: red, green, blue, yellow, "
		  "magenta, cyan, bold, gray", 8 },
		{ "f@read=x",
		  "\"x\" is not one of: proc/statm, page-fault, pmu-cycle, "
		  "pmu-cache, pmu-branch", 7 },
		{ "f@liba,libb", "a second module, or no action \"libb\"", 7 },
		{ "f@trace;;", "the name of a function is expected here", 8 },
		{ "f@if:arg1>1,if:arg2>1", "a second condition: join them by \"&&\"", 12 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refuse(FTR_RULE_OF_TRIGGER, cases[i].text, cases[i].why, cases[i].column);
	assert_int_equal(rules.rules.nr, 0);
}

/* What cannot be shown is a question mark, and a character takes one column. */
static void a_place_is_counted_in_characters(void **state)
{
	struct ftr_err err = { 0 };

	assert_int_equal(ftr_rules_parse(&rules, FTR_RULE_OF_TRIGGER, "\xc3\xa4\t[@trace",
					 FTR_MATCH_REGEX, &err), -EINVAL);
	assert_string_equal(err.text, "--trigger: not a regular expression: missing terminating ] "
			    "for character class\n  \xc3\xa4?[@trace\n     ^");
}

static void long_texts_are_shown_in_part(void **state)
{
	struct ftr_strbuf text;
	struct ftr_err err = { 0 };

	ftr_strbuf_init(&text);
	for (int i = 0; i < 5000; i++)
		ftr_strbuf_puts(&text, "f@trace;");
	ftr_strbuf_puts(&text, "f@depth=x");
	for (int i = 0; i < 5000; i++)
		ftr_strbuf_puts(&text, ";f@trace");
	assert_int_equal(ftr_rules_parse(&rules, FTR_RULE_OF_TRIGGER, text.s, FTR_MATCH_REGEX,
					 &err), -EINVAL);
	assert_string_equal(err.text, "--trigger: \"x\" is not a depth from 1 on\n"
			    "  ace;f@trace;f@trace;f@trace;f@trace;f@trace;f@trace;f@depth=x;f@trace;"
			    "f@trace;f@trace;f@tr\n"
			    "                                                              ^");
	ftr_strbuf_fini(&text);
}

/* ---- conditions ---- */

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

static enum ftr_truth test(const char *text, bool has_exit)
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
	return ftr_condition_test(condition, &facts);
}

static void comparisons_are_as_in_c(void **state)
{
	static const char *const are_true[] = {
		"arg1 == -7", "arg1==-7", "arg1 != 7", "arg1 < 0", "arg1 <= -7", "arg1 >= -7",
		"arg1 > -8", "arg1", "!(arg1 == 3)", "! arg1 == 3", "arg4 == 0xfffffffe", "arg4 > 5",
		"arg4 == -2", "arg4 & 2", "!arg4 & 1", "arg5 == -5", "arg5 < 0", "arg6 == 'x'",
		"arg6 == 120", "arg6 == 0170", "fparg1 == 2.5", "fparg1 > 2", "fparg1 < 1e1",
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
	assert_int_equal(rule[-1].time_ns, 5);
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

/* Whatever is written: rules, or a description of three lines. */
static void any_text_is_read_or_refused(void **state)
{
	static const char *const parts[] = {
		"f", "@", ",", ";", "!", "if:", "arg1", "fparg2", "retval", "duration", "==", ">", "~",
		"&&", "||", "(", ")", "\"", "'", "x", "10ms", "-1", "0x7f", "1e3", "depth=", "3",
		"time=", "color=red", "trace", "trace_on", "hide", "[a-z]+", "(", "{2,1}", "\\", "*",
		"\xc3\xa4", "\t", " ", "libx", "/i32", "%rdi", "sample=", "rate=", "/s", "&", "!~",
	};
	uint32_t seed = 1;

	for (int round = 0; round < 20000; round++) {
		struct ftr_strbuf text;
		struct ftr_err err = { 0 };
		int ret;

		ftr_strbuf_init(&text);
		ftr_strbuf_puts(&text, round % 2 ? "f@" : "f@if:");
		for (int nr = 0; nr < round % 12; nr++) {
			seed = seed * 1664525 + 1013904223;
			ftr_strbuf_puts(&text,
					parts[(seed >> 8) % (sizeof(parts) / sizeof(parts[0]))]);
		}
		ret = ftr_rules_parse(&rules, (enum ftr_rule_kind)(round % FTR_RULE_KINDS), text.s,
				      (enum ftr_match)(round % 3), &err);
		if (ret != 0) {
			const char *place = strchr(err.text, '\n');

			assert_int_equal(ret, -EINVAL);
			assert_non_null(place);
			assert_non_null(strchr(place + 1, '\n'));
			assert_int_equal(err.text[strlen(err.text) - 1], '^');
		}
		ftr_strbuf_fini(&text);
		if (round % 100 == 0) {
			ftr_rules_fini(&rules);
			ftr_rules_init(&rules);
		}
	}
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
		cmocka_unit_test_setup_teardown(each_option_has_its_action, setup, teardown),
		cmocka_unit_test_setup_teardown(each_action_has_its_bit, setup, teardown),
		cmocka_unit_test_setup_teardown(values_are_read, setup, teardown),
		cmocka_unit_test_setup_teardown(specs_are_kept_as_they_are, setup, teardown),
		cmocka_unit_test_setup_teardown(several_rules_stand_in_one_text, setup, teardown),
		cmocka_unit_test_setup_teardown(modules_are_of_kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_wrong_has_a_place, setup, teardown),
		cmocka_unit_test_setup_teardown(a_place_is_counted_in_characters, setup, teardown),
		cmocka_unit_test_setup_teardown(long_texts_are_shown_in_part, setup, teardown),
		cmocka_unit_test_setup_teardown(comparisons_are_as_in_c, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_known_is_neither, setup, teardown),
		cmocka_unit_test_setup_teardown(conditions_know_when_to_ask, setup, teardown),
		cmocka_unit_test_setup_teardown(a_condition_ends_where_it_must, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_conditions_have_a_place, setup, teardown),
		cmocka_unit_test_setup_teardown(endless_conditions_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(any_text_is_read_or_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

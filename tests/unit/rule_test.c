/* SPDX-License-Identifier: MIT */
/* Rules: every form, good and bad. */
#include "tests/unit/rule_util.h"

#include <errno.h>
#include <string.h>

#include "utils/base/strbuf.h"
#include "utils/trace/args.h"
#include "utils/trace/pattern.h"
#include "utils/trace/rule.h"
#include "utils/trace/rule_text.h"

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
		{ "f@libx,trace", FTR_RULE_TRACE }, { "f@Trace-On", FTR_RULE_TRACE_ON },
		{ "f@traceoff", FTR_RULE_TRACE_OFF }, { "f@auto_args", FTR_RULE_AUTO_ARGS },
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

	assert_int_equal(rule->values.depth, 7);
	assert_int_equal(rule->values.time_ns, 1500);
	assert_int_equal(rule->values.size_bytes, 4096);
	assert_int_equal(rule->values.color, 'B');
	assert_int_equal(rule->values.reads, FTR_READ_STATM | FTR_READ_PMU_CACHE);
	assert_int_equal(rule->values.sample_nr, 9);
	assert_int_equal(rule->values.rate_per_s, 200);
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
		  "pmu-cache, pmu-branch, errno", 7 },
		{ "f@arg", "arguments count from 1: arg1", 2 },
		{ "f@trace,fparg", "arguments count from 1: fparg1", 8 },
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
		cmocka_unit_test_setup_teardown(each_option_has_its_action, setup, teardown),
		cmocka_unit_test_setup_teardown(each_action_has_its_bit, setup, teardown),
		cmocka_unit_test_setup_teardown(values_are_read, setup, teardown),
		cmocka_unit_test_setup_teardown(specs_are_kept_as_they_are, setup, teardown),
		cmocka_unit_test_setup_teardown(several_rules_stand_in_one_text, setup, teardown),
		cmocka_unit_test_setup_teardown(modules_are_of_kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_wrong_has_a_place, setup, teardown),
		cmocka_unit_test_setup_teardown(a_place_is_counted_in_characters, setup, teardown),
		cmocka_unit_test_setup_teardown(long_texts_are_shown_in_part, setup, teardown),
		cmocka_unit_test_setup_teardown(any_text_is_read_or_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

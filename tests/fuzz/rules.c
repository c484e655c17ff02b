/* SPDX-License-Identifier: MIT */
/*
 * Rules and their conditions, bent and cut: lines of corpus/rules, each an option's letter and its
 * argument.  What is taken means the same when its words are read again; what is refused has a
 * caret below the line; conditions are asked about values of any kind.  FUZZ_TIMES=N makes N times
 * as many changes.
 *
 *	rules			the test
 *	rules LINE		one line
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/trace/args.h"
#include "utils/trace/condition.h"
#include "utils/trace/event.h"
#include "utils/trace/rule.h"

#define LINE_MAX_BYTES 400
#define CHANGES 3000
#define FACTS 8

static const char letters[FTR_RULE_KINDS] = {
	[FTR_RULE_OF_FILTER] = 'F', [FTR_RULE_OF_NOTRACE] = 'N', [FTR_RULE_OF_CALLER] = 'C',
	[FTR_RULE_OF_HIDE] = 'H', [FTR_RULE_OF_LOCATION] = 'L', [FTR_RULE_OF_TRIGGER] = 'T',
	[FTR_RULE_OF_ARGUMENT] = 'A', [FTR_RULE_OF_RETVAL] = 'R',
};

/* What is put in at random places. */
static const char *const words[] = {
	"@", ",", ";", "!", "if:", "arg1", "arg6", "fparg1", "retval", "duration", "==", "!=", ">",
	">=", "<", "<=", "&", "~", "!~", "&&", "||", "(", ")", "((((((((((((((((", "!!!!!!!!!!!!!!!!",
	"0x", "18446744073709551616", "-170141183460469231731687303715884105729", "1e9999", "nan",
	"'", "\"", "\\", "10us", "1000000000000s", "depth=", "time=", "size=", "clear=", "+", "sample=",
	"rate=", "/s", "read=", "color=", "[", "*", "arg0", "arg99999999999", "%rdi", "\x80", "\xc3\xa9",
};

static const char *current = "";
static unsigned long taken_nr;

_Noreturn void fuzz_fail(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: not so: %s, of: %s\n", file, line, what, current);
	abort();
}

static uint64_t seed = 1;

static uint32_t below(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % n;
}

/* Any values: three arguments, whose formats and bytes are random. */
static void check_condition(const struct ftr_condition *condition)
{
	static const enum ftr_arg_format formats[] = {
		FTR_ARG_SIGNED, FTR_ARG_UNSIGNED, FTR_ARG_HEX, FTR_ARG_POINTER, FTR_ARG_STRING,
	};
	struct ftr_argspec *spec = calloc(1, sizeof(*spec) + 3 * sizeof(spec->args[0]));
	uint8_t data[64];

	check(spec != NULL);
	for (int n = 0; n < FACTS; n++) {
		struct ftr_payload payload = { .data = data, .spec = spec, .len = sizeof(data) };
		struct ftr_condition_facts facts = {
			.args = &payload, .retval = n % 2 != 0 ? &payload : NULL,
			.duration_ns = (uint64_t)below(UINT32_MAX) << below(33),
			.has_exit = n % 3 != 0,
		};
		enum ftr_truth truth;

		spec->nr = 3;
		for (uint32_t i = 0; i < 3; i++)
			spec->args[i] = (struct ftr_arg){
				.index = (uint8_t)(i + 1), .size = 8, .is_float_reg = below(4) == 0,
				.format = formats[below(sizeof(formats) / sizeof(formats[0]))],
			};
		for (size_t i = 0; i < sizeof(data); i++)
			data[i] = (uint8_t)(below(2) != 0 ? below(256) : 0);
		truth = ftr_condition_test(condition, &facts);
		check(truth == FTR_FALSE || truth == FTR_TRUE || truth == FTR_UNKNOWN);
	}
	free(spec);
}

/* @shown, of a rule that readers need, asks them for the same. */
static void check_shown(const struct ftr_rule *rule, enum ftr_match match)
{
	enum ftr_rule_kind kind = rule->kind;
	struct ftr_err err = { 0 };
	const struct ftr_rule_values *values;
	struct ftr_rules again;

	if (rule->shown == NULL)
		return;
	if (kind == FTR_RULE_OF_ARGUMENT || kind == FTR_RULE_OF_RETVAL)
		kind = FTR_RULE_OF_TRIGGER;
	ftr_rules_init(&again);
	check(ftr_rules_parse(&again, kind, rule->shown, match, &err) == 0);
	check(again.rules.nr == 1);
	check((again.rules.v[0].actions & FTR_RULES_SHOWN) == (rule->actions & FTR_RULES_SHOWN));
	values = &again.rules.v[0].values;
	check(values->depth == rule->values.depth && values->time_ns == rule->values.time_ns &&
	      values->size_bytes == rule->values.size_bytes &&
	      values->sample_nr == rule->values.sample_nr &&
	      values->rate_per_s == rule->values.rate_per_s);
	check((again.rules.v[0].condition == NULL) == (rule->condition == NULL));
	ftr_rules_fini(&again);
}

static void check_rule(const struct ftr_rule *rule, enum ftr_match match)
{
	struct ftr_condition_needs needs = { 0 };

	check(rule->text != NULL && rule->pattern != NULL);
	ftr_pattern_matches(rule->pattern, "main");
	if (rule->condition != NULL) {
		ftr_condition_needs(rule->condition, &needs);
		ftr_condition_needs_exit(rule->condition);
		check(needs.subjects != 0);
		check_condition(rule->condition);
	}
	check_shown(rule, match);
}

/* "F main": the letter of an option, and its argument. */
static void one_line(const char *line)
{
	const char *letter = memchr(letters, line[0], sizeof(letters));
	enum ftr_match match = (enum ftr_match)below(FTR_MATCH_EXACT + 1);
	struct ftr_err err = { 0 };
	struct ftr_rules rules;
	int ret;

	current = line;
	if (letter == NULL || line[0] == '\0' || line[1] != ' ')
		return;
	ftr_rules_init(&rules);
	ret = ftr_rules_parse(&rules, (enum ftr_rule_kind)(letter - letters), line + 2, match,
			      &err);
	check(ret == 0 || ret == -EINVAL);
	check((ret == 0) == (rules.rules.nr > 0));
	taken_nr += ret == 0;
	if (ret < 0)
		check(strstr(err.text, "\n") != NULL || strlen(line) > LINE_MAX_BYTES / 8);
	for (size_t i = 0; i < rules.rules.nr; i++)
		check_rule(&rules.rules.v[i], match);
	ftr_rules_fini(&rules);
}

/* One of: cut, a byte changed, a word in between, a part of another line behind. */
static void bend(char line[LINE_MAX_BYTES], const char *other)
{
	char rest[LINE_MAX_BYTES];
	size_t len = strlen(line), at = 2 + below((uint32_t)(len > 2 ? len - 1 : 1));

	at = at < len ? at : len;
	switch (below(4)) {
	case 0:
		line[at] = '\0';
		break;
	case 1:
		if (at < len)
			line[at] = (char)(1 + below(255));
		break;
	case 2:
		snprintf(rest, sizeof(rest), "%s", line + at);
		snprintf(line + at, LINE_MAX_BYTES - at, "%s%s",
			 words[below(sizeof(words) / sizeof(words[0]))], rest);
		break;
	default:
		snprintf(line + at, LINE_MAX_BYTES - at, "%s",
			 other + below((uint32_t)strlen(other) + 1));
	}
}

static int run_corpus(void)
{
	const char *dir = getenv("srcdir"), *times = getenv("FUZZ_TIMES");
	unsigned long changes = 1 + CHANGES * (times != NULL ? strtoul(times, NULL, 10) : 1) /
				    fuzz_share();
	static char lines[64][LINE_MAX_BYTES];
	char path[4096], line[LINE_MAX_BYTES];
	uint32_t nr = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/rules/words", dir != NULL ? dir : ".");
	file = fopen(path, "r");
	check(file != NULL);
	while (nr < 64 && fgets(lines[nr], LINE_MAX_BYTES, file) != NULL) {
		lines[nr][strcspn(lines[nr], "\n")] = '\0';
		one_line(lines[nr++]);
	}
	fclose(file);
	for (unsigned long i = 0; i < changes * nr; i++) {
		memcpy(line, lines[i % nr], sizeof(line));
		for (uint32_t n = 1 + below(4); n > 0; n--)
			bend(line, lines[below(nr)]);
		one_line(line);
	}
	printf("%lu lines, %lu of them rules\n", changes * nr + nr, taken_nr);
	return taken_nr == 0;
}

int main(int argc, char **argv)
{
	fuzz_limit_memory();
	if (argc > 1) {
		one_line(argv[1]);
		return 0;
	}
	return run_corpus();
}

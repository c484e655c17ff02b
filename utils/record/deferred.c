/* SPDX-License-Identifier: MIT */
/* See deferred.h. */
#include "utils/record/deferred.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/observe/unwind.h"
#include "utils/trace/condition.h"

static bool is_deferred(const struct ftr_rule *rule)
{
	uint32_t deferred = rule->actions & ftr_rule_actions_in(FTR_IN_DEFERRED);

	return rule->shown != NULL &&
	       (rule->condition != NULL || deferred != 0 ||
		ftr_rule_module(rule) == FTR_RULE_MODULE_KERNEL);
}

static bool are_deferred(const struct ftr_rules *rules)
{
	for (size_t i = 0; i < rules->rules.nr; i++) {
		if (is_deferred(&rules->rules.v[i]))
			return true;
	}
	return false;
}

/* As words in files of options are quoted: by either mark, without a way to escape it. */
static void put_quoted(struct ftr_strbuf *opts, const char *text)
{
	ftr_strbuf_putc(opts, '\'');
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			ftr_strbuf_puts(opts, "'\"'\"'");
		else
			ftr_strbuf_putc(opts, *text);
	}
	ftr_strbuf_putc(opts, '\'');
}

static void put_rule(struct ftr_strbuf *opts, const struct ftr_rule *rule)
{
	/* uftrace knows all letters, but not all long names; what values have else is a trigger. */
	static const char letters[FTR_RULE_KINDS] = {
		[FTR_RULE_OF_FILTER] = 'F', [FTR_RULE_OF_NOTRACE] = 'N',
		[FTR_RULE_OF_CALLER] = 'C', [FTR_RULE_OF_HIDE] = 'H',
		[FTR_RULE_OF_LOCATION] = 'L', [FTR_RULE_OF_TRIGGER] = 'T',
		[FTR_RULE_OF_ARGUMENT] = 'T', [FTR_RULE_OF_RETVAL] = 'T',
	};

	if (rule->shown == NULL)
		return;
	ftr_strbuf_printf(opts, "-%c ", letters[rule->kind]);
	put_quoted(opts, rule->shown);
	ftr_strbuf_putc(opts, '\n');
}

/*
 * uftrace takes three digits before the point, and three behind it.  What is cut off is no loss:
 * what takes less was not recorded.
 */
static void put_time(struct ftr_strbuf *opts, const struct ftr_record_choice *choice)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
		      { "m", UINT64_C(60000000000) } };
	uint64_t whole = choice->time_ns, rest = 0;
	size_t i = 0;

	if (choice->time_ns == 0 || choice->may_change)	/* readers would keep to it */
		return;
	while (whole > 999 && i + 1 < sizeof(units) / sizeof(units[0])) {
		i++;
		whole = choice->time_ns / units[i].ns;
		rest = choice->time_ns % units[i].ns * 1000 / units[i].ns;
	}
	ftr_strbuf_printf(opts, "-t %" PRIu64, whole > 999 ? 999 : whole);
	if (rest != 0)
		ftr_strbuf_printf(opts, ".%03" PRIu64, rest);
	ftr_strbuf_printf(opts, "%s\n", units[i].name);
}

void ftr_record_deferred_opts(const struct ftr_record_choice *choice, uint64_t depth,
			      struct ftr_strbuf *opts)
{
	const struct ftr_rules *rules = choice->rules;
	uint32_t however_short = ftr_rule_actions_in(FTR_IN_HOWEVER_SHORT);

	if (!are_deferred(rules)) {
		/* As uftrace does; but it would take back what "trace" and "time" let through. */
		if ((ftr_rules_actions(rules) & however_short) == 0 && choice->watched.nr == 0)
			put_time(opts, choice);
		return;
	}
	if (choice->match != FTR_MATCH_REGEX)
		ftr_strbuf_printf(opts, "--match %s\n", ftr_match_words[choice->match]);
	for (size_t i = 0; i < rules->rules.nr; i++)
		put_rule(opts, &rules->rules.v[i]);
	put_time(opts, choice);
	if (depth != 0)
		ftr_strbuf_printf(opts, "-D %" PRIu64 "\n", depth);
	if (choice->size_bytes != 0)
		ftr_strbuf_printf(opts, "-Z %" PRIu64 "\n", choice->size_bytes);
	if (choice->starts_off && !choice->is_switched)
		ftr_strbuf_puts(opts, "--disable\n");
}

/* What the condition of @rule is about is recorded. */
static void values_add(struct ftr_record_choice *choice, struct ftr_rule *rule)
{
	struct ftr_condition_needs needs = { 0 };

	ftr_condition_needs(rule->condition, &needs);
	if ((needs.subjects & (FTR_BIT(FTR_SUBJECT_ARG) | FTR_BIT(FTR_SUBJECT_FPARG))) != 0)
		rule->actions |= FTR_RULE_ARGUMENT;
	if ((needs.subjects & FTR_BIT(FTR_SUBJECT_RETVAL)) != 0)
		rule->actions |= FTR_RULE_RETVAL;
	if (needs.steps > choice->value_depth)	/* each may lead through a pointer */
		choice->value_depth = needs.steps < FTR_VALUE_DEPTH_MAX ? needs.steps :
									  FTR_VALUE_DEPTH_MAX;
}

/*
 * A conditional rule is one that may be true of every call.  Where calls count in those of filters
 * alone, readers must see all that may count outside of them.
 */
static void rule_weaken(struct ftr_record_choice *choice, struct ftr_rule *rule, bool has_filter)
{
	bool leaves_out = (rule->actions & FTR_RULE_NOTRACE) != 0;
	bool is_of_kernel = ftr_rule_module(rule) == FTR_RULE_MODULE_KERNEL;
	uint32_t stacks = ftr_unwind_copy_is_possible() ? FTR_RULE_BACKTRACE : 0;

	rule->undecided = rule->condition != NULL && !is_of_kernel ? rule->actions : 0;
	rule->actions &= is_of_kernel ? 0 :
					ftr_rule_actions_in(FTR_IN_REPEATABLE | FTR_IN_VALUES) |
						FTR_RULE_DUMP | stacks;
	if (rule->condition == NULL || is_of_kernel)
		return;
	rule->actions &= ~(uint32_t)FTR_RULE_NOTRACE;
	rule->actions |= leaves_out && has_filter ? FTR_RULE_FILTER : 0;
	rule->values.time_ns = 0;
	values_add(choice, rule);
}

/* Do rules count in filters alone, and is it not known which calls are in one? */
static bool is_inside_unknown(const struct ftr_rules *rules, uint32_t actions)
{
	if ((actions & FTR_RULE_FILTER) == 0)
		return false;
	for (size_t i = 0; i < rules->rules.nr; i++) {
		const struct ftr_rule *rule = &rules->rules.v[i];

		if (rule->condition != NULL &&
		    (rule->left_actions & (FTR_RULE_FILTER | FTR_RULE_NOTRACE)) != 0)
			return true;
	}
	return (actions & FTR_RULE_BACKTRACE) != 0;	/* what is outside is recorded, too */
}

/* Whichever rule's time counts for a call, it is not shorter than this. */
static void times_weaken(const struct ftr_record_choice *choice, struct ftr_rules *rules)
{
	uint64_t least_ns = choice->time_ns;

	for (size_t i = 0; i < rules->rules.nr; i++) {
		const struct ftr_rule *rule = &rules->rules.v[i];

		if ((rule->actions & FTR_RULE_TIME) != 0 && rule->values.time_ns < least_ns)
			least_ns = rule->values.time_ns;
	}
	for (size_t i = 0; i < rules->rules.nr; i++) {
		if ((rules->rules.v[i].actions & FTR_RULE_TIME) != 0)
			rules->rules.v[i].values.time_ns = least_ns;
	}
}

/* A call that switches, or counts, does so however short it is, and whatever it leads to. */
static void ends_weaken(struct ftr_record_choice *choice, struct ftr_rules *rules)
{
	for (size_t i = 0; i < rules->rules.nr; i++)
		rules->rules.v[i].actions &= ~(uint32_t)(FTR_RULE_TIME | FTR_RULE_CALLER);
	choice->time_ns = 0;
}

void ftr_record_deferred_weaken(struct ftr_record_choice *choice, struct ftr_rules *rules,
				uint64_t *depth)
{
	uint32_t actions = ftr_rules_actions(rules);
	bool has_filter = (actions & FTR_RULE_FILTER) != 0;
	bool has_backtraces = (actions & FTR_RULE_BACKTRACE) != 0;

	assert(choice->rules == rules);
	for (size_t i = 0; i < rules->rules.nr; i++) {
		if (rules->rules.v[i].condition != NULL &&
		    (rules->rules.v[i].actions & FTR_RULE_DUMP) != 0)
			values_add(choice, &rules->rules.v[i]);
	}
	if (!are_deferred(rules))
		return;
	for (size_t i = 0; i < rules->rules.nr; i++)
		rules->rules.v[i].left_actions = rules->rules.v[i].actions;
	for (size_t i = 0; i < rules->rules.nr; i++)
		rule_weaken(choice, &rules->rules.v[i], has_filter);
	if ((actions & (FTR_RULES_IN_ORDER | FTR_RULES_COUNTED)) != 0)
		ends_weaken(choice, rules);
	else if (is_inside_unknown(rules, actions))
		times_weaken(choice, rules);
	for (size_t i = 0; has_backtraces && i < rules->rules.nr; i++) {
		/* of calls left out, too */
		rules->rules.v[i].actions &= ~(uint32_t)(FTR_RULE_FILTER | FTR_RULE_NOTRACE);
		rules->rules.v[i].undecided = 0;
	}
	choice->size_bytes = 0;
	choice->starts_off &= choice->is_switched;	/* readers do not see signals */
	*depth = 0;
}

/* SPDX-License-Identifier: MIT */
/* A test's rules: parsed, or refused with a place. */
#ifndef FTR_TESTS_RULE_UTIL_H
#define FTR_TESTS_RULE_UTIL_H

#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>

#include "utils/trace/rule.h"

static struct ftr_rules rules;

static inline int setup(void **state)
{
	ftr_rules_init(&rules);
	return 0;
}

static inline int teardown(void **state)
{
	ftr_rules_fini(&rules);
	return 0;
}

static inline const struct ftr_rule *parse(enum ftr_rule_kind kind, const char *text)
{
	struct ftr_err err = { 0 };
	int ret = ftr_rules_parse(&rules, kind, text, FTR_MATCH_REGEX, &err);

	if (ret < 0)
		print_error("%s\n", err.text);
	assert_int_equal(ret, 0);
	return &rules.rules.v[rules.rules.nr - 1];
}

/* @text is wrong, in this way and at this place, below which a caret stands. */
static inline void refuse(enum ftr_rule_kind kind, const char *text, const char *why, int column)
{
	struct ftr_err err = { 0 };
	char want[300];

	snprintf(want, sizeof(want), "--%s: %s\n  %s\n  %*s^", ftr_rule_option(kind), why, text,
		 column, "");
	assert_int_equal(ftr_rules_parse(&rules, kind, text, FTR_MATCH_REGEX, &err), -EINVAL);
	assert_string_equal(err.text, want);
}

#endif /* FTR_TESTS_RULE_UTIL_H */

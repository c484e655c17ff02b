/* SPDX-License-Identifier: MIT */
/* Are the specs of values that users give such?  Said with a caret below what is not. */
#include <errno.h>
#include <regex.h>
#include <string.h>

#include "arch/arch.h"
#include "config.h"
#include "utils/record/choice.h"
#include "utils/record/value_module.h"
#include "utils/trace/rule_text.h"

#define WORD_ENDS ",;"

/* Words stand in the text of their rule as they were written, each behind "@" or ",". */
static size_t word_place(const char *text, struct ftr_slice word)
{
	const char *at;

	for (at = strpbrk(text, "@,"); at != NULL; at = strpbrk(at + 1, "@,")) {
		if (strncmp(at + 1, word.s, word.len) == 0 &&
		    strchr(WORD_ENDS, at[1 + word.len]) != NULL)
			return (size_t)(at + 1 - text);
	}
	return 0;
}

/* @at is a place in @words, of which each ends at a comma. */
static int refuse(const struct ftr_rule *rule, const char *words, const char *at, const char *what,
		  struct ftr_err *err)
{
	struct ftr_rule_text text = { .s = rule->text };
	const char *begin = at;

	while (begin > words && begin[-1] != ',')
		begin--;
	(void)ftr_rule_text_refuse(
		&text, word_place(rule->text, ftr_slice_make(begin, strcspn(begin, ","))) +
			       (size_t)(at - begin), err, "%s", what);
	(void)ftr_err_prefix(err, "--%s", ftr_rule_option(rule->kind));
	return -EINVAL;
}

/* The machine of other programs that can be recorded; NULL: there is none. */
static const struct ftr_arch *arch_beside(void)
{
#ifdef FTR_HAS_BESIDE
	return ftr_arch_host->beside;
#else
	return NULL;
#endif
}

/* A spec by its words, but of no place. */
static int place_check(const struct ftr_rule *rule, const char *words, const struct uft_arg *spec,
		       enum uft_spec_kind kind, struct ftr_err *err)
{
	const struct ftr_arch *beside = arch_beside();
	bool is_retval = kind == UFT_SPEC_RETVAL;
	struct ftr_parameter value;

	if (ftr_value_of_spec(ftr_arch_host->callconv, spec, is_retval, &value) == 0 ||
	    (beside != NULL && ftr_value_of_spec(beside->callconv, spec, is_retval, &value) == 0))
		return 0;
	if (kind == UFT_SPEC_ARGS && spec->arg.index == 0)
		return refuse(rule, words, spec->word.s, "arguments count from 1", err);
	if (spec->where.len == 0)
		return refuse(rule, words, spec->word.s, "a long double is on the stack: say "
			      "where, as fparg1/80%stack+1", err);
	return refuse(rule, words, spec->where.s,
		      "a place is rdi, rsi, rdx, rcx, r8, r9, xmm0 to xmm7 (in 32-bit programs eax, edx, "
		      "ecx), two of them with \"+\", or stack+N from 1 on", err);
}

static int words_check(const struct ftr_rule *rule, enum uft_spec_kind kind,
		       struct ftr_arena *arena, struct ftr_err *err)
{
	const struct uft_spec_reader reader = { .arena = arena, .is_strict = true };
	const char *words = kind == UFT_SPEC_ARGS ? rule->args : rule->retval;
	struct uft_layout layout = { 0 };
	int ret = 0;
	size_t i;

	if (words != NULL)
		ret = uft_layout_add(&layout, ftr_slice_make(words, strlen(words)), kind, true,
				     &reader);
	if (ret == -EINVAL)
		ret = refuse(rule, words, layout.wrong_at, layout.wrong, err);
	for (i = 0; ret == 0 && i < layout.args.nr; i++)
		ret = place_check(rule, words, &layout.args.v[i], kind, err);
	ftr_vec_fini(&layout.args);
	return ret;
}

/* uftrace takes POSIX's: what those do not know it leaves out. */
static int pattern_check(const struct ftr_rule *rule, const struct ftr_record_choice *choice,
			 struct ftr_err *err)
{
	regex_t regex;

	if (choice->match != FTR_MATCH_REGEX || ftr_pattern_is_exact(rule->pattern))
		return 0;
	if (regcomp(&regex, ftr_pattern_text(rule->pattern), REG_EXTENDED | REG_NOSUB) != 0)
		return ftr_err_set(err, EINVAL,
				   "%s: with values, FUNC has to be a regular expression of POSIX",
				   rule->text);
	regfree(&regex);
	return 0;
}

static bool has_values(const struct ftr_rule *rule)
{
	return (rule->actions & FTR_RULES_VALUES) != 0;
}

int ftr_values_check(const struct ftr_record_choice *choice, struct ftr_err *err)
{
	struct ftr_arena arena;
	int ret = 0;
	size_t i;

	ftr_arena_init(&arena);
	for (i = 0; ret == 0 && i < choice->rules->rules.nr; i++) {
		const struct ftr_rule *rule = &choice->rules->rules.v[i];

		ret = has_values(rule) ? pattern_check(rule, choice, err) : 0;
		if (ret == 0)
			ret = words_check(rule, UFT_SPEC_ARGS, &arena, err);
		if (ret == 0)
			ret = words_check(rule, UFT_SPEC_RETVAL, &arena, err);
	}
	ftr_arena_fini(&arena);
	return ret;
}

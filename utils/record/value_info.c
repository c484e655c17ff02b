/* SPDX-License-Identifier: MIT */
/* What the info file says of values: specs as they were given, and prototypes. */
#include <errno.h>
#include <string.h>

#include "utils/record/choice.h"
#include "utils/record/prototypes.h"
#include "utils/record/value_module.h"
#include "utils/trace/info.h"

bool ftr_values_are_any(const struct ftr_record_choice *choice)
{
	if (choice == NULL || choice->auto_args)
		return choice != NULL;
	return choice->rules != NULL &&
	       ((ftr_rules_actions(choice->rules) & FTR_RULES_VALUES) != 0 ||
		ftr_record_has_conditional_dumps(choice));
}

/*
 * "arg1/i128" as "arg1/t16:128i", which uftrace knows as a struct: see
 * utils/format/uftrace/spec.c.
 */
static void put_words(struct ftr_strbuf *text, const char *words)
{
	const char *at;

	while ((at = strstr(words, "128")) != NULL) {
		bool is_size = at >= words + 2 && at[-2] == '/' && strchr("iux", at[-1]) != NULL &&
			       strchr(",%", at[3]) != NULL;

		ftr_strbuf_put(text, words, (size_t)(at - words) - (is_size ? 1 : 0));
		if (is_size)
			ftr_strbuf_printf(text, "t16:128%c", at[-1]);
		else
			ftr_strbuf_puts(text, "128");
		words = at + 3;
	}
	ftr_strbuf_puts(text, words);
}

/* "FUNC@arg1,arg2"; without words: as debug info says. */
static void put_rule(struct ftr_strbuf *text, const struct ftr_rule *rule, const char *words)
{
	ftr_strbuf_printf(text, "%s%s", text->len > 0 ? ";" : "", ftr_pattern_text(rule->pattern));
	if (words == NULL)
		return;
	ftr_strbuf_putc(text, '@');
	if (rule->module != NULL)
		ftr_strbuf_printf(text, "%s,", rule->module);
	put_words(text, words);
}

static void put_rules(struct ftr_strbuf *text, const struct ftr_rules *rules, bool is_retval)
{
	uint32_t actions = FTR_RULE_AUTO_ARGS | (is_retval ? FTR_RULE_RETVAL : FTR_RULE_ARGUMENT);
	size_t i;

	for (i = 0; i < rules->rules.nr; i++) {
		const struct ftr_rule *rule = &rules->rules.v[i];

		if ((rule->actions & actions) != 0)
			put_rule(text, rule, is_retval ? rule->retval : rule->args);
	}
}

static void put_prototypes(struct ftr_strbuf *text, bool is_retval)
{
	const struct ftr_prototype *one;

	for (one = ftr_prototypes; one->name != NULL; one++) {
		const char *words = is_retval ? one->retval : one->args;

		if (words[0] != '\0')
			ftr_strbuf_printf(text, "%s%s@%s", text->len > 0 ? ";" : "", one->name,
					  words);
	}
}

static bool has_automatic(const struct ftr_record_choice *choice)
{
	size_t i;

	for (i = 0; i < choice->rules->rules.nr; i++) {
		const struct ftr_rule *rule = &choice->rules->rules.v[i];

		if ((rule->actions & FTR_RULE_AUTO_ARGS) != 0 ||
		    ((rule->actions & FTR_RULE_ARGUMENT) != 0 && rule->args == NULL) ||
		    ((rule->actions & FTR_RULE_RETVAL) != 0 && rule->retval == NULL))
			return true;
	}
	return choice->auto_args;
}

/* Does a spec have values shown by the names of an enumeration, which may be a prototype's? */
static bool names_enum(const struct ftr_rules *rules)
{
	for (size_t i = 0; i < rules->rules.nr; i++) {
		const struct ftr_rule *rule = &rules->rules.v[i];

		if ((rule->args != NULL && strstr(rule->args, "/e:") != NULL) ||
		    (rule->retval != NULL && strstr(rule->retval, "/e:") != NULL))
			return true;
	}
	return false;
}

/* The text of @sb in @arena, NULL when it is empty; *ret becomes -ENOMEM. */
static const char *taken(struct ftr_strbuf *sb, struct ftr_arena *arena, int *ret)
{
	const char *text = NULL;

	if (sb->len > 0)
		text = ftr_arena_strndup(arena, sb->s, sb->len);
	if (sb->failed || (sb->len > 0 && text == NULL))
		*ret = -ENOMEM;
	ftr_strbuf_fini(sb);
	return text;
}

static uint64_t features_of(const struct ftr_record_choice *choice)
{
	uint32_t actions = ftr_rules_actions(choice->rules);
	uint64_t features = 0;

	if (choice->auto_args || (actions & (FTR_RULE_ARGUMENT | FTR_RULE_AUTO_ARGS)) != 0)
		features |= FTR_FEATURE_ARGUMENT;
	if (choice->auto_args || (actions & (FTR_RULE_RETVAL | FTR_RULE_AUTO_ARGS)) != 0)
		features |= FTR_FEATURE_RETVAL;
	if (has_automatic(choice))	/* uftrace looks prototypes up for this bit alone */
		features |= FTR_FEATURE_AUTO_ARGS | FTR_FEATURE_DEBUG_INFO;
	return features;
}

int ftr_values_info(struct ftr_info *info, const struct ftr_record_choice *choice,
		    struct ftr_arena *arena)
{
	struct ftr_strbuf texts[4];
	int ret = 0, i;

	if (!ftr_values_are_any(choice))
		return 0;
	for (i = 0; i < 4; i++)
		ftr_strbuf_init(&texts[i]);
	put_rules(&texts[0], choice->rules, false);
	put_rules(&texts[1], choice->rules, true);
	if (has_automatic(choice)) {
		put_prototypes(&texts[2], false);
		put_prototypes(&texts[3], true);
	}
	if (has_automatic(choice) || names_enum(choice->rules))
		info->enumauto = ftr_prototype_enums;
	info->argspec = taken(&texts[0], arena, &ret);
	info->retspec = taken(&texts[1], arena, &ret);
	info->argauto = taken(&texts[2], arena, &ret);
	info->retauto = taken(&texts[3], arena, &ret);
	info->auto_args = choice->auto_args;
	info->feature_mask |= features_of(choice);
	info->info_mask |= FTR_INFO_ARG_SPEC;
	return ret;
}

/* SPDX-License-Identifier: MIT */
/* From rules to functions of a module. */
#include "utils/record/choice.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/closest.h"
#include "utils/object/demangle.h"
#include "utils/record/watched.h"
#include "utils/trace/rule_plan.h"

/* What the runtime does by itself; colours and backtraces are for who looks at the data. */
#define GATED \
	(FTR_RULE_FILTER | FTR_RULE_NOTRACE | FTR_RULE_HIDE | FTR_RULE_CALLER | FTR_RULE_DEPTH | \
	 FTR_RULE_TIME | FTR_RULE_SIZE | FTR_RULE_TRACE | FTR_RULE_TRACE_ON | FTR_RULE_TRACE_OFF | \
	 FTR_RULE_FINISH | FTR_RULE_DUMP | FTR_RULES_COUNTED | FTR_RULE_READ | \
	 FTR_RULE_CALLSITE | FTR_RULE_RECOVER)
#define PMU (FTR_READ_PMU_CYCLE | FTR_READ_PMU_CACHE | FTR_READ_PMU_BRANCH)
#define VALUES (FTR_RULE_ARGUMENT | FTR_RULE_RETVAL | FTR_RULE_AUTO_ARGS)
#define RECORDED (GATED | VALUES)

bool ftr_record_choice_is_any(const struct ftr_record_choice *choice)
{
	return choice != NULL &&
	       (choice->time_ns != 0 || choice->size_bytes != 0 || choice->starts_off ||
		choice->is_switched ||
		(choice->rules != NULL && (ftr_rules_actions(choice->rules) & GATED) != 0));
}

static int rule_check(const struct ftr_record_choice *choice, const struct ftr_rule *rule,
		      struct ftr_err *err)
{
	uint32_t others = rule->actions & ~(uint32_t)(RECORDED | FTR_RULES_SHOWN);

	if (others != 0)
		return ftr_err_set(err, EINVAL, "%s: \"%s\" is not supported yet", rule->text,
				   ftr_rule_action_name(others));
	if ((rule->actions & FTR_RULE_READ) != 0 && (rule->reads & PMU) != 0)
		return ftr_err_set(err, EINVAL, "%s: counters of the processor are not read; "
				   "proc/statm and page-fault are", rule->text);
	if ((rule->actions & FTR_RULE_DUMP) != 0 && !choice->is_flight)
		return ftr_err_set(err, EINVAL, "%s: a dump needs a flight recorder; add "
				   "--overwrite=SIZE", rule->text);
	if (rule->condition != NULL && (rule->actions & FTR_RULE_DUMP) != 0)
		return ftr_err_set(err, EINVAL, "%s: whether to dump is decided when the call "
				   "begins, before its condition is", rule->text);
	if (rule->condition != NULL && rule->shown == NULL)
		return ftr_err_set(err, EINVAL, "%s: values are recorded of all calls; give the "
				   "condition to --filter, or to ftr replay", rule->text);
	return 0;
}

int ftr_record_choice_check(const struct ftr_record_choice *choice, struct ftr_err *err)
{
	int ret = 0;
	size_t i;

	for (i = 0; ret == 0 && i < choice->rules->rules.nr; i++)
		ret = rule_check(choice, &choice->rules->rules.v[i], err);
	return ret == 0 ? ftr_rule_plans_check(choice->rules, err) : ret;
}

static bool module_matches(const struct ftr_rule *rule, const char *path,
			   const struct ftr_symbol *symbol)
{
	switch (ftr_rule_module(rule)) {
	case FTR_RULE_MODULE_ANY:
		return true;
	case FTR_RULE_MODULE_PLT:
		return symbol->type == 'P';
	case FTR_RULE_MODULE_NAMED:
		return ftr_rule_names_module(rule, path);
	default:
		return false;
	}
}

static bool rule_matches(const struct ftr_rule *rule, const char *path,
			 const struct ftr_symbol *symbol, const char *shown)
{
	const struct ftr_pattern_names names = { .shown = shown, .mangled = symbol->name };

	return module_matches(rule, path, symbol) &&
	       ftr_pattern_matches_names(rule->pattern, &names);
}

static void chosen_join(struct ftr_record_chosen *chosen, const struct ftr_rule *rule)
{
	if ((rule->clears & FTR_RULE_READ) != 0)
		chosen->reads = 0;
	chosen->actions = ftr_rule_actions_join(chosen->actions, rule);
	if ((rule->actions & FTR_RULE_DEPTH) != 0)
		chosen->depth = rule->depth;
	if ((rule->actions & FTR_RULE_TIME) != 0)
		chosen->time_ns = rule->time_ns;
	if ((rule->actions & FTR_RULE_SIZE) != 0)
		chosen->size_bytes = rule->size_bytes;
	if ((rule->actions & FTR_RULE_SAMPLE) != 0)
		chosen->sample_nr = rule->sample_nr;
	if ((rule->actions & FTR_RULE_RATE) != 0)
		chosen->rate_per_s = rule->rate_per_s;
	if ((rule->actions & FTR_RULE_READ) != 0)
		chosen->reads |= rule->reads;
}

static struct ftr_record_chosen chosen_of(const struct ftr_rules *rules, const char *path,
					  const struct ftr_symbol *symbol, const char *shown)
{
	struct ftr_record_chosen chosen = { 0 };
	size_t i;

	for (i = 0; i < rules->rules.nr; i++) {
		if (rule_matches(&rules->rules.v[i], path, symbol, shown))
			chosen_join(&chosen, &rules->rules.v[i]);
	}
	return chosen;
}

int ftr_record_choice_resolve(const struct ftr_record_choice *choice, const char *path,
			      const struct ftr_symtab *tab, struct ftr_record_chosen_list *list)
{
	size_t i;

	assert(choice->rules != NULL && list->of.nr == 0);
	for (i = 0; i < tab->nr; i++) {
		struct ftr_record_chosen chosen = { 0 };
		char *shown;

		if (ftr_symbol_is_function(&tab->symbols[i])) {
			shown = ftr_demangle(tab->symbols[i].name, FTR_DEMANGLE_SIMPLE);
			if (shown == NULL)
				return -ENOMEM;
			chosen = chosen_of(choice->rules, path, &tab->symbols[i], shown);
			free(shown);
		}
		if (ftr_vec_push(&list->of, chosen) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* A rule's search for a function of the image. */
struct search {
	const struct ftr_rule *rule;
	const char *path;
	struct ftr_closest closest;
	bool is_found;
};

static int symbol_try(struct search *search, const struct ftr_symbol *symbol)
{
	char *shown = ftr_demangle(symbol->name, FTR_DEMANGLE_SIMPLE);

	if (shown == NULL)
		return -ENOMEM;
	search->is_found = rule_matches(search->rule, search->path, symbol, shown);
	if (ftr_rule_module(search->rule) == FTR_RULE_MODULE_ANY)
		ftr_closest_try(&search->closest, ftr_pattern_text(search->rule->pattern), shown);
	free(shown);
	return 0;
}

static int rule_match(const struct ftr_rule *rule, const char *image,
		      const struct ftr_symtab *tab, struct ftr_err *err)
{
	struct search search = { .rule = rule, .path = image };
	int ret = 0;
	size_t i;

	for (i = 0; ret == 0 && i < tab->nr && !search.is_found; i++) {
		if (ftr_symbol_is_function(&tab->symbols[i]))
			ret = symbol_try(&search, &tab->symbols[i]);
	}
	if (ret < 0 || search.is_found)
		return ret;
	return ftr_err_set(err, ENOENT, "%s: no function of %s matches %s%s", rule->text, image,
			   ftr_pattern_text(rule->pattern),
			   ftr_closest_ask(&search.closest, "", "; one of a library is named "
					   "FUNC@LIBRARY"));
}

int ftr_record_choice_match(const struct ftr_record_choice *choice, const char *image,
			    struct ftr_err *err)
{
	struct ftr_symtab tab;
	int ret = 0;
	size_t i;

	ftr_symtab_init(&tab);
	if (choice->rules->rules.nr + choice->watched.nr == 0 ||
	    ftr_symtab_load_elf(&tab, image, NULL) < 0)
		goto out;
	ret = ftr_watched_check(&choice->watched, image, &tab, err);
	for (i = 0; ret == 0 && i < choice->rules->rules.nr; i++) {
		const struct ftr_rule *rule = &choice->rules->rules.v[i];

		if (rule->actions != 0 && ftr_rule_module(rule) != FTR_RULE_MODULE_NAMED)
			ret = rule_match(rule, image, &tab, err);
	}
out:
	ftr_symtab_fini(&tab);
	return ret;
}

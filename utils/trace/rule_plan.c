/* SPDX-License-Identifier: MIT */
/* From rules to what they ask for at the calls of a function. */
#include "utils/trace/rule_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/object/demangle.h"
#include "utils/trace/condition.h"
#include "utils/trace/library.h"
#include "utils/trace/trace.h"

static const struct ftr_rule_plan nothing;

/* A name that is the only one like it of a function: as C has them, and not mangled. */
static bool is_plain_name(const struct ftr_pattern *pattern)
{
	const char *text = ftr_pattern_text(pattern);

	if (!ftr_pattern_is_exact(pattern) || strncmp(text, "_Z", 2) == 0 ||
	    strncmp(text, "_R", 2) == 0 || strncmp(text, "_D", 2) == 0)
		return false;
	return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789_")] == '\0';
}

/* Can both be about one function? */
static bool may_meet(const struct ftr_rule *a, const struct ftr_rule *b)
{
	return !is_plain_name(a->pattern) || !is_plain_name(b->pattern) ||
	       strcmp(ftr_pattern_text(a->pattern), ftr_pattern_text(b->pattern)) == 0;
}

int ftr_rule_plans_check(const struct ftr_rules *rules, struct ftr_err *err)
{
	for (size_t i = 0; i < rules->rules.nr; i++) {
		const struct ftr_rule *rule = &rules->rules.v[i];
		unsigned nr = 0;

		if (rule->condition == NULL)
			continue;
		for (size_t n = 0; n < rules->rules.nr; n++)
			nr += rules->rules.v[n].condition != NULL &&
			      may_meet(rule, &rules->rules.v[n]);
		if (nr > FTR_RULE_CONDITIONS_MAX)
			return ftr_err_set(err, EINVAL, "%s: %u rules of its functions may have "
					   "conditions, more than %d; join some by ||", rule->text,
					   nr, FTR_RULE_CONDITIONS_MAX);
	}
	return 0;
}

int ftr_rule_plans_init(struct ftr_rule_plans *plans, const struct ftr_rules *rules,
			struct ftr_trace *trace)
{
	*plans = (struct ftr_rule_plans){ .rules = rules, .trace = trace };
	plans->matched = calloc(rules->rules.nr + 1, sizeof(*plans->matched));
	plans->answers = calloc(rules->rules.nr + 1, sizeof(*plans->answers));
	if (plans->matched == NULL || plans->answers == NULL) {
		free(plans->matched);
		free(plans->answers);
		return -ENOMEM;
	}
	for (size_t i = 0; i < rules->rules.nr; i++) {
		uint32_t actions = rules->rules.v[i].actions;

		if ((actions & FTR_RULE_LOCATION) && !(actions & FTR_RULE_HIDE))
			plans->has_locations = true;
		plans->has_conditions |= rules->rules.v[i].condition != NULL;
	}
	ftr_arena_init(&plans->arena);
	return 0;
}

void ftr_rule_plans_fini(struct ftr_rule_plans *plans)
{
	ftr_vec_fini(&plans->by_func);
	ftr_arena_fini(&plans->arena);
	free(plans->matched);
	free(plans->answers);
}

/* Does a library call lead into the library that the rule names? */
static bool leads_to(struct ftr_rule_plans *plans, const struct ftr_rule *rule,
		     const struct ftr_func *func)
{
	struct ftr_trace *trace = plans->trace;

	for (size_t i = 0; i < trace->sessions.nr; i++) {
		const struct ftr_module *library =
			ftr_library_find(trace, trace->sessions.v[i], func->mangled);

		if (library != NULL && ftr_rule_names_module(rule, library->path))
			return true;
	}
	return false;
}

/* Functions of the kernel are meant where it is named. */
static bool module_matches(struct ftr_rule_plans *plans, const struct ftr_rule *rule,
			   const struct ftr_func *func)
{
	bool is_kernel = ftr_func_is_kernel(func);

	switch (ftr_rule_module(rule)) {
	case FTR_RULE_MODULE_ANY:
		return !is_kernel;
	case FTR_RULE_MODULE_PLT:
		return func->symbol_type == 'P';
	case FTR_RULE_MODULE_KERNEL:
		return is_kernel;
	default:
		if (func->module != NULL && ftr_rule_names_module(rule, func->module->path))
			return true;
		return func->symbol_type == 'P' && leads_to(plans, rule, func);
	}
}

/* One function while its rules are looked for. */
struct search {
	struct ftr_rule_plans *plans;
	const struct ftr_func *func;
	struct ftr_pattern_names names;
};

static bool rule_matches(const struct search *search, const struct ftr_rule *rule)
{
	const struct ftr_func *func = search->func;

	if (rule->kind == FTR_RULE_OF_LOCATION ?
		    func->src_file == NULL || !ftr_rule_matches_file(rule, func->src_file) :
		    !ftr_pattern_matches_symbol(rule->pattern, &search->names))
		return false;
	return module_matches(search->plans, rule, func);
}

/* Of those of the rules that have no condition, or one that is true. */
static struct ftr_rule_plan plan_merge(const struct ftr_rule_plans *plans, const uint32_t *of,
				       size_t nr, uint8_t verdict)
{
	struct ftr_rule_plan plan = { 0 };
	unsigned bit = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct ftr_rule *rule = &plans->rules->rules.v[of[i]];

		if (rule->condition == NULL || (verdict >> bit++ & 1))
			plan.actions = ftr_rule_join(plan.actions, &plan.values, rule);
	}
	if (plans->has_locations && !(plan.actions & FTR_RULE_LOCATION))
		plan.actions |= FTR_RULE_HIDE;
	return plan;
}

static const struct ftr_rule_plan *plan_keep(struct ftr_rule_plans *plans,
					     const struct ftr_rule_plan *plan)
{
	struct ftr_rule_plan *kept;

	if (plan->actions == 0)
		return &nothing;
	kept = ftr_arena_alloc(&plans->arena, sizeof(*kept));
	if (kept != NULL)
		*kept = *plan;
	return kept;
}

/* Its conditions are asked at each call. */
static bool plan_add_conditions(struct ftr_rule_plans *plans, struct ftr_rule_plan *plan,
				const uint32_t *of, size_t nr)
{
	uint32_t *copy = ftr_arena_alloc(&plans->arena, nr * sizeof(*copy));

	plan->variants = ftr_arena_alloc(&plans->arena, FTR_BIT(FTR_RULE_CONDITIONS_MAX) *
								sizeof(*plan->variants));
	if (copy == NULL || plan->variants == NULL)
		return false;
	memcpy(copy, of, nr * sizeof(*copy));
	plan->rules = copy;
	plan->rule_nr = (uint32_t)nr;
	plan->actions |= FTR_RULE_CONDITIONAL;
	for (size_t i = 0; i < nr; i++) {
		const struct ftr_condition *condition = plans->rules->rules.v[of[i]].condition;

		if (condition != NULL)
			plan->needs_exit |= ftr_condition_needs_exit(condition);
	}
	return true;
}

static const struct ftr_rule_plan *plan_new(const struct search *search)
{
	struct ftr_rule_plans *plans = search->plans;
	const struct ftr_rule_plan *kept = NULL;
	FTR_VEC(uint32_t) of = { 0 };
	bool is_conditional = false;
	struct ftr_rule_plan plan;

	if (ftr_vec_reserve(&of, plans->rules->rules.nr + 1) < 0)
		return NULL;
	for (size_t i = 0; i < plans->rules->rules.nr; i++) {
		const struct ftr_rule *rule = &plans->rules->rules.v[i];

		if (!rule_matches(search, rule))
			continue;
		plans->matched[i]++;
		is_conditional |= rule->condition != NULL;
		of.v[of.nr++] = (uint32_t)i;
	}
	plan = plan_merge(plans, of.v, of.nr, 0);
	if (!is_conditional || plan_add_conditions(plans, &plan, of.v, of.nr))
		kept = plan_keep(plans, &plan);
	ftr_vec_fini(&of);
	return kept;
}

uint8_t ftr_rule_plan_judge(struct ftr_rule_plans *plans, const struct ftr_rule_plan *plan,
			    const struct ftr_condition_facts *facts)
{
	uint8_t verdict = 0;
	unsigned bit = 0;

	for (size_t i = 0; i < plan->rule_nr; i++) {
		uint32_t at = plan->rules[i];
		const struct ftr_condition *condition = plans->rules->rules.v[at].condition;
		struct ftr_rule_answers *answers = &plans->answers[at];
		enum ftr_truth truth;

		if (condition == NULL)
			continue;
		truth = ftr_condition_test(condition, facts);
		answers->is_known |= truth != FTR_UNKNOWN;
		if (!answers->is_known && answers->misfit.node == NULL)
			answers->misfit = ftr_condition_misfit(condition, facts);
		verdict |= (uint8_t)((truth == FTR_TRUE) << bit++);
	}
	return verdict;
}

const struct ftr_rule_plan *ftr_rule_plan_variant(struct ftr_rule_plans *plans,
						  const struct ftr_rule_plan *plan,
						  uint8_t verdict)
{
	struct ftr_rule_plan variant;

	if (plan->variants[verdict] == NULL) {
		variant = plan_merge(plans, plan->rules, plan->rule_nr, verdict);
		plan->variants[verdict] = plan_keep(plans, &variant);
	}
	return plan->variants[verdict];
}

/* By all of its names: without its library, and without parameters. */
static const struct ftr_rule_plan *plan_of(struct ftr_rule_plans *plans,
					   const struct ftr_func *func)
{
	struct search search = { .plans = plans, .func = func };
	bool has_library = func->symbol_type == 'P' && plans->trace->shows_library;
	char *shown = strndup(func->name, has_library ? strcspn(func->name, "@") : func->name_len);
	char *simple = ftr_demangle(func->mangled, FTR_DEMANGLE_SIMPLE);
	const struct ftr_rule_plan *plan = NULL;

	if (shown != NULL && simple != NULL) {
		search.names = (struct ftr_pattern_names){ .shown = shown, .simple = simple,
							   .mangled = func->mangled };
		plan = plan_new(&search);
	}
	free(shown);
	free(simple);
	return plan;
}

const struct ftr_rule_plan *ftr_rule_plans_find(struct ftr_rule_plans *plans,
						const struct ftr_func *func)
{
	if (ftr_vec_reach(&plans->by_func, func->id) < 0)
		return NULL;
	if (plans->by_func.v[func->id] == NULL)
		plans->by_func.v[func->id] = plan_of(plans, func);
	return plans->by_func.v[func->id];
}

const struct ftr_rule *ftr_rule_plans_next_unmatched(struct ftr_rule_plans *plans, size_t *pos)
{
	if (*pos == 0) {	/* functions that no event got here of count, too */
		for (size_t i = 0; i < plans->trace->funcs.nr; i++)
			ftr_rule_plans_get(plans, plans->trace->funcs.v[i]);
	}
	while (*pos < plans->rules->rules.nr) {
		size_t i = (*pos)++;

		if (plans->matched[i] == 0)
			return &plans->rules->rules.v[i];
	}
	return NULL;
}

const struct ftr_rule *ftr_rule_plans_next_unknown(const struct ftr_rule_plans *plans, size_t *pos,
						   struct ftr_condition_misfit *misfit)
{
	while (*pos < plans->rules->rules.nr) {
		size_t i = (*pos)++;
		const struct ftr_rule *rule = &plans->rules->rules.v[i];

		if (rule->condition == NULL || plans->matched[i] == 0 || plans->answers[i].is_known)
			continue;
		*misfit = plans->answers[i].misfit;
		return rule;
	}
	return NULL;
}

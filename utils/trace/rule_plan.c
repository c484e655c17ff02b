/* SPDX-License-Identifier: MIT */
/* From rules to what they ask for at the calls of a function. */
#include "utils/trace/rule_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/object/demangle.h"
#include "utils/trace/library.h"
#include "utils/trace/trace.h"

static const struct ftr_rule_plan nothing;

int ftr_rule_plans_init(struct ftr_rule_plans *plans, const struct ftr_rules *rules,
			struct ftr_trace *trace)
{
	*plans = (struct ftr_rule_plans){ .rules = rules, .trace = trace };
	plans->matched = calloc(rules->rules.nr + 1, sizeof(*plans->matched));
	if (plans->matched == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < rules->rules.nr; i++) {
		uint32_t actions = rules->rules.v[i].actions;

		if ((actions & FTR_RULE_LOCATION) && !(actions & FTR_RULE_HIDE))
			plans->has_locations = true;
	}
	ftr_arena_init(&plans->arena);
	return 0;
}

void ftr_rule_plans_fini(struct ftr_rule_plans *plans)
{
	ftr_vec_fini(&plans->by_func);
	ftr_arena_fini(&plans->arena);
	free(plans->matched);
	plans->matched = NULL;
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

/* Its path from the root, or any end of it. */
static bool file_matches(const struct ftr_rule *rule, const char *file)
{
	const char *slash = file;

	if (ftr_pattern_matches(rule->pattern, file))
		return true;
	while ((slash = strchr(slash, '/')) != NULL) {
		if (ftr_pattern_matches(rule->pattern, ++slash))
			return true;
	}
	return false;
}

static void merge(struct ftr_rule_plan *plan, const struct ftr_rule *rule)
{
	plan->actions = ftr_rule_actions_join(plan->actions, rule->actions);
	if (rule->actions & FTR_RULE_DEPTH)
		plan->depth = rule->depth;
	if (rule->actions & FTR_RULE_TIME)
		plan->time_ns = rule->time_ns;
	if (rule->actions & FTR_RULE_SIZE)
		plan->size_bytes = rule->size_bytes;
	if (rule->actions & FTR_RULE_COLOR)
		plan->color = rule->color;
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
		    func->src_file == NULL || !file_matches(rule, func->src_file) :
		    !ftr_pattern_matches_names(rule->pattern, &search->names))
		return false;
	return module_matches(search->plans, rule, func);
}

static const struct ftr_rule_plan *plan_new(const struct search *search)
{
	struct ftr_rule_plans *plans = search->plans;
	struct ftr_rule_plan plan = { 0 }, *made;

	for (size_t i = 0; i < plans->rules->rules.nr; i++) {
		const struct ftr_rule *rule = &plans->rules->rules.v[i];

		if (!rule_matches(search, rule))
			continue;
		plans->matched[i]++;
		merge(&plan, rule);
	}
	if (plans->has_locations && !(plan.actions & FTR_RULE_LOCATION))
		plan.actions |= FTR_RULE_HIDE;
	if (plan.actions == 0)
		return &nothing;
	made = ftr_arena_alloc(&plans->arena, sizeof(*made));
	if (made != NULL)
		*made = plan;
	return made;
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
	size_t nr = plans->by_func.nr;

	if (func->id >= nr) {
		if (ftr_vec_reserve(&plans->by_func, plans->trace->funcs.nr) < 0)
			return NULL;
		memset(plans->by_func.v + nr, 0,
		       (plans->trace->funcs.nr - nr) * sizeof(*plans->by_func.v));
		plans->by_func.nr = plans->trace->funcs.nr;
	}
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

/* SPDX-License-Identifier: MIT */
/* The rules of a command that shows calls. */
#include "cmds/rules.h"

#include <errno.h>
#include <string.h>

#include "cmds/message.h"
#include "cmds/open.h"
#include "utils/base/closest.h"
#include "utils/cli/rules.h"

static void warn_recorded(const struct ftr_rule *rule)
{
	if ((rule->actions & FTR_RULES_RECORDED) != 0)
		ftr_warn("--%s: %s: \"%s\" is done when calls are recorded, not here",
			 ftr_rule_option(rule->kind), rule->text,
			 ftr_rule_action_name(rule->actions & FTR_RULES_RECORDED));
}

int ftr_opened_parse_rules(struct ftr_opened *opened, const struct ftr_filter_opts *opts,
			   struct ftr_err *err)
{
	int ret = ftr_rules_parse_opts(&opened->rules, &opts->rules, err);

	for (size_t i = 0; ret == 0 && !opts->are_recorders && i < opened->rules.rules.nr; i++)
		warn_recorded(&opened->rules.rules.v[i]);
	if (ret == 0)
		ret = ftr_rule_plans_check(&opened->rules, err);
	opened->options.size_bytes = opts->size_bytes;
	return ret;
}

int ftr_opened_plan_rules(struct ftr_opened *opened, const struct ftr_filter_opts *opts,
			  struct ftr_err *err)
{
	if (opened->rules.rules.nr == 0 && !opts->starts_off)
		return 0;
	if (ftr_rule_plans_init(&opened->plans, &opened->rules, opened->trace) < 0)
		return ftr_err_set(err, ENOMEM, "out of memory");
	opened->options.plans = &opened->plans;
	opened->options.starts_off = opts->starts_off;
	/* What remains are calls on the way to others: when their task slept says nothing. */
	if (ftr_rules_actions(&opened->rules) & (FTR_RULE_LOCATION | FTR_RULE_CALLER))
		opened->options.no_sched = true;
	return 0;
}

static bool has_source_files(const struct ftr_trace *trace)
{
	for (size_t i = 0; i < trace->funcs.nr; i++) {
		if (trace->funcs.v[i]->src_file != NULL)
			return true;
	}
	return false;
}

static void warn_location(const struct ftr_trace *trace, const struct ftr_rule *rule)
{
	if (has_source_files(trace))
		ftr_warn("--%s: no call of a function of \"%s\" in %s",
			 ftr_rule_option(rule->kind), rule->text, trace->path);
	else
		ftr_warn("--%s: %s has no source files; compile with -g and record with --srcline",
			 ftr_rule_option(rule->kind), trace->path);
}

/* A name like the rule's, with what is missing to mean it. */
static void warn_function(const struct ftr_trace *trace, const struct ftr_rule *rule)
{
	const char *text = ftr_pattern_text(rule->pattern), *option = ftr_rule_option(rule->kind);
	struct ftr_closest closest = { .distance = 0 };

	for (size_t i = 0; i < trace->funcs.nr; i++) {
		const struct ftr_func *func = trace->funcs.v[i];

		if (rule->module == NULL && ftr_func_is_kernel(func) &&
		    ftr_pattern_matches(rule->pattern, func->name)) {
			ftr_warn("--%s: no call of \"%s\" in %s but the kernel's: %s@kernel",
				 option, text, trace->path, text);
			return;
		}
		ftr_closest_try(&closest, text, func->name);
	}
	ftr_warn("--%s: no call of \"%s\" in %s%s", option, rule->text, trace->path,
		 ftr_closest_ask(&closest, "", "; \"ftr report\" lists the functions called"));
}

/* Compared with a word that is none of its names. */
static void warn_word(const struct ftr_rule *rule, const struct ftr_condition_misfit *misfit)
{
	const struct ftr_arg_enum *values = misfit->values;
	struct ftr_closest closest = { .distance = 0 };

	for (uint32_t i = 0; values != NULL && i < values->nr; i++)
		ftr_closest_try(&closest, misfit->node->text, values->values[i].name);
	ftr_warn("--%s: %s: no call fits the condition: the value that \"%s\" is compared with is "
		 "a number%s%s", ftr_rule_option(rule->kind), rule->text, misfit->node->text,
		 values != NULL ? " without such a name" : "; compare it with one",
		 values == NULL ? "" : ftr_closest_ask(&closest, "", "; \"ftr replay\" shows the "
						       "names that it has"));
}

/* Its condition was neither true nor false of any call. */
static void warn_unknown(const struct ftr_rule *rule, const struct ftr_condition_misfit *misfit)
{
	const char *option = ftr_rule_option(rule->kind);

	if (misfit->node == NULL)
		ftr_warn("--%s: %s: no call has the values that the condition is about; ftr record "
			 "-A and -R choose them, and --value-depth what they lead to", option,
			 rule->text);
	else if (misfit->format == FTR_ARG_STRING || misfit->format == FTR_ARG_WORD)
		ftr_warn("--%s: %s: no call fits the condition: what it compares is a text; "
			 "compare it with one, in quotation marks", option, rule->text);
	else if (misfit->format == FTR_ARG_STRUCT || misfit->format == FTR_ARG_NULL)
		ftr_warn("--%s: %s: no call fits the condition: what it compares has members; "
			 "compare one, as arg1.NAME", option, rule->text);
	else if (misfit->node->literal == FTR_LITERAL_TEXT && misfit->node->text != NULL)
		warn_word(rule, misfit);
	else
		ftr_warn("--%s: %s: no call fits the condition: the number that it is about "
			 "cannot be compared so; use ==, !=, <, <=, > or >=", option, rule->text);
}

void ftr_opened_warn_rules(struct ftr_opened *opened)
{
	const struct ftr_rule *rule;
	struct ftr_condition_misfit misfit;
	size_t pos = 0;

	if (opened->options.plans == NULL)
		return;
	while ((rule = ftr_rule_plans_next_unmatched(&opened->plans, &pos)) != NULL) {
		if (rule->kind == FTR_RULE_OF_LOCATION)
			warn_location(opened->trace, rule);
		else
			warn_function(opened->trace, rule);
	}
	pos = 0;
	while ((rule = ftr_rule_plans_next_unknown(&opened->plans, &pos, &misfit)) != NULL)
		warn_unknown(rule, &misfit);
}

/* SPDX-License-Identifier: MIT */
/* Which functions are patched. */
#include "utils/record/patch_choice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "utils/object/demangle.h"
#include "utils/object/elf.h"
#include "utils/proto/patch.h"
#include "utils/record/sections.h"

#define NAMELESS_BYTES 32

extern const struct ftr_section_maker ftr_section_maker_patch;

/* As uftrace has it, a star stands for all; alone it is no regular expression. */
static int rules_add(struct ftr_rules *rules, const char *option, const char *text,
		     struct ftr_err *err)
{
	bool is_patch = strcmp(option, FTR_OPTION_PATCH) == 0;
	char *copy = strdup(text);
	int ret;

	if (copy == NULL)
		return ftr_err_set(err, ENOMEM, "out of memory");
	for (char *p = copy; *p != '\0'; p++) {
		if (*p == '*' && (p == copy || p[-1] == ';') && strchr(";@", p[1]) != NULL)
			*p = '.';
	}
	ret = ftr_rules_parse_unnamed(rules, is_patch ? FTR_RULE_OF_FILTER : FTR_RULE_OF_NOTRACE,
				      copy, FTR_MATCH_REGEX, err);
	free(copy);
	return ret;
}

int ftr_patch_option_check(const char *arg, struct ftr_err *err)
{
	struct ftr_rules rules;
	int ret;

	ftr_rules_init(&rules);
	ret = rules_add(&rules, FTR_OPTION_PATCH, arg, err);
	if (ret == 0 && ftr_rules_actions(&rules) != FTR_RULE_FILTER)
		ret = ftr_err_set(err, EINVAL, "\"%s\": only FUNC and FUNC@MODULE are possible",
				  arg);
	ftr_rules_fini(&rules);
	return ret;
}

const struct ftr_patch_values *ftr_patch_values_get(const struct ftr_section_module *module)
{
	if (module->patch_values != NULL)
		return module->patch_values;
	return ftr_section_values(module->given, &ftr_section_maker_patch);
}

/* Within *given, which is the caller's to change. */
static struct ftr_patch_values *values_in(struct ftr_option_values *given)
{
	return (struct ftr_patch_values *)ftr_section_values(given, &ftr_section_maker_patch);
}

void ftr_patch_imply(struct ftr_option_values *given)
{
	values_in(given)->is_implied = true;
}

void ftr_patch_keep_returns(struct ftr_option_values *given)
{
	values_in(given)->keeps_returns = true;
}

static bool is_given(const struct ftr_patch_values *values)
{
	for (size_t i = 0; values != NULL && i < values->given.nr; i += 2) {
		if (strcmp(values->given.v[i], FTR_OPTION_PATCH) == 0)
			return true;
	}
	return false;
}

bool ftr_patch_is_asked_for(const struct ftr_option_values *given)
{
	return ftr_patch_is_asked(ftr_section_values(given, &ftr_section_maker_patch));
}

bool ftr_patch_is_given(const struct ftr_option_values *given)
{
	return is_given(ftr_section_values(given, &ftr_section_maker_patch));
}

bool ftr_patch_is_asked(const struct ftr_patch_values *values)
{
	return is_given(values) || (values != NULL && values->is_implied);
}

int ftr_patch_rules_parse(struct ftr_rules *rules, const struct ftr_opt_list *given,
			  struct ftr_err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < given->nr; i += 2)
		ret = rules_add(rules, given->v[i], given->v[i + 1], err);
	return ret;
}

int ftr_patch_choice_init(struct ftr_patch_choice *choice, const struct ftr_patch_values *values,
			  const char *path)
{
	int ret = 0;

	*choice = (struct ftr_patch_choice){ .path = path, .is_asked = is_given(values) };
	ftr_rules_init(&choice->rules);
	if (values != NULL)
		ret = ftr_patch_rules_parse(&choice->rules, &values->given, NULL);
	return ret;
}

void ftr_patch_choice_fini(struct ftr_patch_choice *choice)
{
	ftr_rules_fini(&choice->rules);
}

bool ftr_patch_names_module(const struct ftr_patch_values *values, const char *path, bool is_image)
{
	struct ftr_patch_choice choice;
	bool is_named = is_image && values != NULL && values->is_implied;

	if (ftr_patch_choice_init(&choice, values, path) == 0) {
		for (size_t i = 0; i < choice.rules.rules.nr; i++) {
			const struct ftr_rule *rule = &choice.rules.rules.v[i];

			is_named |= rule->kind == FTR_RULE_OF_FILTER &&
				    (rule->module == NULL ? is_image :
							    ftr_rule_names_module(rule, path));
		}
	}
	ftr_patch_choice_fini(&choice);
	return is_named;
}

/* The last rule that matches decides; without --patch all are wanted to begin with. */
static bool rules_choose(const struct ftr_patch_choice *choice,
			 const struct ftr_pattern_names *names)
{
	for (size_t i = choice->rules.rules.nr; i-- > 0;) {
		const struct ftr_rule *rule = &choice->rules.rules.v[i];

		if ((rule->module == NULL || ftr_rule_names_module(rule, choice->path)) &&
		    ftr_pattern_matches_symbol(rule->pattern, names))
			return rule->kind == FTR_RULE_OF_FILTER;
	}
	return !choice->is_asked;
}

bool ftr_patch_is_chosen(const struct ftr_patch_choice *choice, const struct ftr_symbol *symbol,
			 uint64_t addr)
{
	struct ftr_pattern_names names = { .shown = "" };
	char nameless[NAMELESS_BYTES];
	char *name = NULL;
	bool ret;

	if (choice->rules.rules.nr == 0)
		return true;
	if (symbol != NULL) {
		name = ftr_demangle(symbol->name, FTR_DEMANGLE_SIMPLE);
		names.shown = name != NULL ? name : symbol->name;
		names.mangled = symbol->name;
	} else {
		snprintf(nameless, sizeof(nameless), "<%llx>", (unsigned long long)addr);
		names.shown = nameless;
	}
	ret = rules_choose(choice, &names);
	free(name);
	return ret;
}

/*
 * Does its _init call __gmon_start__?  crti.o's does; it is the only one to ask for that function.
 */
static bool starts_gmon(const struct ftr_elf_file *file)
{
	struct ftr_elf_dynamic symbols;
	const char *name;
	GElf_Sym sym;

	ftr_elf_dynamic_init(&symbols, file);
	while ((name = ftr_elf_dynamic_next(&symbols, &sym)) != NULL) {
		if (sym.st_shndx == SHN_UNDEF && strcmp(name, "__gmon_start__") == 0)
			return true;
	}
	return false;
}

uint32_t ftr_patch_flags(const struct ftr_elf_file *file)
{
	return starts_gmon(file) ? FTR_PATCH_STARTS_GMON : 0;
}

bool ftr_patch_is_refused(const struct ftr_section_module *module)
{
	const struct ftr_arch *beside = ftr_arch_host->beside;

	if (beside == NULL || module->elf->machine != beside->elf_machine)
		return false;
	if (module->notes != NULL && module->is_image)
		ftr_strbuf_printf(module->notes, "!%s: nothing is patched: programs for %s are "
				  "not, whatever --patch says; compile it with -pg or "
				  "-finstrument-functions\n", module->path, beside->title);
	return true;
}

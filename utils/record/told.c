/* SPDX-License-Identifier: MIT */
/* See told.h. */
#include "utils/record/told.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/strbuf.h"
#include "utils/format/uftrace/spec.h"
#include "utils/object/demangle.h"
#include "utils/object/symtab.h"
#include "utils/record/modules.h"

#define AUTOMATIC "what debug info or the prototype says"

static bool has_values(const struct ftr_rule *rule)
{
	return (rule->actions & FTR_RULES_VALUES) != 0;
}

static bool is_told(const struct ftr_told *told, const struct ftr_rule *rule)
{
	for (size_t i = 0; i < told->rules.rules.nr; i++) {
		const struct ftr_rule *known = &told->rules.rules.v[i];

		if (known->kind == rule->kind && strcmp(known->text, rule->text) == 0)
			return true;
	}
	return false;
}

/* 0 or -ENOMEM. */
static int rules_add(struct ftr_told *told, const struct ftr_rules *rules, size_t first)
{
	int ret = 0;

	for (size_t i = first; ret == 0 && i < rules->rules.nr; i++) {
		const struct ftr_rule *rule = &rules->rules.v[i];

		if (has_values(rule) && !is_told(told, rule))
			ret = ftr_vec_push(&told->rules.rules, *rule);
	}
	return ret;
}

int ftr_told_init(struct ftr_told *told, const struct ftr_record_choice *choice)
{
	told->choice = *choice;
	told->choice.rules = &told->rules;
	ftr_rules_init(&told->rules);
	ftr_rules_init(&told->removed);
	return rules_add(told, choice->rules, 0);
}

void ftr_told_fini(struct ftr_told *told)
{
	ftr_vec_fini(&told->rules.rules);	/* without the patterns */
	ftr_arena_fini(&told->rules.arena);
	ftr_rules_fini(&told->removed);
}

/* A function whose layouts are compared. */
struct compared {
	struct ftr_pattern_names names;
	struct ftr_arena arena;
};

/* The words that are the layout of one kind, by the first @nr rules; "" = there is none. */
static int words_of(struct compared *self, const struct ftr_record_choice *choice, size_t nr,
		    enum uft_spec_kind kind, struct ftr_strbuf *words)
{
	const struct uft_spec_reader reader = { .arena = &self->arena };
	uint32_t actions = FTR_RULE_AUTO_ARGS |
			   (kind == UFT_SPEC_ARGS ? FTR_RULE_ARGUMENT : FTR_RULE_RETVAL);
	struct uft_layout layout = { 0 };
	bool is_automatic = choice->auto_args;
	int ret = 0;

	for (size_t i = 0; ret != -ENOMEM && i < nr; i++) {
		const struct ftr_rule *rule = &choice->rules->rules.v[i];
		const char *text = kind == UFT_SPEC_ARGS ? rule->args : rule->retval;

		if ((rule->actions & actions) == 0 ||
		    !ftr_pattern_matches_names(rule->pattern, &self->names))
			continue;
		if (text == NULL)
			is_automatic = true;
		else
			ret = uft_layout_add(&layout, ftr_slice_make(text, strlen(text)), kind,
					     ftr_pattern_is_exact(rule->pattern), &reader);
	}
	for (size_t i = 0; i < layout.args.nr; i++)
		ftr_strbuf_printf(words, "%s%.*s", i > 0 ? "," : "",
				  (int)layout.args.v[i].word.len, layout.args.v[i].word.s);
	if (layout.args.nr == 0 && is_automatic)
		ftr_strbuf_puts(words, AUTOMATIC);
	ftr_vec_fini(&layout.args);
	return ret == -ENOMEM || words->failed ? -ENOMEM : 0;
}

/* Is the layout of @symbol the same, or was there none?  0, -EINVAL with the reason, or -ENOMEM. */
static int layout_compare(struct compared *self, const struct ftr_told *before,
			  const struct ftr_told *now, enum uft_spec_kind kind, struct ftr_err *err)
{
	struct ftr_strbuf old, new;
	int ret;

	ftr_strbuf_init(&old);
	ftr_strbuf_init(&new);
	ret = words_of(self, &before->choice, before->rules.rules.nr, kind, &old);
	if (ret == 0 && old.len > 0)
		ret = words_of(self, &now->choice, now->rules.rules.nr, kind, &new);
	if (ret == 0 && old.len > 0 && strcmp(ftr_strbuf_str(&old), ftr_strbuf_str(&new)) != 0)
		ret = ftr_err_set(err, EINVAL, "%s of %s cannot become other ones within a "
				  "trace, where they are %s since a change or the start; record "
				  "anew", kind == UFT_SPEC_ARGS ? "the arguments" :
				  "the return value", self->names.shown, ftr_strbuf_str(&old));
	ftr_strbuf_fini(&old);
	ftr_strbuf_fini(&new);
	return ret;
}

static int symbol_compare(const struct ftr_symbol *symbol, const struct ftr_told *before,
			  const struct ftr_told *now, struct ftr_err *err)
{
	char *shown = ftr_demangle(symbol->name, FTR_DEMANGLE_SIMPLE);
	struct compared self = { .names = { .shown = shown, .mangled = symbol->name } };
	int ret = shown == NULL ? -ENOMEM : 0;

	ftr_arena_init(&self.arena);
	if (ret == 0)
		ret = layout_compare(&self, before, now, UFT_SPEC_ARGS, err);
	if (ret == 0)
		ret = layout_compare(&self, before, now, UFT_SPEC_RETVAL, err);
	ftr_arena_fini(&self.arena);
	free(shown);
	return ret;
}

static int module_compare(const char *path, const struct ftr_told *before,
			  const struct ftr_told *now, struct ftr_err *err)
{
	struct ftr_symtab tab;
	int ret = 0;

	ftr_symtab_init(&tab);
	if (ftr_symtab_load_elf(&tab, path, NULL) == 0) {
		for (size_t i = 0; ret == 0 && i < tab.nr; i++) {
			if (ftr_symbol_is_function(&tab.symbols[i]))
				ret = symbol_compare(&tab.symbols[i], before, now, err);
		}
	}
	ftr_symtab_fini(&tab);
	return ret;
}

static int modules_compare(const struct ftr_modules *modules, const struct ftr_told *before,
			   const struct ftr_told *now, struct ftr_err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < modules->files.nr; i++) {
		if (modules->files.v[i]->is_wanted)
			ret = module_compare(modules->files.v[i]->path, before, now, err);
	}
	return ret;
}

int ftr_told_add(struct ftr_told *told, const struct ftr_record_choice *choice, size_t first,
		 const struct ftr_modules *modules, struct ftr_err *err)
{
	struct ftr_told before = *told;		/* of which nothing is freed */
	int ret;

	before.choice.rules = &before.rules;
	told->choice.auto_args |= choice->auto_args;
	ret = rules_add(told, choice->rules, first);
	before.rules.rules.v = told->rules.rules.v;	/* which may have moved */
	if (ret == 0 && told->rules.rules.nr == before.rules.rules.nr &&
	    told->choice.auto_args == before.choice.auto_args)
		return 0;
	if (ret == 0 && (before.rules.rules.nr > 0 || before.choice.auto_args))
		ret = modules_compare(modules, &before, told, err);
	if (ret == 0)
		return 1;
	told->rules.rules.nr = before.rules.rules.nr;
	told->choice.auto_args = before.choice.auto_args;
	return ret == -ENOMEM ? ftr_err_set(err, ENOMEM, "out of memory") : ret;
}

void ftr_told_remove(struct ftr_told *told, struct ftr_rules *rules, size_t first, size_t nr)
{
	for (size_t i = first; i < first + nr; i++) {
		struct ftr_rule *rule = &rules->rules.v[i];

		/* Where there is no memory for it, its pattern stays for good. */
		if (has_values(rule)) {
			(void)ftr_vec_push(&told->removed.rules, *rule);
			rule->pattern = NULL;
		}
	}
	ftr_rules_remove(rules, first, nr);
}

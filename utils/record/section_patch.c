/* SPDX-License-Identifier: MIT */
/* Patched entries: which functions of a module get a call of the hook (utils/proto/patch.h). */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/closest.h"
#include "utils/base/vec.h"
#include "utils/object/demangle.h"
#include "utils/object/elf.h"
#include "utils/object/elf_file.h"
#include "utils/object/patchable.h"
#include "utils/object/symtab.h"
#include "utils/proto/patch.h"
#include "utils/record/choice.h"
#include "utils/record/patch_choice.h"
#include "utils/record/sections.h"
#include "utils/trace/rule.h"

#define ROW(name_, letter_, help_) \
	FTR_OPTION(name_, letter_, "FUNC", help_, ftr_opt_list_named, struct ftr_patch_values, \
		   given, .check = ftr_patch_option_check)

static const struct ftr_option patch_options[] = {
	ROW(FTR_OPTION_PATCH, 'P',
	    "Patch only FUNC, in programs that were not prepared, too (default: what was)"),
	ROW(FTR_OPTION_UNPATCH, 'U', "Do not patch FUNC"),
	{ 0 }
};

/* What became of a module's entries. */
enum outcome {
	OUTCOME_PATCHED = FTR_PATCHABLE_STATES,
	OUTCOME_UNWANTED,
	OUTCOMES,
};

static const char *const outcome_texts[OUTCOMES] = {
	[FTR_PATCHABLE_SHORT] = "have less room than a call needs",
	[FTR_PATCHABLE_UNKNOWN] = "start where no symbol tells",
	[OUTCOME_PATCHED] = "patched",
	[OUTCOME_UNWANTED] = "not chosen by --patch and --unpatch",
};

/* One module at work. */
struct work {
	const struct ftr_section_module *module;
	struct ftr_patch_choice choice;
	struct ftr_elf_file file;
	struct ftr_symtab symbols;
	struct ftr_patchables found;
	FTR_VEC(struct ftr_patch_site) sites;
	unsigned counts[OUTCOMES];
};

static bool site_is_chosen(const struct work *work, uint64_t addr)
{
	return ftr_patch_is_chosen(&work->choice,
				   ftr_symtab_find(&work->symbols, addr - work->file.base), addr);
}

static bool may_change(const struct ftr_section_module *module)
{
	return module->choice != NULL && module->choice->may_change;
}

static int site_add(struct work *work, const struct ftr_patchable *one)
{
	uint64_t offset = one->addr - work->file.base;
	struct ftr_patch_site site = {
		.offset = (uint32_t)offset, .bytes = one->bytes,
		.kind = one->state == FTR_PATCHABLE_PROLOGUE ? FTR_PATCH_PROLOGUE :
							       FTR_PATCH_ENTRY,
	};
	bool is_chosen = site_is_chosen(work, one->addr);
	bool is_left = one->state == FTR_PATCHABLE_SHORT || one->state == FTR_PATCHABLE_UNKNOWN;

	site.is_later = !is_chosen;
	work->counts[!is_chosen ? OUTCOME_UNWANTED : is_left ? one->state : OUTCOME_PATCHED]++;
	if (is_left || offset > UINT32_MAX || !(is_chosen || may_change(work->module)))
		return 0;
	return ftr_vec_push(&work->sites, site);
}

static void body_put(const struct work *work, struct ftr_strbuf *body)
{
	struct ftr_patch_table head = {
		.base = work->file.base,
		.site_nr = (uint32_t)work->sites.nr,
		.flags = ftr_patch_flags(&work->file) |
			 (may_change(work->module) ? FTR_PATCH_MAY_CHANGE : 0u),
	};

	if (work->sites.nr == 0)
		return;
	ftr_strbuf_put(body, &head, sizeof(head));
	ftr_strbuf_put(body, work->sites.v, work->sites.nr * sizeof(work->sites.v[0]));
}

/* The names of functions with room that are left as they are, all for one reason. */
static void note_left(const struct work *work, enum ftr_patchable_state state)
{
	struct ftr_strbuf *notes = work->module->notes;
	const char *before = ": ";

	if (work->counts[state] == 0)
		return;
	ftr_strbuf_printf(notes, "%s: %u left: %s", work->module->path, work->counts[state],
			  outcome_texts[state]);
	for (size_t i = 0; i < work->found.sites.nr; i++) {
		const struct ftr_patchable *one = &work->found.sites.v[i];
		const struct ftr_symbol *symbol;

		if (one->state != state || !site_is_chosen(work, one->addr))
			continue;
		symbol = ftr_symtab_find(&work->symbols, one->addr - work->file.base);
		if (symbol != NULL)
			ftr_strbuf_printf(notes, "%s%s", before, symbol->name);
		else
			ftr_strbuf_printf(notes, "%s0x%llx", before, (unsigned long long)one->addr);
		before = ", ";
	}
	ftr_strbuf_putc(notes, '\n');
}

static char *site_name(const struct work *work, const struct ftr_patchable *one)
{
	const struct ftr_symbol *symbol = ftr_symtab_find(&work->symbols,
							  one->addr - work->file.base);

	return symbol != NULL ? ftr_demangle(symbol->name, FTR_DEMANGLE_SIMPLE) : NULL;
}

/* A --patch that is of none of the program's functions is probably mistyped. */
static void note_unmatched(const struct work *work, const struct ftr_rule *rule)
{
	struct ftr_closest closest = { .distance = 0 };
	bool is_matched = false;

	for (size_t i = 0; i < work->found.sites.nr && !is_matched; i++) {
		char *name = site_name(work, &work->found.sites.v[i]);

		is_matched = name != NULL && ftr_pattern_matches(rule->pattern, name);
		if (name != NULL)
			ftr_closest_try(&closest, ftr_pattern_text(rule->pattern), name);
		free(name);
	}
	if (!is_matched && work->found.sites.nr > 0)
		ftr_strbuf_printf(work->module->notes, "!--patch=%s: no function of %s that can be "
				  "patched matches%s\n", rule->text, work->module->path,
				  ftr_closest_ask(&closest, "", ""));
}

static void note_all_unmatched(const struct work *work)
{
	for (size_t i = 0; work->module->is_image && i < work->choice.rules.rules.nr; i++) {
		const struct ftr_rule *rule = &work->choice.rules.rules.v[i];

		if (rule->kind == FTR_RULE_OF_FILTER &&
		    (rule->module == NULL || ftr_rule_names_module(rule, work->module->path)))
			note_unmatched(work, rule);
	}
}

static void note(const struct work *work)
{
	struct ftr_strbuf *notes = work->module->notes;

	if (notes == NULL)
		return;
	ftr_strbuf_printf(notes, "%s: %u function%s patched", work->module->path,
			  work->counts[OUTCOME_PATCHED],
			  work->counts[OUTCOME_PATCHED] == 1 ? "" : "s");
	if (work->counts[OUTCOME_UNWANTED] != 0)
		ftr_strbuf_printf(notes, ", %u %s", work->counts[OUTCOME_UNWANTED],
				  outcome_texts[OUTCOME_UNWANTED]);
	ftr_strbuf_putc(notes, '\n');
	note_left(work, FTR_PATCHABLE_SHORT);
	note_left(work, FTR_PATCHABLE_UNKNOWN);
	if (work->module->loaded_hooks == 0 && work->module->patch_values == NULL)
		note_all_unmatched(work);
}

/* Functions that call the hook anyway would be recorded twice. */
static bool is_patchable(const struct ftr_section_module *module)
{
	return (module->elf->hooks & FTR_ELF_HOOK_SITES) != 0 &&
	       (module->elf->hooks & FTR_ELF_HOOK_CALLS) == 0;
}

/* Are there functions that could be patched beside those that call the hook?  They are left. */
static bool is_mixed(const struct ftr_section_module *module)
{
	return (module->elf->hooks & (FTR_ELF_HOOK_PATCHABLE | FTR_ELF_HOOK_XRAY)) != 0 &&
	       (module->elf->hooks & FTR_ELF_HOOK_CALLS) != 0;
}

static int sites_find(struct work *work)
{
	int ret = 0;

	ftr_symtab_load_elf(&work->symbols, work->module->path, NULL);
	if (ftr_patchables_load(&work->found, &work->file, &work->symbols) < 0)
		return -ENOMEM;
	for (size_t i = 0; ret == 0 && i < work->found.sites.nr; i++)
		ret = site_add(work, &work->found.sites.v[i]);
	return ret;
}

static int patch_make(const struct ftr_section_module *module, const void *values,
		      struct ftr_strbuf *body)
{
	struct work work = { .module = module };
	int ret = 0;

	if (is_mixed(module) && module->notes != NULL)
		ftr_strbuf_printf(module->notes, "%s: nothing is patched: its functions were "
				  "compiled to call a hook; those that do not are not recorded\n",
				  module->path);
	if (!is_patchable(module) || ftr_patch_is_refused(module) ||
	    ftr_elf_file_open(&work.file, module->path, NULL) < 0)
		return 0;
	ftr_symtab_init(&work.symbols);
	ret = ftr_patch_choice_init(&work.choice, ftr_patch_values_get(module), module->path);
	if (ret == 0)
		ret = sites_find(&work);
	if (ret == 0) {
		body_put(&work, body);
		note(&work);
	}
	ftr_patch_choice_fini(&work.choice);
	ftr_vec_fini(&work.sites);
	ftr_patchables_fini(&work.found);
	ftr_symtab_fini(&work.symbols);
	ftr_elf_file_close(&work.file);
	return ret;
}

/* Of programs that were not instrumented, too: section_plain.c. */
static int patch_choose(struct ftr_record_choice *choice, struct ftr_rules *rules,
			const void *values, struct ftr_err *err)
{
	const struct ftr_patch_values *options = values;

	if (options != NULL)
		choice->patched = options->given;
	return 0;
}

static bool patch_takes_any(const void *values)
{
	return ftr_patch_is_asked(values);
}

static uint32_t patch_flags(const struct ftr_recording *recording, const void *values)
{
	return FTR_SWITCH_ON | FTR_SWITCH_LIBRARIES;
}

static uint32_t patch_library_hooks(const struct ftr_section_module *module, const void *values)
{
	return (module->elf->hooks & FTR_ELF_HOOK_SITES) == 0 ? FTR_ELF_HOOK_SITES : 0;
}

/*
 * Libraries are looked at where some can be expected that have room: asking about each takes its
 * time.
 */
static uint32_t patch_narrow(const struct ftr_section_module *module, const void *values,
			     uint32_t value)
{
	if (!module->is_image || is_patchable(module) || module->loaded_hooks != 0 ||
	    ftr_patch_is_asked(ftr_patch_values_get(module)))
		return value;
	return FTR_SWITCH_OFF;
}

static bool patch_is_wanted(const struct ftr_section_module *module, const void *values)
{
	if (module->is_image)
		return is_mixed(module) ||
		       patch_narrow(module, values, FTR_SWITCH_ON) != FTR_SWITCH_OFF;
	return is_patchable(module) && !ftr_section_is_base_library(module->path);
}

const struct ftr_section_maker ftr_section_maker_patch = {
	.name	      = "patch",
	.kind	      = FTR_SECTION_PATCH,
	.probe	      = "patch",
	.options      = patch_options,
	.values_bytes = sizeof(struct ftr_patch_values),
	.choose	      = patch_choose,
	.takes_any    = patch_takes_any,
	.flags	      = patch_flags,
	.narrow	      = patch_narrow,
	.is_wanted    = patch_is_wanted,
	.has_records  = true,
	.library_hooks = patch_library_hooks,
	.make	      = patch_make,
};

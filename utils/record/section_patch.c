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
#include "utils/record/sections.h"
#include "utils/trace/rule.h"

#define OPTION_PATCH "patch"
#define OPTION_UNPATCH "unpatch"

struct patch_values {
	struct ftr_opt_list given;	/* "patch" or "unpatch", and its argument */
};

/* As uftrace has it, a star stands for all; alone it is no regular expression. */
static int rules_add(struct ftr_rules *rules, const char *option, const char *text,
		     struct ftr_err *err)
{
	bool is_patch = strcmp(option, OPTION_PATCH) == 0;
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

static int rules_check(const char *arg, struct ftr_err *err)
{
	struct ftr_rules rules;
	int ret;

	ftr_rules_init(&rules);
	ret = rules_add(&rules, OPTION_PATCH, arg, err);
	if (ret == 0 && ftr_rules_actions(&rules) != FTR_RULE_FILTER)
		ret = ftr_err_set(err, EINVAL, "\"%s\": only FUNC and FUNC@MODULE are possible",
				  arg);
	ftr_rules_fini(&rules);
	return ret;
}

#define ROW(name_, letter_, help_) \
	FTR_OPTION(name_, letter_, "FUNC", help_, ftr_opt_list_named, struct patch_values, given, \
		   .check = rules_check)

static const struct ftr_option patch_options[] = {
	ROW(OPTION_PATCH, 'P',
	    "Patch only FUNC among functions with room for a call at their entry (default: all)"),
	ROW(OPTION_UNPATCH, 'U', "Do not patch FUNC"),
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
	const struct ftr_opt_list *given; /* (nullable) */
	struct ftr_rules rules;		/* filter: --patch, notrace: --unpatch */
	struct ftr_elf_file file;
	struct ftr_symtab symbols;
	struct ftr_patchables found;
	FTR_VEC(struct ftr_patch_site) sites;
	unsigned counts[OUTCOMES];
};

static bool has_patch(const struct ftr_opt_list *given)
{
	for (size_t i = 0; given != NULL && i < given->nr; i += 2) {
		if (strcmp(given->v[i], OPTION_PATCH) == 0)
			return true;
	}
	return false;
}

/* The last rule that matches decides; without --patch all are wanted to begin with. */
static bool is_chosen(const struct work *work, const struct ftr_pattern_names *names)
{
	for (size_t i = work->rules.rules.nr; i-- > 0;) {
		const struct ftr_rule *rule = &work->rules.rules.v[i];

		if ((rule->module == NULL || ftr_rule_names_module(rule, work->module->path)) &&
		    (ftr_pattern_matches_names(rule->pattern, names)))
			return rule->kind == FTR_RULE_OF_FILTER;
	}
	return !has_patch(work->given);
}

static bool site_is_chosen(const struct work *work, uint64_t addr)
{
	struct ftr_pattern_names names = { .shown = "" };
	const struct ftr_symbol *symbol;
	char *name = NULL;
	bool ret;

	if (work->rules.rules.nr == 0)
		return true;
	symbol = ftr_symtab_find(&work->symbols, addr - work->file.base);
	if (symbol != NULL) {
		name = ftr_demangle(symbol->name, FTR_DEMANGLE_SIMPLE);
		names.shown = name != NULL ? name : symbol->name;
		names.mangled = symbol->name;
	}
	ret = is_chosen(work, &names);
	free(name);
	return ret;
}

static int site_add(struct work *work, const struct ftr_patchable *one)
{
	uint64_t offset = one->addr - work->file.base;
	struct ftr_patch_site site = {
		.offset = (uint32_t)offset, .bytes = one->bytes,
		.kind = one->state == FTR_PATCHABLE_PROLOGUE ? FTR_PATCH_PROLOGUE :
							       FTR_PATCH_ENTRY,
	};
	unsigned outcome = OUTCOME_PATCHED;

	if (!site_is_chosen(work, one->addr))
		outcome = OUTCOME_UNWANTED;
	else if (one->state == FTR_PATCHABLE_SHORT || one->state == FTR_PATCHABLE_UNKNOWN)
		outcome = one->state;
	work->counts[outcome]++;
	if (outcome != OUTCOME_PATCHED || offset > UINT32_MAX)
		return 0;
	return ftr_vec_push(&work->sites, site);
}

/*
 * Does its _init call __gmon_start__?  crti.o's does; it is the only one to ask for that function.
 */
static bool starts_gmon(const struct ftr_elf_file *file)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = ftr_elf_section_find(file, SHT_DYNSYM, NULL, &shdr);
	Elf_Data *symbols = ftr_elf_section_data(scn, &shdr), *strings;
	GElf_Sym sym;

	strings = symbols != NULL ? ftr_elf_section_strings(file, &shdr) : NULL;
	for (int i = 1; strings != NULL && gelf_getsym(symbols, i, &sym) != NULL; i++) {
		const char *name = ftr_elf_string(strings, sym.st_name);

		if (sym.st_shndx == SHN_UNDEF && name != NULL &&
		    strcmp(name, "__gmon_start__") == 0)
			return true;
	}
	return false;
}

static void body_put(const struct work *work, struct ftr_strbuf *body)
{
	struct ftr_patch_table head = {
		.base = work->file.base,
		.site_nr = (uint32_t)work->sites.nr,
		.flags = starts_gmon(&work->file) ? FTR_PATCH_STARTS_GMON : 0,
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
	for (size_t i = 0; work->module->is_image && i < work->rules.rules.nr; i++) {
		const struct ftr_rule *rule = &work->rules.rules.v[i];

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
	if (work->module->loaded_hooks == 0)
		note_all_unmatched(work);
}

static const struct ftr_opt_list *given_of(const void *values)
{
	const struct patch_values *patch = values;

	return patch != NULL ? &patch->given : NULL;
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

	for (size_t i = 0; ret == 0 && work->given != NULL && i < work->given->nr; i += 2)
		ret = rules_add(&work->rules, work->given->v[i], work->given->v[i + 1], NULL);
	if (ret < 0)
		return ret;
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
	struct work work = { .module = module, .given = given_of(values) };
	int ret = 0;

	if (is_mixed(module) && module->notes != NULL)
		ftr_strbuf_printf(module->notes, "%s: nothing is patched: its functions were "
				  "compiled to call a hook; those that do not are not recorded\n",
				  module->path);
	if (!is_patchable(module) || ftr_elf_file_open(&work.file, module->path, NULL) < 0)
		return 0;
	ftr_rules_init(&work.rules);
	ftr_symtab_init(&work.symbols);
	ret = sites_find(&work);
	if (ret == 0) {
		body_put(&work, body);
		note(&work);
	}
	ftr_rules_fini(&work.rules);
	ftr_vec_fini(&work.sites);
	ftr_patchables_fini(&work.found);
	ftr_symtab_fini(&work.symbols);
	ftr_elf_file_close(&work.file);
	return ret;
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
	    has_patch(given_of(values)))
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
	.values_bytes = sizeof(struct patch_values),
	.flags	      = patch_flags,
	.narrow	      = patch_narrow,
	.is_wanted    = patch_is_wanted,
	.has_records  = true,
	.library_hooks = patch_library_hooks,
	.make	      = patch_make,
};

/* SPDX-License-Identifier: MIT */
/* From rules to functions of a module. */
#include "utils/record/choice.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/closest.h"
#include "utils/object/demangle.h"
#include "utils/object/elf.h"
#include "utils/proto/rules.h"
#include "utils/proto/values.h"
#include "utils/record/linked.h"
#include "utils/record/patch_choice.h"
#include "utils/record/pmu.h"
#include "utils/record/sdt_events.h"
#include "utils/record/source_choice.h"
#include "utils/record/watched.h"
#include "utils/trace/condition.h"
#include "utils/trace/rule_actions.h"

/* What the runtime does by itself, since it is told of it. */
static const uint32_t gated = 0
#define FTR_RULE_ACTION(id, name, read, flag, in) | ((flag) != 0 ? FTR_RULE_##id : 0u)
#define FTR_RULE_IMPLIED(id, name, in)
#include "utils/trace/rule_actions.def"
#undef FTR_RULE_ACTION
#undef FTR_RULE_IMPLIED
	;

bool ftr_record_choice_is_any(const struct ftr_record_choice *choice)
{
	return choice != NULL &&
	       (choice->time_ns != 0 || choice->size_bytes != 0 || choice->starts_off ||
		choice->is_switched || choice->may_change ||
		(choice->rules != NULL && (ftr_rules_actions(choice->rules) & gated) != 0));
}

/* The runtime decides, which follows no paths. */
static int dump_check(const struct ftr_rule *rule, struct ftr_err *err)
{
	struct ftr_condition_needs needs = { 0 };

	ftr_condition_needs(rule->condition, &needs);
	if (needs.steps > 0)
		return ftr_err_set(err, EINVAL, "%s: what a dump depends on is decided in the "
				   "program, which follows no pointers and members; compare argN, "
				   "fpargN, retval and duration themselves", rule->text);
	if (needs.nr > FTR_TESTS_JUDGED)
		return ftr_err_set(err, EINVAL, "a dump depends on %u comparisons at most, and "
				   "there are %u: %s", FTR_TESTS_JUDGED, needs.nr, rule->text);
	return 0;
}

static int rule_check(const struct ftr_record_choice *choice, const struct ftr_rule *rule,
		      struct ftr_err *err)
{
	int ret = 0;

	if ((rule->actions & FTR_RULE_READ) != 0)
		ret = ftr_pmu_check(rule->values.reads, rule->text, err);
	if (ret < 0)
		return ret;
	if ((rule->actions & FTR_RULE_DUMP) != 0 && !choice->is_flight)
		return ftr_err_set(err, EINVAL, "%s: a dump needs a flight recorder; add "
				   "--overwrite=SIZE", rule->text);
	if (rule->condition != NULL && (rule->actions & FTR_RULE_DUMP) != 0)
		return dump_check(rule, err);
	if (rule->condition != NULL && rule->shown == NULL)
		return ftr_err_set(err, EINVAL, "%s: values are recorded at every call; put the "
				   "condition on --filter, or on ftr replay", rule->text);
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

/* Where symbols are, and where library calls lead to. */
struct place {
	const char *path;
	const struct ftr_linked *linked;	/* (nullable: no rule names a library) */
};

/* Does a library call lead into the library that the rule names? */
static bool leads_to(const struct ftr_rule *rule, const struct place *place,
		     const struct ftr_symbol *symbol)
{
	const char *library = NULL;

	if (symbol->type == 'P' && place->linked != NULL)
		library = ftr_linked_find(place->linked, symbol->name);
	return library != NULL && ftr_rule_names_module(rule, library);
}

static bool module_matches(const struct ftr_rule *rule, const struct place *place,
			   const struct ftr_symbol *symbol)
{
	switch (ftr_rule_module(rule)) {
	case FTR_RULE_MODULE_ANY:
		return true;
	case FTR_RULE_MODULE_PLT:
		return symbol->type == 'P';
	case FTR_RULE_MODULE_NAMED:
		return ftr_rule_names_module(rule, place->path) || leads_to(rule, place, symbol);
	default:
		return false;
	}
}

static bool rule_matches(const struct ftr_rule *rule, const struct place *place,
			 const struct ftr_symbol *symbol, const char *shown)
{
	const struct ftr_pattern_names names = { .shown = shown, .mangled = symbol->name };
	bool has_values = (rule->actions & FTR_RULES_VALUES) != 0;

	return (has_values ? ftr_pattern_matches_names(rule->pattern, &names) :
			     ftr_pattern_matches_symbol(rule->pattern, &names)) &&
	       module_matches(rule, place, symbol);
}

void ftr_record_dumps_add(struct ftr_record_dumps *dumps, const struct ftr_rule *rule)
{
	if ((rule->actions & FTR_RULE_CLEAR) != 0 && (rule->values.clears & FTR_RULE_DUMP) != 0)
		*dumps = (struct ftr_record_dumps){ 0 };
	if ((rule->actions & FTR_RULE_DUMP) == 0)
		return;
	if (rule->condition == NULL) {
		dumps->is_any = true;
		return;
	}
	assert(dumps->nr < FTR_RULE_CONDITIONS_MAX);
	dumps->conditions[dumps->nr++] = rule->condition;
	dumps->is_at_end |= ftr_condition_needs_exit(rule->condition);
}

bool ftr_record_has_conditional_dumps(const struct ftr_record_choice *choice)
{
	for (size_t i = 0; i < choice->rules->rules.nr; i++) {
		const struct ftr_rule *rule = &choice->rules->rules.v[i];

		if (rule->condition != NULL && (rule->actions & FTR_RULE_DUMP) != 0)
			return true;
	}
	return false;
}

static uint32_t besides(void)
{
	return ftr_rule_actions_in(FTR_IN_VALUES) | FTR_RULE_DUMP;
}

void ftr_record_decision_add(struct ftr_record_decision *decision, const struct ftr_rule *rule)
{
	uint32_t actions = rule->actions | rule->undecided;

	if ((actions & ~besides()) == 0)
		return;
	decision->rule = rule;
	decision->nr++;
}

const struct ftr_rule *ftr_record_decided(const struct ftr_record_decision *decision)
{
	uint32_t undecided = decision->nr == 1 ? decision->rule->undecided & ~besides() : 0;

	return undecided == FTR_RULE_FILTER || undecided == FTR_RULE_NOTRACE ? decision->rule :
									       NULL;
}

static struct ftr_record_chosen chosen_of(const struct ftr_rules *rules, const struct place *place,
					  const struct ftr_symbol *symbol, const char *shown)
{
	struct ftr_record_chosen chosen = { 0 };
	struct ftr_record_decision decision = { 0 };
	size_t i;

	for (i = 0; i < rules->rules.nr; i++) {
		const struct ftr_rule *rule = &rules->rules.v[i];

		if (!rule_matches(rule, place, symbol, shown))
			continue;
		chosen.actions = ftr_rule_join(chosen.actions, &chosen.values, rule);
		ftr_record_decision_add(&decision, rule);
		ftr_record_dumps_add(&chosen.dumps, rule);
	}
	chosen.decided = ftr_record_decided(&decision);
	return chosen;
}

static bool names_libraries(const struct ftr_rules *rules)
{
	for (size_t i = 0; i < rules->rules.nr; i++) {
		if (ftr_rule_module(&rules->rules.v[i]) == FTR_RULE_MODULE_NAMED)
			return true;
	}
	return false;
}

static int symbols_resolve(const struct ftr_record_choice *choice, const struct place *place,
			   const struct ftr_symtab *tab, struct ftr_record_chosen_list *list)
{
	size_t i;

	for (i = 0; i < tab->nr; i++) {
		struct ftr_record_chosen chosen = { 0 };
		char *shown;

		if (ftr_symbol_is_function(&tab->symbols[i])) {
			shown = ftr_demangle(tab->symbols[i].name, FTR_DEMANGLE_SIMPLE);
			if (shown == NULL)
				return -ENOMEM;
			chosen = chosen_of(choice->rules, place, &tab->symbols[i], shown);
			free(shown);
		}
		if (ftr_vec_push(&list->of, chosen) < 0)
			return -ENOMEM;
	}
	return 0;
}

int ftr_record_choice_resolve(const struct ftr_record_choice *choice, const char *path,
			      const struct ftr_symtab *tab, struct ftr_record_chosen_list *list)
{
	struct ftr_linked linked = { 0 };
	struct place place = { .path = path };
	int ret = 0;

	assert(choice->rules != NULL && list->of.nr == 0);
	if (names_libraries(choice->rules)) {
		ret = ftr_linked_load(&linked, path);
		place.linked = &linked;
	}
	if (ret == 0)
		ret = symbols_resolve(choice, &place, tab, list);
	ftr_linked_fini(&linked);
	return ret;
}

/* A rule's search for a function of a module. */
struct search {
	const struct ftr_rule *rule;
	struct place place;
	struct ftr_closest closest;
	bool is_of_code;		/* library calls do not count, nor are they patched */
	bool leaves_calls;		/* --no-libcall */
	bool is_called;			/* one that does not count would be found */
	bool has_more;			/* libraries may be there that the file does not tell of */
	bool is_found;
	const char *mangled;		/* (nullable) of what it finds without its values */
};

static int symbol_try(struct search *search, const struct ftr_symbol *symbol)
{
	char *shown = ftr_demangle(symbol->name, FTR_DEMANGLE_SIMPLE);

	if (shown == NULL)
		return -ENOMEM;
	search->is_found = rule_matches(search->rule, &search->place, symbol, shown);
	if (!search->is_found && search->mangled == NULL &&
	    ftr_pattern_matches_symbol(search->rule->pattern, &(struct ftr_pattern_names){
					       .shown = shown, .mangled = symbol->name }) &&
	    module_matches(search->rule, &search->place, symbol))
		search->mangled = symbol->name;
	if (ftr_rule_module(search->rule) == FTR_RULE_MODULE_ANY)
		ftr_closest_try(&search->closest, ftr_pattern_text(search->rule->pattern), shown);
	free(shown);
	return 0;
}

static int symbols_try(struct search *search, const struct ftr_symtab *tab)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < tab->nr && !search->is_found; i++) {
		const struct ftr_symbol *symbol = &tab->symbols[i];
		bool is_left = search->is_of_code && symbol->type == 'P';

		if (!ftr_symbol_is_function(symbol) || (is_left && !search->leaves_calls))
			continue;
		ret = symbol_try(search, symbol);
		if (search->is_found && is_left) {
			search->is_found = false;
			search->is_called = true;
		}
	}
	return ret;
}

static bool is_instrumented(const char *path)
{
	struct ftr_elf_info info;

	return ftr_elf_info_load(&info, path, NULL) == 0 && info.hooks != 0;
}

/*
 * In the libraries that the image is linked with?  *other becomes (nullable) the path of one whose
 * functions are not instrumented.
 */
static int libraries_try(struct search *search, const char *image, const char **other,
			 struct ftr_linked *linked)
{
	int ret = ftr_linked_load(linked, image);

	for (size_t i = 0; ret == 0 && i < linked->tabs.nr && !search->is_found; i++) {
		search->place.path = linked->needed.paths.v[i];
		ret = symbols_try(search, &linked->tabs.v[i]);
		if (!search->is_found || is_instrumented(search->place.path) ||
		    ftr_rule_module(search->rule) == FTR_RULE_MODULE_NAMED)
			continue;
		*other = *other != NULL ? *other : search->place.path;
		search->is_found = false;
	}
	return ret;
}

static bool calls_any(const struct ftr_symtab *tab, const char *const *names)
{
	for (size_t i = 0; i < tab->nr; i++) {
		if (tab->symbols[i].type != 'P')
			continue;
		for (const char *const *name = names; *name != NULL; name++)
			if (strcmp(tab->symbols[i].name, *name) == 0)
				return true;
	}
	return false;
}

static bool opens_libraries(const struct ftr_symtab *tab)
{
	static const char *const names[] = { "dlopen", "dlmopen", NULL };

	return calls_any(tab, names);
}

/* A shell, or whatever else is there to run others: what is asked for may be about these. */
static bool runs_programs(const struct ftr_symtab *tab, const char *image)
{
	static const char *const names[] = {
		"execl", "execle", "execlp", "execv", "execve", "execvp", "execvpe", "fexecve",
		"popen", "posix_spawn", "posix_spawnp", "system", NULL,
	};

	return calls_any(tab, names) && !is_instrumented(image);
}

/* May the library that the rule names be opened, by the program or one that it is linked with? */
static bool library_is_opened(const struct search *search, const struct ftr_linked *linked,
			      const struct ftr_symtab *tab)
{
	bool is_opened = search->has_more || opens_libraries(tab);

	if (ftr_rule_module(search->rule) != FTR_RULE_MODULE_NAMED)
		return false;
	for (size_t i = 0; i < linked->tabs.nr && !is_opened; i++)
		is_opened = opens_libraries(&linked->tabs.v[i]);
	return is_opened;
}

static int rule_refuse(struct search *search, const char *image, const char *other,
		       struct ftr_err *err)
{
	const struct ftr_rule *rule = search->rule;
	struct ftr_closest action = { .distance = 0 };

	if (search->mangled != NULL)
		return ftr_err_set(err, ENOENT, "%s: with values and conditions, a function is "
				   "named as it is shown, or mangled: %s", rule->text,
				   search->mangled);
	if (other != NULL)
		return ftr_err_set(err, ENOENT, "%s: no function of %s matches %s; %s, which is "
				   "not instrumented, has one: name it as FUNC@LIBRARY, with "
				   "--patch or --nest-libcall", rule->text, image,
				   ftr_pattern_text(rule->pattern), other);
	if (ftr_rule_module(rule) == FTR_RULE_MODULE_NAMED) {
		ftr_rule_actions_try(&action, rule->module);
		return ftr_err_set(err, ENOENT, "%s: no library that %s is linked with begins with "
				   "%s and has a function that matches %s%s", rule->text, image,
				   rule->module, ftr_pattern_text(rule->pattern),
				   ftr_closest_ask(&action, "", ""));
	}
	return ftr_err_set(err, ENOENT, "%s: no function of %s matches %s%s", rule->text, image,
			   ftr_pattern_text(rule->pattern),
			   ftr_closest_ask(&search->closest, "", "; one of a library is named "
					   "FUNC@LIBRARY"));
}

/* Is there more than the names that it has in other modules? */
static bool has_functions(const struct ftr_symtab *tab)
{
	for (size_t i = 0; i < tab->nr; i++)
		if (ftr_symbol_is_function(&tab->symbols[i]) && tab->symbols[i].type != 'P')
			return true;
	return false;
}

/* As rule_match, of one that nothing was found for; @other as of libraries_try. */
static int rule_unmatched(struct search *search, const char *image,
			  const struct ftr_symtab *tab, const struct ftr_linked *linked,
			  const char *other, struct ftr_err *err)
{
	const struct ftr_rule *rule = search->rule;

	if (library_is_opened(search, linked, tab))
		return 0;		/* who names it knows that */
	if (search->is_called && search->leaves_calls) {
		ftr_err_set(err, ENOENT, "%s: %s calls %s of a library, which --no-libcall leaves "
			    "out; leave that option out", rule->text, image,
			    ftr_pattern_text(rule->pattern));
		return (rule->actions & FTR_RULE_FILTER) != 0 ? -ENOENT : 1;
	}
	if (other == NULL && runs_programs(tab, image)) {
		ftr_err_set(err, ENOENT, "%s: no function of %s matches %s; of the programs that "
			    "it runs, one may", rule->text, image, ftr_pattern_text(rule->pattern));
		return 1;
	}
	rule_refuse(search, image, other, err);
	return other == NULL && opens_libraries(tab) ? 1 : -ENOENT;
}

/*
 * 0, 1: it may be about a library that is opened later, or a program that this one runs; or -errno;
 * these two described.
 */
static int rule_match(struct search *search, const char *image, const struct ftr_symtab *tab,
		      struct ftr_err *err)
{
	const struct ftr_rule *rule = search->rule;
	struct ftr_linked linked = { 0 };
	const char *other = NULL;
	int ret = 0;

	search->place.path = image;
	if (ftr_rule_module(rule) != FTR_RULE_MODULE_NAMED || ftr_rule_names_module(rule, image))
		ret = symbols_try(search, tab);
	if (ret == 0 && !search->is_found && ftr_rule_module(rule) != FTR_RULE_MODULE_PLT)
		ret = libraries_try(search, image, &other, &linked);
	if (ret == 0 && !search->is_found)
		ret = rule_unmatched(search, image, tab, &linked, other, err);
	ftr_linked_fini(&linked);
	return ret;
}

/* As rule_match, of a rule about source files. */
static int location_match(const struct search *search, const char *image,
			  const struct ftr_symtab *tab, struct ftr_err *err)
{
	struct ftr_linked linked = { 0 };
	int ret = ftr_linked_load(&linked, image);

	if (ret == 0)
		ret = ftr_source_match(search->rule, image, tab, &linked, err);
	if (ret == -ENOENT &&
	    (search->has_more || opens_libraries(tab) || runs_programs(tab, image)))
		ret = 1;
	ftr_linked_fini(&linked);
	return ret;
}

/* ... of the program, whoever does what it asks for. */
static bool is_of_functions(const struct ftr_rule *rule)
{
	return (rule->actions | rule->left_actions) != 0 && rule->kind != FTR_RULE_OF_LOCATION &&
	       ftr_rule_module(rule) != FTR_RULE_MODULE_KERNEL;
}

static bool has_more(const struct ftr_record_choice *choice)
{
	return choice->is_running || getenv("LD_PRELOAD") != NULL || getenv("LD_AUDIT") != NULL;
}

/* What is patched of a program without symbols has addresses for names. */
static int patched_match(const struct ftr_record_choice *choice, const char *image,
			 const struct ftr_symtab *tab, struct ftr_err *err)
{
	struct ftr_rules rules;
	int ret;

	ftr_rules_init(&rules);
	ret = ftr_patch_rules_parse(&rules, &choice->patched, err);
	for (size_t i = 0; ret >= 0 && i < rules.rules.nr; i++) {
		struct search search = { .rule = &rules.rules.v[i], .is_of_code = true,
					 .has_more = has_more(choice) };
		int matched = 0;

		if (has_functions(tab) || ftr_rule_module(search.rule) == FTR_RULE_MODULE_NAMED)
			matched = rule_match(&search, image, tab, err);
		ret = matched != 0 ? matched : ret;
	}
	ftr_rules_fini(&rules);
	return ret;
}

int ftr_record_choice_match(const struct ftr_record_choice *choice, const char *image,
			    struct ftr_err *err)
{
	struct ftr_symtab tab;
	int ret = 0, matched;
	size_t i;

	ftr_symtab_init(&tab);
	if (choice->rules->rules.nr + choice->watched.nr + choice->events.nr +
	    choice->patched.nr == 0 ||
	    ftr_symtab_load_elf(&tab, image, NULL) < 0)
		goto out;
	ret = ftr_watched_check(&choice->watched, image, &tab, err);
	if (ret == 0)
		ret = ftr_sdt_match(&choice->events, image, opens_libraries(&tab), err);
	if (ret >= 0) {
		matched = patched_match(choice, image, &tab, err);
		ret = matched != 0 ? matched : ret;
	}
	for (i = 0; ret >= 0 && i < choice->rules->rules.nr; i++) {
		struct search search = { .rule = &choice->rules->rules.v[i],
					 .has_more = has_more(choice) };

		/* What leaves functions out has its way. */
		search.leaves_calls = choice->no_libcalls &&
			(search.rule->actions & ~(FTR_RULE_NOTRACE | FTR_RULE_HIDE)) != 0;
		search.is_of_code = search.leaves_calls;
		matched = is_of_functions(search.rule) ? rule_match(&search, image, &tab, err) :
			  search.rule->kind == FTR_RULE_OF_LOCATION ?
			  location_match(&search, image, &tab, err) : 0;
		ret = matched != 0 ? matched : ret;
	}
out:
	ftr_symtab_fini(&tab);
	return ret;
}

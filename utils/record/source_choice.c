/* SPDX-License-Identifier: MIT */
/* See source_choice.h. */
#include "utils/record/source_choice.h"

#include <errno.h>
#include <string.h>

#include "utils/base/closest.h"
#include "utils/object/debuginfo.h"
#include "utils/object/elf.h"
#include "utils/record/linked.h"

struct search {
	const struct ftr_rule *rule;
	struct ftr_closest closest;
	bool has_files;			/* debug info tells of any */
	bool is_found;
};

static void file_try(struct search *search, const char *file)
{
	const char *slash = strrchr(file, '/');

	search->has_files = true;
	search->is_found = ftr_rule_matches_file(search->rule, file);
	ftr_closest_try(&search->closest, ftr_pattern_text(search->rule->pattern),
			slash != NULL ? slash + 1 : file);
}

/* Functions of one file follow each other: it is tried once. */
static void module_try(struct search *search, const char *path, const struct ftr_symtab *tab)
{
	const char *file, *last = NULL;
	struct ftr_debuginfo *debuginfo;
	unsigned line;

	if (ftr_debuginfo_open(&debuginfo, path, NULL) < 0)
		return;
	for (size_t i = 0; i < tab->nr && !search->is_found; i++) {
		const struct ftr_symbol *symbol = &tab->symbols[i];

		if (!ftr_symbol_is_function(symbol) || symbol->type == 'P' ||
		    !ftr_debuginfo_find(debuginfo, symbol->addr, &file, &line) || file == last)
			continue;
		file_try(search, file);
		last = file;
	}
	ftr_debuginfo_close(debuginfo);
}

int ftr_source_match(const struct ftr_rule *rule, const char *image, const struct ftr_symtab *tab,
		     const struct ftr_linked *linked, struct ftr_err *err)
{
	struct search search = { .rule = rule };
	struct ftr_elf_info info;

	module_try(&search, image, tab);
	for (size_t i = 0; i < linked->tabs.nr && !search.is_found; i++) {
		const char *path = linked->needed.paths.v[i];

		if (ftr_elf_info_load(&info, path, NULL) == 0 && info.hooks != 0)
			module_try(&search, path, &linked->tabs.v[i]);
	}
	if (search.is_found)
		return 0;
	if (!search.has_files)
		return ftr_err_set(err, ENOENT, "%s: %s has no debug info, so its source files are "
				   "not known; compile with -g", rule->text, image);
	return ftr_err_set(err, ENOENT, "%s: no function of %s is of a source file that matches "
			   "%s%s", rule->text, image, ftr_pattern_text(rule->pattern),
			   ftr_closest_ask(&search.closest, "", ""));
}

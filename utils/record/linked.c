/* SPDX-License-Identifier: MIT */
/* See linked.h. */
#include "utils/record/linked.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ftr_linked_load(struct ftr_linked *linked, const char *path)
{
	int ret;

	*linked = (struct ftr_linked){ 0 };
	ret = ftr_needed_load(&linked->needed, path, getenv("LD_LIBRARY_PATH"));
	if (ret == 0)
		ret = ftr_vec_reserve(&linked->tabs, linked->needed.paths.nr);
	for (size_t i = 0; ret == 0 && i < linked->needed.paths.nr; i++) {
		struct ftr_symtab *tab = &linked->tabs.v[linked->tabs.nr++];

		ftr_symtab_init(tab);
		if (ftr_symtab_load_elf(tab, linked->needed.paths.v[i], NULL) < 0)
			tab->nr = 0;
	}
	return ret < 0 ? -ENOMEM : 0;
}

void ftr_linked_fini(struct ftr_linked *linked)
{
	for (size_t i = 0; i < linked->tabs.nr; i++)
		ftr_symtab_fini(&linked->tabs.v[i]);
	ftr_vec_fini(&linked->tabs);
	ftr_needed_fini(&linked->needed);
}

static bool is_export(const struct ftr_symbol *symbol)
{
	return strchr("TWwui", symbol->type) != NULL;
}

const char *ftr_linked_find(const struct ftr_linked *linked, const char *name)
{
	for (size_t i = 0; i < linked->tabs.nr; i++) {
		const struct ftr_symtab *tab = &linked->tabs.v[i];

		for (size_t n = 0; n < tab->nr; n++) {
			if (is_export(&tab->symbols[n]) && strcmp(tab->symbols[n].name, name) == 0)
				return linked->needed.paths.v[i];
		}
	}
	return NULL;
}

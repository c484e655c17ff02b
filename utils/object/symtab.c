/* SPDX-License-Identifier: MIT */
/* Symbol tables: making, searching. */
#include "utils/object/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/object/symtab_build.h"

#define NESTED_MAX 16	/* symbols inside another one that a search looks behind */

void ftr_symtab_init(struct ftr_symtab *tab)
{
	*tab = (struct ftr_symtab){ 0 };
	ftr_arena_init(&tab->arena);
}

void ftr_symtab_fini(struct ftr_symtab *tab)
{
	ftr_arena_fini(&tab->arena);
	ftr_symtab_init(tab);
}

/* How many symbols start at or below @addr. */
static size_t nr_up_to(const struct ftr_symtab *tab, uint64_t addr)
{
	size_t low = 0;
	size_t high = tab->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tab->symbols[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct ftr_symbol *ftr_symtab_find(const struct ftr_symtab *tab, uint64_t addr)
{
	size_t nr = nr_up_to(tab, addr);

	if (nr > 0 && tab->symbols[nr - 1].size == 0)
		return &tab->symbols[nr - 1];
	for (size_t i = nr; i > 0 && nr - i < NESTED_MAX; i--) {
		const struct ftr_symbol *symbol = &tab->symbols[i - 1];

		if (addr - symbol->addr < symbol->size)
			return symbol;
	}
	return NULL;
}

int ftr_symtab_build_add(struct ftr_symtab_build *build, struct ftr_symbol symbol, size_t name_len)
{
	symbol.name = ftr_arena_strndup(&build->tab->arena, symbol.name, name_len);
	if (symbol.name == NULL)
		return -ENOMEM;
	return ftr_vec_push(&build->symbols, symbol);
}

void ftr_symtab_build_fini(struct ftr_symtab_build *build)
{
	ftr_vec_fini(&build->symbols);
}

/* Underscores before a name that is not mangled mark the implementation's own: "__write". */
static unsigned underscores(const char *name)
{
	return name[0] == '_' && name[1] != 'Z' && name[1] != 'R' ? 1 + (name[1] == '_') : 0;
}

static unsigned binding_rank(char type)
{
	switch (type) {
	case 'P':
		return 0;
	case 'T': case 'D': case 'K':
		return 1;
	case 'w': case 'W': case 'v': case 'u': case 'i':
		return 2;
	default:
		return 3;
	}
}

/* Negative: @a is the better name for their address.  Never 0 for different names. */
static int compare_names(const struct ftr_symbol *a, const struct ftr_symbol *b)
{
	bool a_is_local = binding_rank(a->type) == 3;
	bool b_is_local = binding_rank(b->type) == 3;
	size_t a_len;
	size_t b_len;

	if (ftr_symbol_is_code(a->type) != ftr_symbol_is_code(b->type))
		return ftr_symbol_is_code(a->type) ? -1 : 1;
	if (a_is_local != b_is_local)
		return a_is_local ? 1 : -1;
	if (underscores(a->name) != underscores(b->name))
		return (int)underscores(a->name) - (int)underscores(b->name);
	if (binding_rank(a->type) != binding_rank(b->type))
		return (int)binding_rank(a->type) - (int)binding_rank(b->type);
	a_len = strlen(a->name);
	b_len = strlen(b->name);
	if (a_len != b_len)
		return a_len < b_len ? -1 : 1;
	return strcmp(a->name, b->name);
}

bool ftr_symbol_is_function(const struct ftr_symbol *symbol)
{
	return symbol->type != '\0' && strchr("tTwWiP", symbol->type) != NULL;
}

int ftr_symbol_compare(const void *left, const void *right)
{
	const struct ftr_symbol *a = left;
	const struct ftr_symbol *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return compare_names(a, b);
}

/* Keep the first, which is the best, of each address; it takes the size that another knows. */
static size_t keep_best(struct ftr_symbol *symbols, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (kept == 0 || symbols[kept - 1].addr != symbols[i].addr)
			symbols[kept++] = symbols[i];
		else if (symbols[kept - 1].size == 0)
			symbols[kept - 1].size = symbols[i].size;
	}
	return kept;
}

int ftr_symtab_build_finish(struct ftr_symtab_build *build)
{
	struct ftr_symtab *tab = build->tab;
	struct ftr_symbol *symbols;
	size_t nr = build->symbols.nr;

	if (nr == 0)
		return 0;
	qsort(build->symbols.v, nr, sizeof(*build->symbols.v), ftr_symbol_compare);
	nr = keep_best(build->symbols.v, nr);
	symbols = ftr_arena_alloc(&tab->arena, nr * sizeof(*symbols));
	if (symbols == NULL)
		return -ENOMEM;
	memcpy(symbols, build->symbols.v, nr * sizeof(*symbols));
	tab->symbols = symbols;
	tab->nr = nr;
	return 0;
}

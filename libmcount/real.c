/* SPDX-License-Identifier: MIT */
/*
 * See real.h.  dlsym is not asked: it allocates where it finds nothing, takes a lock that a forked
 * child may inherit locked, and cannot be called from inside malloc.
 */
#include "libmcount/real.h"

#include <link.h>

#include "libmcount/plt_bind.h"
#include "libmcount/plt_symbols.h"
#include "libmcount/state.h"

void *ftr_real_after(const void *inside, const char *name)
{
	const struct link_map *map = ftr_plt_map_of(inside);

	return map != NULL ? ftr_symbols_function(map->l_next, name) : NULL;
}

void *ftr_real_find(const char *name)
{
	return ftr_real_after(&ftr_state, name);
}

void ftr_real_start(void)
{
	const struct link_map *map = ftr_plt_map_of(&ftr_state);

	if (map == NULL)
		return;
#define FTR_REAL(name) ftr_state.real.name = ftr_symbols_function(map->l_next, #name);
#include "libmcount/reals.def"
#undef FTR_REAL
}

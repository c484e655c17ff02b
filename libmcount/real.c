/* SPDX-License-Identifier: MIT */
/*
 * See real.h.  dlsym is not asked: it allocates where it finds nothing, takes a lock that a forked
 * child may inherit locked, and cannot be called from inside malloc.
 */
#include "libmcount/real.h"

#include <dlfcn.h>
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

void *ftr_real_in_scope(const char *name, uintptr_t caller)
{
	void *(*open)(const char *, int) = (void *(*)(const char *, int))ftr_state.real.dlopen;
	int (*close)(void *) = (int (*)(void *))ftr_state.real.dlclose;
	const struct link_map *map = ftr_plt_map_of((const void *)caller);
	void *real = NULL, *handle = NULL;

	if (open != NULL && close != NULL && map != NULL && map->l_name[0] != '\0')
		handle = open(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
	if (handle != NULL) {
		real = dlsym(handle, name);
		close(handle);	/* the caller keeps its library open */
	}
	dlerror();		/* not the program's */
	return real;
}

static void find_all(const struct link_map *first)
{
#define FTR_REAL(name) ftr_state.real.name = ftr_symbols_function(first, #name);
#include "libmcount/reals.def"
#undef FTR_REAL
}

void ftr_real_start(void)
{
	const struct link_map *map = ftr_plt_map_of(&ftr_state);

	if (map != NULL)
		find_all(map->l_next);
}

const struct link_map *ftr_real_first(const struct link_map *map)
{
	while (map->l_prev != NULL)
		map = map->l_prev;
	return map;
}

void ftr_real_start_late(void)
{
	const struct link_map *map = ftr_plt_map_of(&ftr_state);

	if (map != NULL)
		find_all(ftr_real_first(map));
}

/* SPDX-License-Identifier: MIT */
/* What a loaded module defines, read from its dynamic section: without libc, locks, memory. */
#ifndef FTR_LIBMCOUNT_PLT_SYMBOLS_H
#define FTR_LIBMCOUNT_PLT_SYMBOLS_H

#include <link.h>
#include <stdbool.h>

/*
 * The address that @map gives to @name in @version ("" = the default one, as dlsym takes it); NULL
 * = it has none.  Not resolved, if it is an indirect function.
 */
const void *ftr_symbols_find(const struct link_map *map, const char *name, const char *version)
	__attribute__((visibility("hidden")));

/*
 * The function @name, in its default version, of the first module from @map on that has one: what
 * an indirect one resolves to.  NULL = none has.
 */
void *ftr_symbols_function(const struct link_map *map, const char *name)
	__attribute__((visibility("hidden")));

/* Has any of the modules from @map on a symbol of that name and version? */
bool ftr_symbols_any(const struct link_map *map, const char *name, const char *version)
	__attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_PLT_SYMBOLS_H */

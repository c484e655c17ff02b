/* SPDX-License-Identifier: MIT */
/* What the dynamic linker would bind a call to. */
#ifndef FTR_LIBMCOUNT_PLT_BIND_H
#define FTR_LIBMCOUNT_PLT_BIND_H

#include "libmcount/probe.h"

/*
 * The function that a call of @name (@version, "" = none) by way of the PLT entry @plt of @module
 * leads to; 0 when there is none, or when binding ahead of the first call might come to something
 * else.
 */
uintptr_t ftr_plt_bind(const struct ftr_loaded *module, uint64_t plt, const char *name,
		       const char *version) __attribute__((visibility("hidden")));

/*
 * The link map of the module that @addr lies in; NULL = none.  It is a handle for dlsym if it is
 * the program's, or that of a library which dlopen was called for.
 */
void *ftr_plt_map_of(const void *addr) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_PLT_BIND_H */

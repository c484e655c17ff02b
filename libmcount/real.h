/* SPDX-License-Identifier: MIT */
/* The functions behind those that we interpose: what the next library after ours calls so. */
#ifndef FTR_LIBMCOUNT_REAL_H
#define FTR_LIBMCOUNT_REAL_H

#include <stdint.h>

/* By the list of reals.def; a member is NULL before ftr_real_start, and where there is none. */
struct ftr_real {
#define FTR_REAL(name) void *name;
#include "libmcount/reals.def"
#undef FTR_REAL
};

/* Find all of them, before the program has threads: no library comes or goes meanwhile. */
void ftr_real_start(void) __attribute__((visibility("hidden")));

/*
 * The same where ours was loaded last, into a program that runs: what is there since its start is
 * found first, and cannot go.
 */
void ftr_real_start_late(void) __attribute__((visibility("hidden")));

struct link_map;

/* The first of the list that @map is in: the program. */
const struct link_map *ftr_real_first(const struct link_map *map)
	__attribute__((visibility("hidden")));

/*
 * What dlsym(RTLD_NEXT) finds for a caller in the library that has the address @inside;
 * NULL = nothing.  Without memory, and without auditors between it and the caller.
 */
void *ftr_real_after(const void *inside, const char *name);

/* The function behind ours, also before ftr_real_start. */
void *ftr_real_find(const char *name) __attribute__((visibility("hidden")));

/*
 * What dlsym finds in the scope of the library that @caller is in, which may have been opened with
 * RTLD_LOCAL; NULL = nothing.  Allocates, as dlsym does.
 */
void *ftr_real_in_scope(const char *name, uintptr_t caller) __attribute__((visibility("hidden")));

#define REAL(name) \
	((__typeof__(&name))(ftr_state.real.name != NULL ? ftr_state.real.name : \
							   ftr_real_find(#name)))

#endif /* FTR_LIBMCOUNT_REAL_H */

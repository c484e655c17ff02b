/* SPDX-License-Identifier: MIT */
/* Calls made by libraries (--nest-libcall), those that are loaded later included. */
#ifndef FTR_LIBMCOUNT_PLT_NEST_H
#define FTR_LIBMCOUNT_PLT_NEST_H

#include <stdbool.h>
#include <stdint.h>

/* Hook the calls of every library that is loaded; called before the program's own code runs. */
void ftr_plt_nest_start(void) __attribute__((visibility("hidden")));

/* Hook what was loaded since the last look, if anything; does nothing without --nest-libcall. */
void ftr_plt_nest_look(void) __attribute__((visibility("hidden")));

/* Is what lies at @addr there since the start, and so for good? */
bool ftr_plt_is_lasting(uintptr_t addr) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_PLT_NEST_H */

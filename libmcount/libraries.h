/* SPDX-License-Identifier: MIT */
/* The loaded libraries, for the probes that want them; those that are loaded later included. */
#ifndef FTR_LIBMCOUNT_LIBRARIES_H
#define FTR_LIBMCOUNT_LIBRARIES_H

#include <stdbool.h>
#include <stdint.h>

/* Show every library that is loaded to the probes; called before the program's own code runs. */
void ftr_libraries_start(void) __attribute__((visibility("hidden")));

/* What they are kept in takes. */
uint64_t ftr_libraries_bytes(void) __attribute__((visibility("hidden")));

/* Show them what was loaded since the last look; does nothing unless they were started. */
void ftr_libraries_look(void) __attribute__((visibility("hidden")));

/* Is what lies at @addr there since the start, and so for good? */
bool ftr_libraries_are_lasting(uintptr_t addr) __attribute__((visibility("hidden")));

/*
 * Have libraries that are loaded from now on be looked at before their constructors, where that
 * can be: in a program that this was attached to.  Opens a library.
 */
void ftr_libraries_start_late(void) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_LIBRARIES_H */

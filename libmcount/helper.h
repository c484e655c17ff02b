/* SPDX-License-Identifier: MIT */
/*
 * Where the program has no descriptor left: work that needs some is done in a child that shares its
 * memory, but not its descriptors.  The thread waits meanwhile, as for vfork.
 */
#ifndef FTR_LIBMCOUNT_HELPER_H
#define FTR_LIBMCOUNT_HELPER_H

#include <stdbool.h>

/* Run @fn(@arg) with every descriptor closed.  False: it did not run. */
bool ftr_helper_run(void (*fn)(void *arg), void *arg);

#endif /* FTR_LIBMCOUNT_HELPER_H */

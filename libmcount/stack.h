/* SPDX-License-Identifier: MIT */
/* Where a stack begins and ends. */
#ifndef FTR_LIBMCOUNT_STACK_H
#define FTR_LIBMCOUNT_STACK_H

#include <stdint.h>

/*
 * The mapping that holds @address, from /proc/self/maps; the main thread's stack counts down to the
 * mapping below it, since it grows.  0, 0 when it cannot be known.
 */
void ftr_stack_find(const void *address, uintptr_t *low, uintptr_t *high);

#endif /* FTR_LIBMCOUNT_STACK_H */

/* SPDX-License-Identifier: MIT */
/*
 * Memory for wrappers, whose callers may have no stack to spare (a thread with 16 KB, a handler
 * with less) and may not allocate: they are in signal handlers, or in children made by fork or
 * vfork.
 */
#ifndef FTR_LIBMCOUNT_SCRATCH_H
#define FTR_LIBMCOUNT_SCRATCH_H

#include <stddef.h>

/*
 * At least @bytes, with anything in them; NULL: there is no memory.  What a vfork child takes and
 * leaves behind by its exec is the calling thread's, which uses it again.
 */
void *ftr_scratch_take(size_t bytes);

void ftr_scratch_put(void *memory);	/* NULL is fine */

#endif /* FTR_LIBMCOUNT_SCRATCH_H */

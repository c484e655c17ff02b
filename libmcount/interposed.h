/* SPDX-License-Identifier: MIT */
/*
 * What libmcount.so offers to the libraries of probes that are preloaded beside it, where they are
 * on, to interpose functions of the program: libmcount-NAME.so, of interpose_NAME.c.
 */
#ifndef FTR_LIBMCOUNT_INTERPOSED_H
#define FTR_LIBMCOUNT_INTERPOSED_H

#include <stdint.h>

#define FTR_EXPORT __attribute__((visibility("default")))

/*
 * The function behind the one that a library of ours defines: what comes after @inside, an address
 * in that library.  NULL: there is none.  *@kept, zero at first, keeps it.  Before the program has
 * threads: no library comes or goes meanwhile.
 */
void *ftr_interposed_real(void *_Atomic *kept, const void *inside, const char *name);

/* What the dynamic linker finds for @caller; with its lock, and with memory.  NULL: nothing. */
void *ftr_interposed_in_scope(const char *name, uintptr_t caller);

/*
 * An interposed function was called: record an event of @id (enum ftr_record_event) with @nr
 * values.  values[@caller_at] becomes the return address, that in *@slot or the one behind it where
 * a stub of ours stands there.  Nothing happens in a thread that is not traced.  Uses no libc.
 */
#define FTR_INTERPOSED_NO_CALLER 0xffffu	/* @caller_at: none of them; no @slot is needed */
void ftr_interposed_put(uint32_t id, uint64_t *values, unsigned nr, unsigned caller_at,
			const uintptr_t *slot);

#endif /* FTR_LIBMCOUNT_INTERPOSED_H */

/* SPDX-License-Identifier: MIT */
/*
 * What libmcount.so offers to the libraries of probes that are preloaded beside it, where they are
 * on, to interpose functions of the program: libmcount-NAME.so, of interpose_NAME.c.
 */
#ifndef FTR_LIBMCOUNT_INTERPOSED_H
#define FTR_LIBMCOUNT_INTERPOSED_H

#include <stdbool.h>
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

/*
 * The same with three values, and @text_nr texts behind them, which need not be there: they are
 * read as arguments of calls are, up to FTR_INTERPOSED_TEXT_MAX bytes together.
 */
#define FTR_INTERPOSED_TEXT_MAX 480u
void ftr_interposed_put_texts(uint32_t id, const uint64_t values[3], unsigned caller_at,
			      const uintptr_t *slot, const char *const *texts, unsigned text_nr);

/*
 * The same with up to three values, of which the last becomes the return address, and a text that
 * is there, of which FTR_INTERPOSED_NAME_MAX bytes are kept.
 */
#define FTR_INTERPOSED_NAME_MAX 200u
void ftr_interposed_put_name(uint32_t id, const uint64_t *values, unsigned nr,
			     const uintptr_t *slot, const char *name)
	__attribute__((visibility("hidden")));

/*
 * Copy @bytes from memory that need not be there, in a thread that is traced.  False: not all of
 * them are.
 */
bool ftr_interposed_copy(void *to, const void *from, uint32_t bytes, const uintptr_t *slot);

/*
 * A library of ours has its code from @low up to @high.  What is called from there is called by the
 * program where it called the function around it: the call under way, which has its return address
 * in *@slot.  Returns that of the call under way before.
 */
void ftr_interposed_library(const void *low, const void *high);
const uintptr_t *ftr_interposed_swap(const uintptr_t *slot);

/* Is the caller, whose address is in *@slot, a library of ours, in a call that is under way? */
bool ftr_interposed_is_nested(const uintptr_t *slot);

/* Does the thread run in the memory of its parent, which waits for it: a child of vfork? */
bool ftr_interposed_is_vforked(void);

#endif /* FTR_LIBMCOUNT_INTERPOSED_H */

/* SPDX-License-Identifier: MIT */
/*
 * Calls of interposed functions that are two events: one at the begin, and one at the end, which
 * says what came of it.  Part of each libmcount-NAME.so that has such functions.
 */
#ifndef FTR_LIBMCOUNT_INTERPOSE_CALL_H
#define FTR_LIBMCOUNT_INTERPOSE_CALL_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmcount/interposed.h"
#include "utils/proto/record.h"

#define FTR_CALL_HIDDEN __attribute__((visibility("hidden")))

struct iovec;

/* What this thread is in: id 0 = nothing. */
struct ftr_call_open {
	uint32_t id;			/* of the event at the begin */
	uint64_t object;		/* a lock, a descriptor */
	const uintptr_t *slot;		/* of the return address of what was called before it */
};

/*
 * What the functions behind those of a library are found by: one of these, and a list of functions.
 * @is_started: all that was there at the start has been looked for.
 */
struct ftr_call_library {
	bool is_started;
};

/*
 * The function behind ours, which *@kept, in the library's memory, does not know yet.  After the
 * start it may have come with a library that the caller, whose return address is in *@slot, opened.
 */
void *ftr_call_real_late(const struct ftr_call_library *library, void *_Atomic *kept,
			 const char *name, const uintptr_t *slot) FTR_CALL_HIDDEN;

/* An event of @id that begins a call for @object, with an argument or none.  What was open. */
struct ftr_call_open ftr_call_begin(uint32_t id, uint64_t object, const uintptr_t *slot)
	FTR_CALL_HIDDEN;
struct ftr_call_open ftr_call_begin_with(uint32_t id, uint64_t object, uint64_t argument,
					 const uintptr_t *slot) FTR_CALL_HIDDEN;
/* ... with texts: @texts[@text_nr]. */
struct ftr_call_open ftr_call_begin_texts(uint32_t id, uint64_t object, uint64_t argument,
					  const uintptr_t *slot, const char *const *texts,
					  unsigned text_nr) FTR_CALL_HIDDEN;
/* It ends; @before is open again. */
void ftr_call_end(int64_t result, struct ftr_call_open before) FTR_CALL_HIDDEN;
/* ... with another value. */
void ftr_call_end_with(int64_t result, uint64_t more, struct ftr_call_open before) FTR_CALL_HIDDEN;
/* ... and a text. */
void ftr_call_end_text(int64_t result, uint64_t more, const char *text, const uintptr_t *slot,
		       struct ftr_call_open before) FTR_CALL_HIDDEN;

/* The library's code is here: once for each of its files. */
void ftr_call_library_is_here(void) FTR_CALL_HIDDEN;

/* How many bytes @pieces have room for, or something of; 0: that is not known. */
size_t ftr_call_pieces(const struct iovec *pieces, int nr, const uintptr_t *slot) FTR_CALL_HIDDEN;

/*
 * What an unwinder calls that passes a function of ours: the thread is cancelled, or an exception
 * leaves it.  Relative to where that is noted.
 */
#define FTR_CALL_WHEN_LEFT() __asm__ volatile(".cfi_personality 0x1b, ftr_call_left")

#define FTR_CALL_SLOT() ((const uintptr_t *)__builtin_frame_address(0) + 1)

/*
 * The functions behind those of a file, which @each lists by a macro; they are looked for while all
 * that is loaded is in the scope of all.
 */
#define FTR_CALL_MEMBER(name) void *_Atomic name;
#define FTR_CALL_FIND(name) ftr_interposed_real(&real.name, &library, #name);
#define FTR_CALL_TABLE(each) \
	static struct { \
		each(FTR_CALL_MEMBER) \
	} real; \
	static struct ftr_call_library library; \
	static __attribute__((constructor)) void real_start(void) \
	{ \
		each(FTR_CALL_FIND) \
		ftr_call_library_is_here(); \
		library.is_started = true; \
	}

/* In an interposed function: a pointer to what is behind it, of the table "real" of its library. */
#define FTR_CALL_REAL(name) \
	((__typeof__(&name))ftr_call_real(&library, &real.name, #name, FTR_CALL_SLOT()))

static inline void *ftr_call_real(const struct ftr_call_library *library, void *_Atomic *kept,
				  const char *name, const uintptr_t *slot)
{
	void *known = atomic_load_explicit(kept, memory_order_relaxed);

	return __builtin_expect(known != NULL, 1) ? known :
						    ftr_call_real_late(library, kept, name, slot);
}

/* As the kernel says it: what a function gives, or the negated errno of one that gives less. */
static inline int64_t ftr_call_result(int64_t given)
{
	return given >= 0 ? given : -(int64_t)errno;
}

#endif /* FTR_LIBMCOUNT_INTERPOSE_CALL_H */

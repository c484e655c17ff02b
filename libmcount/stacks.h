/* SPDX-License-Identifier: MIT */
/*
 * Which stack a call is on.  A thread whose coroutines take turns records it when that changes
 * (FTR_RECORD_EVENT_STACK), so that readers can nest the calls of each within themselves.  Threads
 * that never switch pay nothing: the others leave the common path for good.
 */
#ifndef FTR_LIBMCOUNT_STACKS_H
#define FTR_LIBMCOUNT_STACKS_H

#include "libmcount/thread.h"

/* A stack that is not the one the thread was born on. */
struct ftr_stack_range {
	uintptr_t base;		/* of the outermost open call; 0 = free */
	uintptr_t low;		/* of the last record there */
};

/* Those of a thread.  Number n is range[n - 1]; 0 is the thread's own stack. */
struct ftr_stacks {
	uint32_t max;
	uint32_t used;		/* of range, no further ones were ever used */
	uint32_t victim;	/* which is forgotten next, when all are used */
	uint32_t told;		/* on which the recorder thinks that the thread is */
	struct ftr_stack_range range[];
};

#define FTR_STACKS_BYTES(nr) (sizeof(struct ftr_stacks) + (nr) * sizeof(struct ftr_stack_range))

/* In told: nothing has been said in this ring. */
#define FTR_STACK_NONE UINT32_MAX

/*
 * The call at @loc begins, or goes on, and calls of other stacks lie above its caller: from here on
 * the thread's calls are told apart by their stacks.  Nothing happens to a thread that is paused,
 * or where returns are estimated.
 */
void ftr_stacks_begin(struct ftr_thread *self, const uintptr_t *loc)
	__attribute__((visibility("hidden"), cold));

/*
 * The program is about to make a coroutine, or to switch to one: the same, for the calling thread
 * and for those that attach from now on.
 */
void ftr_stacks_expect(void) __attribute__((visibility("hidden"), cold));

/* A thread that has just attached. */
void ftr_stacks_attach(struct ftr_thread *self) __attribute__((visibility("hidden"), cold));

enum ftr_stack_use {
	FTR_STACK_EXIT,
	FTR_STACK_ENTRY,
	FTR_STACK_SHARE,	/* ENTRY of a tail call, or maybe inlined: @loc is its caller's */
};

/*
 * A record follows, of the call at @loc: say on which stack it is, unless that is where the
 * recorder thinks that the thread is.  @time is that of the record, 0 = now.
 */
void ftr_stacks_note(struct ftr_thread *self, const uintptr_t *loc, enum ftr_stack_use use,
		     uint64_t time) __attribute__((visibility("hidden")));

/* A call at @loc that is not recorded: the stack is in use down to there. */
void ftr_stacks_see(struct ftr_thread *self, const uintptr_t *loc)
	__attribute__((visibility("hidden")));

/* Where the calls of the stack of @loc lie, as far as is known. */
void ftr_stacks_bounds(const struct ftr_thread *self, const uintptr_t *loc, uintptr_t *low,
		       uintptr_t *high) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_STACKS_H */

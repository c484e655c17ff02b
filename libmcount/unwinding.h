/* SPDX-License-Identifier: MIT */
/* What the trampolines of arch/ISA/unwind.S ask before they go on to the real function. */
#ifndef FTR_LIBMCOUNT_UNWINDING_H
#define FTR_LIBMCOUNT_UNWINDING_H

#include <stdint.h>

enum ftr_unwind_call {
	FTR_UNWIND_RAISE = 0,		/* _Unwind_RaiseException */
	FTR_UNWIND_RETHROW = 1,		/* _Unwind_Resume_or_Rethrow */
	FTR_UNWIND_CATCH = 2,		/* __cxa_begin_catch: an exception has arrived */
	FTR_UNWIND_GLOBALS = 3,		/* __cxa_get_globals; only called */
	FTR_UNWIND_CONTEXT = 4,		/* makecontext: a jump like these, for stacks.h */
};
#define FTR_UNWIND_CALLS 5

/* Callers of _Unwind_RaiseException that are known: a runtime of C++ has three. */
#define FTR_UNWIND_CALLERS 8

/*
 * The program calls one of them by the return address in *@slot, with @exception.  Answers with the
 * function that it would have called without us.
 */
void *ftr_unwind_before(enum ftr_unwind_call call, const uint64_t *exception,
			const uintptr_t *slot) __attribute__((visibility("hidden")));

struct ftr_thread;

/*
 * The call by the return address at @loc is one during which the calls around it have their true
 * return addresses: on the thread's own stack.  Only the outermost such call does something.
 */
void ftr_recover_begin(struct ftr_thread *self, uintptr_t *loc)
	__attribute__((visibility("hidden")));
/* It returns. */
void ftr_recover_end(struct ftr_thread *self, const uintptr_t *loc)
	__attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_UNWINDING_H */

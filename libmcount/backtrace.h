/* SPDX-License-Identifier: MIT */
/* The stack of a call, in parts, for the recorder to unwind (utils/proto/stack_part.h). */
#ifndef FTR_LIBMCOUNT_BACKTRACE_H
#define FTR_LIBMCOUNT_BACKTRACE_H

#include "libmcount/gate.h"

/* Before the ENTRY of @frame, which returns to @site: the stack from here on. */
void ftr_backtrace_put(struct ftr_thread *self, const struct ftr_frame *frame, uintptr_t site)
	FTR_HIDDEN;

/*
 * Where the call of @frame, whose return address is replaced, goes back to; 0 = unknown: a tail
 * call that it does not know of.
 */
uintptr_t ftr_backtrace_site(const struct ftr_thread *self, const struct ftr_frame *frame)
	FTR_HIDDEN;

#endif /* FTR_LIBMCOUNT_BACKTRACE_H */

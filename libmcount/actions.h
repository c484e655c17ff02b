/* SPDX-License-Identifier: MIT */
/*
 * What rules have done at a call, besides recording it: where it was called from, and what is read
 * when it begins and ends, as events.  All but errno takes system calls: it is asked for, by
 * function.  And whether it asks for a dump, where its value or duration decides.
 */
#ifndef FTR_LIBMCOUNT_ACTIONS_H
#define FTR_LIBMCOUNT_ACTIONS_H

#include "libmcount/gate.h"

/*
 * @frame, which is being filled, is of @call, which is to read @kinds (FTR_CALL_READ_* flags), or
 * may ask for a dump when it ends.
 */
void ftr_actions_expect(struct ftr_thread *self, const struct ftr_frame *frame,
			const struct ftr_call *call, uint32_t kinds) FTR_HIDDEN;

/* Before its ENTRY, after it, and before it ends.  @site: see struct ftr_gated_call. */
void ftr_actions_before(struct ftr_thread *self, const struct ftr_frame *frame, uintptr_t site)
	FTR_HIDDEN;
void ftr_actions_begin(struct ftr_thread *self, const struct ftr_frame *frame) FTR_HIDDEN;
/* @regs (nullable) hold its value.  Does it ask for a dump? */
bool ftr_actions_end(struct ftr_thread *self, const struct ftr_frame *frame,
		     const struct ftr_regs *regs) FTR_HIDDEN;

#endif /* FTR_LIBMCOUNT_ACTIONS_H */

/* SPDX-License-Identifier: MIT */
/*
 * Threads without a ring, and their calls, are counted in the header of another ring of their
 * process (utils/proto/ring.h).  Without system calls: one of the causes is that they are
 * forbidden.
 */
#ifndef FTR_LIBMCOUNT_UNTRACED_H
#define FTR_LIBMCOUNT_UNTRACED_H

#include "libmcount/thread.h"

/* @self gets no ring.  False: there is no other ring to count in. */
bool ftr_untraced_begin(struct ftr_thread *self, enum ftr_untraced_cause cause);

/* A call of a thread that was counted. */
void ftr_untraced_call(struct ftr_thread *self);

#endif /* FTR_LIBMCOUNT_UNTRACED_H */

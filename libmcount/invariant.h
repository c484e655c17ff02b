/* SPDX-License-Identifier: MIT */
/*
 * Asserts of the runtime.  It must not end the program, so a violated invariant ends the recording
 * of the thread and of all that is started later, and the recorder warns of it.  Open calls
 * still return where they must.
 *
 *	if (!FTR_INVARIANT(n < nr))
 *		return;
 */
#ifndef FTR_LIBMCOUNT_INVARIANT_H
#define FTR_LIBMCOUNT_INVARIANT_H

#include <stdbool.h>

#include "libmcount/thread.h"

/* Disarm, and report @what once; returns false. */
bool ftr_invariant_violated(const char *what) __attribute__((visibility("hidden"), cold));

/* Does @condition hold?  To be tested: what relies on it must not go on. */
#define FTR_INVARIANT(condition) \
	(likely(condition) || \
	 ftr_invariant_violated("internal error in libmcount.so (" #condition "); tracing " \
				"stopped; please report it"))

#endif /* FTR_LIBMCOUNT_INVARIANT_H */

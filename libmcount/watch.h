/* SPDX-License-Identifier: MIT */
/*
 * Watch points (utils/proto/watch.h): what is looked at when a recorded call begins or ends, and
 * told where it has changed.
 */
#ifndef FTR_LIBMCOUNT_WATCH_H
#define FTR_LIBMCOUNT_WATCH_H

#include <stdatomic.h>

#include "libmcount/state.h"

struct ftr_sections;

static inline bool ftr_watch_is_on(void)
{
	return atomic_load_explicit(&ftr_state.watching.what, memory_order_acquire) != NULL;
}

/* The sections of the image have come. */
void ftr_watch_update(const struct ftr_sections *sections)
	__attribute__((visibility("hidden")));

/*
 * The call of @frame has just begun, or is about to end.  A change is told in it: an ENTRY that
 * waits is put.  What all threads share, a variable, is told by the first that sees it.
 */
void ftr_watch_look(struct ftr_thread *self, const struct ftr_frame *frame)
	__attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_WATCH_H */

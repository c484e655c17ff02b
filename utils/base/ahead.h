/* SPDX-License-Identifier: MIT */
/*
 * Work ahead: pieces of work that threads do before they are asked for, in order and at most so
 * many ahead of the one asked for last, so that memory stays bounded.  The results are taken in
 * order; pieces may be passed over.
 */
#ifndef FTR_BASE_AHEAD_H
#define FTR_BASE_AHEAD_H

#include <stddef.h>

struct ftr_ahead;

#define FTR_AHEAD_THREADS_MAX 64

/* The processors that this process may use. */
unsigned ftr_ahead_processors(void);

/*
 * @thread_nr threads, the caller's included, at least 2, do @nr pieces: work(arg, place, i) with
 * i < @nr, where pieces that are there at the same time have different places below
 * ftr_ahead_places(thread_nr).  The threads block all signals.  0 or -errno.
 */
size_t ftr_ahead_places(unsigned thread_nr);
int ftr_ahead_new(struct ftr_ahead **out, unsigned thread_nr, size_t nr,
		  void (*work)(void *arg, size_t place, size_t i), void *arg);

/*
 * See that piece @i, not less than the one before, is done; the caller helps while it waits.
 * Returns its place; the previous one is given up.
 */
size_t ftr_ahead_take(struct ftr_ahead *ahead, size_t i);

/*
 * Where pieces become known one after the other: one more.  Its place is the one of the piece
 * ftr_ahead_places() before it, which has been taken and is given up by this.
 */
void ftr_ahead_add(struct ftr_ahead *ahead);

void ftr_ahead_free(struct ftr_ahead *ahead);	/* waits for the threads; NULL is fine */

#endif /* FTR_BASE_AHEAD_H */

/* SPDX-License-Identifier: MIT */
/*
 * Threads that are at what must not be left meanwhile, in a program that was attached to
 * (doc/adr/0085): they hook what was loaded, or prepare exec.  A child of vfork counts in its
 * parent's thread-local storage; where it is killed on the way, its parent takes back what it had.
 */
#ifndef FTR_LIBMCOUNT_LOOKING_H
#define FTR_LIBMCOUNT_LOOKING_H

#include <stdatomic.h>
#include <stdint.h>

#include "libmcount/hook.h"
#include "libmcount/state.h"

/* In this order: who is killed between the two is counted for good, but none is missing. */
static inline void ftr_looking_begin(void)
{
	atomic_fetch_add(&ftr_state.looking_nr, 1);
	atomic_signal_fence(memory_order_seq_cst);
	ftr_self.looking_nr++;
}

static inline void ftr_looking_end(void)
{
	ftr_self.looking_nr--;
	atomic_signal_fence(memory_order_seq_cst);
	atomic_fetch_sub(&ftr_state.looking_nr, 1);
}

/* The child of vfork is gone; before it came, the thread had @nr. */
static inline void ftr_looking_restore(uint32_t nr)
{
	while (ftr_self.looking_nr > nr)
		ftr_looking_end();
}

#endif /* FTR_LIBMCOUNT_LOOKING_H */

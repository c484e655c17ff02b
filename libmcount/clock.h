/* SPDX-License-Identifier: MIT */
/* The time of a record, in ticks of the control block's clock. */
#ifndef FTR_LIBMCOUNT_CLOCK_H
#define FTR_LIBMCOUNT_CLOCK_H

#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

/* Is the time of records not read from the processor?  Then every record takes the slow path. */
static inline bool ftr_clock_is_slow(void)
{
	return ftr_state.control->clock != FTR_CONTROL_CLOCK_TSC || ftr_self.stopped_tick != 0;
}

/* vDSO, counter, or in a thread that may not read the processor's counter an estimate of it. */
uint64_t ftr_clock_slow(void);

/*
 * The calling thread is about to lose the processor's counter (strict seccomp, PR_SET_TSC): from
 * now on its times come from the kernel's coarse clock, which needs neither that counter nor a
 * system call.
 */
void ftr_clock_stop_ticks(void);

/*
 * Ticks for measuring and ordering within the thread, also where the clock of records is another
 * one or the thread may not read the TSC.  Never moves the counter clock.
 */
uint64_t ftr_clock_ticks(void);

static inline uint64_t ftr_clock_read(void)
{
	return ftr_clock_is_slow() ? ftr_clock_slow() : ftr_arch_ticks();
}

#endif /* FTR_LIBMCOUNT_CLOCK_H */

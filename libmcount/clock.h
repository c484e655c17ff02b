/* SPDX-License-Identifier: MIT */
/* The time of a record, in ticks of the control block's clock. */
#ifndef FTR_LIBMCOUNT_CLOCK_H
#define FTR_LIBMCOUNT_CLOCK_H

#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

/* Is the time of records not the processor's ticks?  Then every record takes the slow path. */
static inline bool ftr_clock_is_slow(void)
{
	return ftr_state.control->clock != FTR_CONTROL_CLOCK_TSC;
}

/* vDSO or counter. */
uint64_t ftr_clock_slow(void);

static inline uint64_t ftr_clock_read(void)
{
	return ftr_clock_is_slow() ? ftr_clock_slow() : ftr_arch_ticks();
}

#endif /* FTR_LIBMCOUNT_CLOCK_H */

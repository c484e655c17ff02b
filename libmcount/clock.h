/* SPDX-License-Identifier: MIT */
/* The time of a record, in ticks of the control block's clock. */
#ifndef FTR_LIBMCOUNT_CLOCK_H
#define FTR_LIBMCOUNT_CLOCK_H

#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

/* vDSO or counter. */
uint64_t ftr_clock_slow(void);

static inline uint64_t ftr_clock_read(const struct ftr_thread *self)
{
	if (unlikely(self->is_slow_clock))
		return ftr_clock_slow();
	return ftr_arch_ticks();
}

#endif /* FTR_LIBMCOUNT_CLOCK_H */

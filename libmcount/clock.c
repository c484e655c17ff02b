/* SPDX-License-Identifier: MIT */
/* Clocks other than the processor's own: where the kernel does not trust the TSC, and in tests. */
#include "libmcount/clock.h"

#include <time.h>

uint64_t ftr_clock_slow(void)
{
	const struct ftr_control *control = ftr_state.control;
	struct timespec now;

	if (control->clock == FTR_CONTROL_CLOCK_COUNTER)
		return atomic_fetch_add_explicit(&ftr_state.counter_ns, FTR_COUNTER_STEP_NS,
						 memory_order_relaxed);
	clock_gettime(control->clock_id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

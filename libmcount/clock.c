/* SPDX-License-Identifier: MIT */
/* Clocks other than the processor's own: where the kernel does not trust the TSC, and in tests. */
#include "libmcount/clock.h"

#include <time.h>

static uint64_t coarse_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void ftr_clock_stop_ticks(void)
{
	if (ftr_self.producer == NULL || ftr_self.stopped_tick != 0)
		return;
	ftr_self.stopped_ns = coarse_ns();
	ftr_self.stopped_tick = ftr_arch_ticks();
	ftr_self.producer->limit = 0;
}

uint64_t ftr_clock_ticks(void)
{
	if (ftr_self.stopped_tick == 0)
		return ftr_arch_ticks();
	return ftr_self.stopped_tick + (coarse_ns() - ftr_self.stopped_ns) *
				       ftr_state.control->ticks_per_ms / 1000000u;
}

uint64_t ftr_clock_slow(void)
{
	const struct ftr_control *control = ftr_state.control;
	struct timespec now;

	if (ftr_self.stopped_tick != 0 && control->clock == FTR_CONTROL_CLOCK_TSC)
		return ftr_clock_ticks();
	if (control->clock == FTR_CONTROL_CLOCK_COUNTER)
		return atomic_fetch_add_explicit(&ftr_state.counter_ns, FTR_COUNTER_STEP_NS,
						 memory_order_relaxed);
	clock_gettime(control->clock_id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

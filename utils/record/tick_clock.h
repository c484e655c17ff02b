/* SPDX-License-Identifier: MIT */
/* Reading the machine's tick counter and a clock at the same moment. */
#ifndef FTR_RECORD_TICK_CLOCK_H
#define FTR_RECORD_TICK_CLOCK_H

#include <time.h>

#include "utils/record/tick.h"

/* Add a pair of now to @map: (ticks, time), or (time, time) where ticks are nanoseconds. */
void ftr_tick_clock_read(struct ftr_tick_map *map, clockid_t id);

/* Ticks a millisecond, roughly: 0 where the machine has no counter we use. */
uint32_t ftr_tick_clock_per_ms(void);

#endif /* FTR_RECORD_TICK_CLOCK_H */

/* SPDX-License-Identifier: MIT */
/* Reading the machine's tick counter and a clock at the same moment. */
#include "utils/record/tick_clock.h"

#include "arch/rt.h"
#include "utils/base/clock.h"

#define TRIES 3			/* the closest of them counts: an interrupt spoils one */
#define CALIBRATE_NS 20000u	/* read to some 50 ns at both ends: good to a percent */

static struct ftr_tick_pair pair_read(clockid_t id, uint64_t *width)
{
	uint64_t before = ftr_arch_ticks();
	uint64_t ns = ftr_clock_now_ns(id);
	uint64_t after = ftr_arch_ticks();

	*width = after - before;
	return (struct ftr_tick_pair){ before + *width / 2, ns };
}

static struct ftr_tick_pair pair_best(clockid_t id)
{
	struct ftr_tick_pair best = { 0 }, pair;
	uint64_t best_width = UINT64_MAX, width;
	int i;

	for (i = 0; i < TRIES; i++) {
		pair = pair_read(id, &width);
		if (width < best_width) {
			best_width = width;
			best = pair;
		}
	}
	return best;
}

void ftr_tick_clock_read(struct ftr_tick_map *map, clockid_t id)
{
	struct ftr_tick_pair pair;

	if (map->is_identity) {
		pair.ns = ftr_clock_now_ns(id);
		pair.tick = pair.ns;
	} else {
		pair = pair_best(id);
	}
	ftr_tick_map_add(map, pair.tick, pair.ns);
}

uint32_t ftr_tick_clock_per_ms(void)
{
	struct ftr_tick_pair start = pair_best(CLOCK_MONOTONIC), now;

	do {
		now = pair_best(CLOCK_MONOTONIC);
	} while (now.ns - start.ns < CALIBRATE_NS);
	return (uint32_t)((now.tick - start.tick) * 1000000u / (now.ns - start.ns));
}

/* SPDX-License-Identifier: MIT */
/* Pairs of ticks and nanoseconds that were read together; time is interpolated between them. */
#include "utils/record/tick.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/rt.h"
#include "utils/base/bits.h"
#include "utils/base/clock.h"

#define TRIES 3			/* keep the narrowest: an interrupt may widen one */
#define CALIBRATE_NS 20000u	/* each end is read to within 50 ns: good to a percent */

int ftr_tick_map_init(struct ftr_tick_map *map, bool is_identity)
{
	*map = (struct ftr_tick_map){ .is_identity = is_identity };
	map->pairs = calloc(FTR_TICK_PAIRS_MAX, sizeof(*map->pairs));
	return map->pairs == NULL ? -ENOMEM : 0;
}

void ftr_tick_map_fini(struct ftr_tick_map *map)
{
	free(map->pairs);
	map->pairs = NULL;
	map->nr = 0;
}

/* Thin out the older half: precision is kept for recent time. */
static void map_thin(struct ftr_tick_map *map)
{
	size_t half = map->nr / 2, kept = 0, i;

	for (i = 0; i < half; i += 2)
		map->pairs[kept++] = map->pairs[i];
	memmove(map->pairs + kept, map->pairs + half, (map->nr - half) * sizeof(*map->pairs));
	map->nr = kept + map->nr - half;
}

bool ftr_tick_map_add(struct ftr_tick_map *map, uint64_t tick, uint64_t ns)
{
	struct ftr_tick_pair last = ftr_tick_map_last(map);
	bool is_back = tick < last.tick && !map->is_identity, is_first = !map->was_set_back;

	if (map->nr != 0 && tick <= last.tick && !is_back)
		return true;
	if (is_back) {
		map->nr = 0;
		map->was_set_back = true;
	}
	if (map->nr == FTR_TICK_PAIRS_MAX)
		map_thin(map);
	if (ns < last.ns)
		ns = last.ns;
	map->pairs[map->nr++] = (struct ftr_tick_pair){ tick, ns };
	return !(is_back && is_first);
}

struct ftr_tick_pair ftr_tick_map_last(const struct ftr_tick_map *map)
{
	return map->nr == 0 ? (struct ftr_tick_pair){ 0 } : map->pairs[map->nr - 1];
}

/* Index of the last pair at or before @tick; there must be one. */
static size_t pair_find(const struct ftr_tick_map *map, uint64_t tick)
{
	size_t low = 0, high = map->nr;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (map->pairs[mid].tick <= tick)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* Rounded up: an exact number of nanoseconds must not come out as one less. */
static uint64_t slope(const struct ftr_tick_pair *a, const struct ftr_tick_pair *b)
{
	unsigned __int128 mult = (unsigned __int128)(b->ns - a->ns) << FTR_TICK_MULT_SHIFT;
	uint64_t ticks = b->tick - a->tick;

	mult = (mult + ticks - 1) / ticks;
	return mult > UINT64_MAX ? UINT64_MAX : (uint64_t)mult;
}

bool ftr_tick_map_find(const struct ftr_tick_map *map, uint64_t tick,
		       struct ftr_tick_segment *segment)
{
	const struct ftr_tick_pair *pair;
	size_t i;

	if (map->is_identity) {
		*segment = (struct ftr_tick_segment){
			.span = map->nr == 0 ? UINT64_MAX : map->pairs[map->nr - 1].tick + 1,
			.mult = FTR_BIT64(FTR_TICK_MULT_SHIFT),
		};
		return map->nr == 0 || tick < segment->span;
	}
	if (map->nr == 0 || tick > map->pairs[map->nr - 1].tick)
		return false;
	if (tick < map->pairs[0].tick) {
		*segment = (struct ftr_tick_segment){
			.span = map->pairs[0].tick, .ns = map->pairs[0].ns,
		};
		return true;
	}
	i = pair_find(map, tick);
	pair = &map->pairs[i];
	*segment = (struct ftr_tick_segment){ .first = pair->tick, .span = 1, .ns = pair->ns };
	if (i + 1 < map->nr) {
		segment->span = pair[1].tick - pair->tick;
		segment->mult = slope(pair, pair + 1);
	}
	return true;
}

uint64_t ftr_tick_map_ns(const struct ftr_tick_map *map, uint64_t tick)
{
	struct ftr_tick_segment segment;

	if (!ftr_tick_map_find(map, tick, &segment))
		return ftr_tick_map_last(map).ns;
	return ftr_tick_segment_ns(&segment, tick);
}

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

bool ftr_tick_clock_read(struct ftr_tick_map *map, clockid_t id)
{
	struct ftr_tick_pair pair;

	if (map->is_identity) {
		pair.ns = ftr_clock_now_ns(id);
		pair.tick = pair.ns;
	} else {
		pair = pair_best(id);
	}
	return ftr_tick_map_add(map, pair.tick, pair.ns);
}

uint32_t ftr_tick_clock_per_ms(void)
{
	struct ftr_tick_pair start = pair_best(CLOCK_MONOTONIC), now;

	do {
		now = pair_best(CLOCK_MONOTONIC);
	} while (now.ns - start.ns < CALIBRATE_NS);
	return (uint32_t)((now.tick - start.tick) * 1000000u / (now.ns - start.ns));
}

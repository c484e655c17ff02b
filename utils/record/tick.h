/* SPDX-License-Identifier: MIT */
/*
 * From ticks of a free-running counter to nanoseconds of a clock: piecewise linear between pairs
 * read at the same moment, exact at the pairs, never decreasing.
 */
#ifndef FTR_RECORD_TICK_H
#define FTR_RECORD_TICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define FTR_TICK_PAIRS_MAX 4096
#define FTR_TICK_MULT_SHIFT 56

struct ftr_tick_pair {
	uint64_t tick;
	uint64_t ns;
};

struct ftr_tick_map {
	struct ftr_tick_pair *pairs;	/* (owned) rising; FTR_TICK_PAIRS_MAX of room */
	size_t nr;
	bool was_set_back;		/* the counter, once at least */
	bool is_identity; /* ticks are nanoseconds; pairs, if any, only say how late it is */
};

/*
 * A straight piece: ns(tick) = ns + (tick - first) * mult >> FTR_TICK_MULT_SHIFT while tick - first
 * < span.
 */
struct ftr_tick_segment {
	uint64_t first;
	uint64_t span;
	uint64_t ns;
	uint64_t mult;
};

int  ftr_tick_map_init(struct ftr_tick_map *map, bool is_identity);	/* 0 or -ENOMEM */
void ftr_tick_map_fini(struct ftr_tick_map *map);

/*
 * Add the newest pair.  A clock that was set back stands still.  When room is short the older half
 * of the pairs is thinned out.  Where the counter is set back, which happens to a virtual machine
 * that goes on elsewhere, all pairs before are forgotten.  False: it was, for the first time.
 */
bool ftr_tick_map_add(struct ftr_tick_map *map, uint64_t tick, uint64_t ns);

/* The newest pair; zeros before the first. */
struct ftr_tick_pair ftr_tick_map_last(const struct ftr_tick_map *map);

/*
 * The segment @tick lies in.  Ticks before the first pair get a segment that stands still at it.
 * False when @tick is after the last pair: not known yet.
 */
bool ftr_tick_map_find(const struct ftr_tick_map *map, uint64_t tick,
		       struct ftr_tick_segment *segment);

/* @tick on the clock; before the first and after the last pair: that pair's time. */
uint64_t ftr_tick_map_ns(const struct ftr_tick_map *map, uint64_t tick);

static inline uint64_t ftr_tick_segment_ns(const struct ftr_tick_segment *segment, uint64_t tick)
{
	return segment->ns + (uint64_t)((unsigned __int128)(tick - segment->first) *
					segment->mult >> FTR_TICK_MULT_SHIFT);
}

/*
 * Add a pair of now to @map: (ticks, time), or (time, time) where ticks are nanoseconds; as
 * ftr_tick_map_add.
 */
bool ftr_tick_clock_read(struct ftr_tick_map *map, clockid_t id);

/* Ticks a millisecond, roughly: 0 where the machine has no counter we use. */
uint32_t ftr_tick_clock_per_ms(void);

#endif /* FTR_RECORD_TICK_H */

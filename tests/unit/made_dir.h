/* SPDX-License-Identifier: MIT */
/* Made-up data directories of two tasks, 5 and 6, sound or damaged: chance decides what they do. */
#ifndef FTR_UNIT_MADE_DIR_H
#define FTR_UNIT_MADE_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/unit/packed.h"

#define MADE_RECORDS 3000	/* of a task */

/* What a task does, one time in so many records; 0 = never. */
struct made_story {
	uint32_t depth_max;
	uint32_t lost, event, back, jump, wrong, torn;
	uint32_t leap;		/* longjmp */
	uint32_t stray;		/* a call of another function than usual there; 0 = none is usual */
	uint32_t sleep;		/* off its CPU, as perf-cpu0.dat tells */
	bool is_big;
};

extern uint64_t made_random;	/* where chance begins */

uint32_t made_random_below(uint32_t end);

/* How many seeds a test tries: all, or FTR_TEST_SEEDS, where each takes many times as long. */
uint64_t made_seeds(uint64_t all);

/* What such a directory has besides data. */
void made_base(struct ftr_strbuf *packed, const struct made_story *story);
/* TID.dat, without sleep. */
void made_task(struct ftr_strbuf *packed, const struct made_story *story, int tid);
/* ... and TID.dat of both with perf-cpu0.dat. */
void made_tasks(struct ftr_strbuf *packed, const struct made_story *story);

#endif /* FTR_UNIT_MADE_DIR_H */

/* SPDX-License-Identifier: MIT */
/*
 * On which processors tasks ran while a function was open, from events with a CPU.
 */
#ifndef FTR_ANALYSIS_CPUS_H
#define FTR_ANALYSIS_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/vec.h"

struct ftr_event;

#define FTR_CPUS_MAX 1024	/* what is beyond is not counted */
#define FTR_CPU_WORD_BITS 64

struct ftr_cpu_set {
	uint64_t words[FTR_CPUS_MAX / FTR_CPU_WORD_BITS];	/* CPU 0 is bit 0 of the first */
};

/* Where one task was, and until when. */
struct ftr_cpu_track {
	FTR_VEC(uint64_t) until_ns;	/* by CPU; 0 = it never was there */
	uint32_t current_nr; /* CPU it runs on, plus 1; 0 = none or unknown */
};

static inline bool ftr_cpu_set_has(const struct ftr_cpu_set *set, unsigned cpu)
{
	return set->words[cpu / FTR_CPU_WORD_BITS] >> cpu % FTR_CPU_WORD_BITS & 1;
}

unsigned ftr_cpu_set_count(const struct ftr_cpu_set *set);

/* Take a POINT into account.  0 or -ENOMEM. */
int  ftr_cpu_track_point(struct ftr_cpu_track *track, const struct ftr_event *ev);
/* Add the CPUs where the task was at @start_ns or since. */
void ftr_cpu_track_since(const struct ftr_cpu_track *track, uint64_t start_ns,
			 struct ftr_cpu_set *set);
void ftr_cpu_track_fini(struct ftr_cpu_track *track);

#endif /* FTR_ANALYSIS_CPUS_H */

/* SPDX-License-Identifier: MIT */
/*
 * Percentiles in bounded memory: the values themselves while they are few, then their number in
 * each of 64 equal parts of every octave (x..2x).  A percentile is then off by at most 1/128.
 */
#ifndef FTR_ANALYSIS_HISTOGRAM_H
#define FTR_ANALYSIS_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define FTR_HISTOGRAM_FEW     64	/* so many values are kept as they are */
#define FTR_HISTOGRAM_OCTAVES 59	/* [0] holds 0..63 exactly */

/* All zero = no values. */
struct ftr_histogram {
	uint64_t nr;
	uint64_t min, max;
	uint64_t *few;		/* (owned) in order; NULL once there are more */
	uint64_t *octaves[FTR_HISTOGRAM_OCTAVES];	/* (owned, nullable) counts of the parts */
};

/* 0 or -ENOMEM. */
int ftr_histogram_add(struct ftr_histogram *histogram, uint64_t value);
/* The same @times times, at once. */
int ftr_histogram_add_times(struct ftr_histogram *histogram, uint64_t value, uint64_t times);
/* The least value that @percent (1..100) of the values do not exceed; 0 = there is none. */
uint64_t ftr_histogram_percentile(const struct ftr_histogram *histogram, unsigned percent);
void ftr_histogram_fini(struct ftr_histogram *histogram);

#endif /* FTR_ANALYSIS_HISTOGRAM_H */

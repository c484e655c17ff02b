/* SPDX-License-Identifier: MIT */
/* The statistics of two traces side by side: functions of the same name are pairs. */
#ifndef FTR_ANALYSIS_STATS_PAIR_H
#define FTR_ANALYSIS_STATS_PAIR_H

#include <stddef.h>
#include <stdint.h>

#include "utils/analysis/stats.h"

struct ftr_stats_pair {
	const char *name;
	uint32_t name_len;
	const struct ftr_func_stat *base;	/* (nullable) one of the two at least is there */
	const struct ftr_func_stat *other;	/* (nullable) */
};

/* (owned, by free) array of *nr pairs, those of @base first; NULL = out of memory. */
struct ftr_stats_pair *ftr_stats_pair_all(const struct ftr_stats *base,
					  const struct ftr_stats *other, size_t *nr);

#endif /* FTR_ANALYSIS_STATS_PAIR_H */

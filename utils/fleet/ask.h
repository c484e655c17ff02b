/* SPDX-License-Identifier: MIT */
/* What the database of a fleet knows, as the statistics of one trace: summed up there, not here. */
#ifndef FTR_FLEET_ASK_H
#define FTR_FLEET_ASK_H

#include "utils/analysis/stats.h"
#include "utils/base/arena.h"
#include "utils/base/err.h"

struct ftr_asked;

struct ftr_fleet_stats {
	struct ftr_stats stats;		/* funcs alone; names are in the arena */
	struct ftr_arena arena;
	uint64_t outermost_ns;	/* in calls that no traced one made */
	uint64_t summed_calls;	/* with FTR_STATS_DETAILS: also those that only sums are known of */
};

/*
 * The statistics of the calls that @asked->where lets through.  @flags: FTR_STATS_DETAILS and
 * FTR_STATS_SPREAD take what they need from the calls themselves, which takes longer.  *@stats is
 * filled also on failure, for _fini.  -EINVAL: a wrong where.
 */
int  ftr_fleet_ask_stats(const struct ftr_asked *asked, unsigned flags,
			 struct ftr_fleet_stats *stats, struct ftr_err *err);
void ftr_fleet_stats_fini(struct ftr_fleet_stats *stats);

#endif /* FTR_FLEET_ASK_H */

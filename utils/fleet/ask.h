/* SPDX-License-Identifier: MIT */
/* What the database of a fleet knows, as the statistics of one trace: summed up there, not here. */
#ifndef FTR_FLEET_ASK_H
#define FTR_FLEET_ASK_H

#include <stdbool.h>

#include "utils/analysis/stats.h"
#include "utils/base/arena.h"
#include "utils/base/err.h"

struct ftr_fleet;
struct ftr_http;

struct ftr_fleet_stats {
	struct ftr_stats stats;		/* funcs alone; names are in the arena */
	struct ftr_arena arena;
	uint64_t outermost_ns;	/* in calls that no traced one made */
};

/*
 * The statistics of the calls that @where lets through (nullable: all): KEY=VALUE, several with
 * commas, of the keys host, run, build, module, function, since and until (calls that ended in
 * these minutes, "2026-11-23 08:00").  With @has_details also their least, most and deviation, from
 * the calls themselves, which takes longer.  *@stats is filled also on failure, for _fini.
 * -EINVAL: a wrong @where.
 */
int  ftr_fleet_ask_stats(const struct ftr_fleet *fleet, struct ftr_http *http, const char *where,
			 bool has_details, struct ftr_fleet_stats *stats, struct ftr_err *err);
void ftr_fleet_stats_fini(struct ftr_fleet_stats *stats);

#endif /* FTR_FLEET_ASK_H */

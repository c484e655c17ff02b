/* SPDX-License-Identifier: MIT */
/* How often and how long: statistics of each function and of each task, as data. */
#ifndef FTR_ANALYSIS_STATS_H
#define FTR_ANALYSIS_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/analysis/cpus.h"
#include "utils/analysis/histogram.h"
#include "utils/base/strpool.h"
#include "utils/base/vec.h"
#include "utils/trace/sink.h"

/* Of one kind of time (total or self) of all calls of a function. */
struct ftr_time_stat {
	uint64_t sum_ns;	/* without the calls that a call of the same function made */
	uint64_t nested_ns;	/* these */
	uint64_t inherited_ns;	/* of both: in calls that a forked child was made in */
	/* With details: */
	uint64_t min_ns, max_ns;
	uint64_t min_at_ns, max_at_ns;	/* when the shortest and the longest began */
	double   squares;	/* sum of the squared times, ns^2 */
	uint64_t away_ns;	/* of sum_ns: scheduled out; FTR_STATS_CPU_TIME */
	struct ftr_histogram *spread;	/* (owned, nullable) FTR_STATS_SPREAD */
};

struct ftr_func_stat {
	const char *name;	/* NULL: this name_id was never called */
	uint32_t name_len;
	uint32_t size;		/* bytes of the function, 0 = unknown */
	uint64_t calls;		/* without those that a forked child was made in */
	struct ftr_time_stat total, self;
	struct ftr_cpu_set *cpus;	/* (owned, nullable) with details: where it ran */
	uint64_t whole_ns;	/* when all is counted: of everything that was */
};

struct ftr_task_stat {
	const struct ftr_task *task;	/* NULL: nothing of it */
	uint64_t total_ns;	/* inside of functions */
	uint64_t self_ns;	/* of that: not scheduled out */
	uint64_t calls;
	FTR_VEC(uint32_t) open;	/* by func->id: open calls */
	struct ftr_cpu_track cpus;	/* with details */
	uint64_t away_ns;	/* scheduled out so far */
	FTR_VEC(uint64_t) away_at_entry; /* with FTR_STATS_CPU_TIME: of the open calls, by depth */
};

struct ftr_stats {
	FTR_VEC(struct ftr_func_stat) funcs;	/* by name_id; the names of one function add up */
	FTR_VEC(struct ftr_task_stat) tasks;	/* by task->id */
	struct ftr_func_stat schedule[2]; /* scheduled out, inside of functions; [1] pre-empted */
	FTR_VEC(struct ftr_func_stat)
	spans; /* async spans and flows, from begin to end, by id of the name */
	struct ftr_strpool span_names;
	uint64_t outermost_ns;	/* of calls that were summed up when recorded, in no task's */
};

/* Add calls that were summed up when they were recorded.  0 or -ENOMEM. */
struct ftr_summary_row;
int ftr_func_stat_add_sums(struct ftr_func_stat *stat, const struct ftr_summary_row *row,
			   bool has_spread);

/* Release what it owns. */
void ftr_func_stat_fini(struct ftr_func_stat *stat);

double ftr_time_stat_avg_ns(const struct ftr_time_stat *stat, uint64_t calls);
/* Standard deviation in percent of the average. */
double ftr_time_stat_stdv(const struct ftr_time_stat *stat, uint64_t calls);
/* Of the times of all calls; 0 without FTR_STATS_SPREAD. */
uint64_t ftr_time_stat_percentile(const struct ftr_time_stat *stat, unsigned percent);

enum ftr_stats_flag {
	FTR_STATS_DETAILS = 1 << 0, /* least, most, deviation and processors, too; takes twice as
				     * long.  Processors need the events outside of calls */
	FTR_STATS_OUTSIDE = 1 << 1, /* schedules outside of functions, too */
	FTR_STATS_SPREAD = 1 << 2,  /* with details: percentiles */
	FTR_STATS_CPU_TIME = 1 << 3, /* with details: what of the times was scheduled out */
};

/*
 * A sink that counts; the tasks of the stream may come one after the other.  @flags: FTR_STATS_*.
 * NULL = out of memory.
 */
struct ftr_sink *ftr_stats_new(unsigned flags, struct ftr_err *err);
/* What it has counted so far; valid as long as the sink. */
const struct ftr_stats *ftr_stats_get(const struct ftr_sink *sink);

/*
 * All that was called, what was scheduled out, async spans and flows: (owned) array of *nr; NULL =
 * out of memory.
 */
const struct ftr_func_stat **ftr_stats_rows(const struct ftr_stats *stats, size_t *nr);

/* Functions of the same name in two traces. */
struct ftr_stats_pair {
	const char *name;
	uint32_t name_len;
	const struct ftr_func_stat *base;	/* (nullable) one of the two at least is there */
	const struct ftr_func_stat *other;	/* (nullable) */
};

/* (owned, by free) array of *nr pairs, those of @base first; NULL = out of memory. */
struct ftr_stats_pair *ftr_stats_pair_all(const struct ftr_stats *base,
					  const struct ftr_stats *other, size_t *nr);

#endif /* FTR_ANALYSIS_STATS_H */

/* SPDX-License-Identifier: MIT */
/* What live shares with record. */
#ifndef FTR_CMDS_RECORD_H
#define FTR_CMDS_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/cli/common.h"
#include "utils/cli/rules.h"
#include "utils/record/budget.h"
#include "utils/record/store_flight.h"

struct ftr_record_opts {
	uint64_t buffer_bytes;
	uint64_t depth;			/* 0 = no limit */
	uint64_t time_ns;		/* -t, 0 = calls of any length */
	struct ftr_filter_opts filter;
	uint64_t max_stack;
	int  clock;			/* index in the words of --clock */
	int  on_full;			/* enum ftr_on_full */
	uint64_t rt_prio;		/* 0 = none */
	uint64_t thread_nr;		/* 0 = by the processors */
	struct ftr_flight_limits flight;
	bool is_packed;
	uint64_t summary_seconds;	/* 0 = calls are kept */
	struct ftr_opt_list signals;	/* "SIGUSR1@dump" */
	uint64_t max_bytes;		/* 0 = no bound */
	uint64_t keep_bytes;
	uint64_t attach_pid;		/* 0 = a program is started */
	bool attach_all;		/* ... and what has come from it */
	bool attach_no_exec;		/* ... but not what it executes */
	bool detach;
	bool has_agent;
	bool values_stay;		/* ... but not which values are recorded */
	bool estimate_return;
	bool keep_pid;
	bool has_syscalls;
	bool has_stacks;		/* ... and their stacks */
	bool lists_events;		/* that can be had, and records nothing */
	bool no_pltbind;
	bool nop;
	bool no_event;
	bool no_sched;
	bool no_randomize;
	bool shows_time;
	bool shows_end;			/* one line at the end, on a terminal */
	struct ftr_option_values of_collectors;
	struct ftr_option_values of_sections;
	const char *script;		/* (nullable) to run over the data at the end */
	const char *libmcount_dir;	/* (nullable) */
};

extern const char *const ftr_record_clock_words[];	/* by ftr_record_opts.clock */
extern const struct ftr_option
	ftr_record_opts_options[]; /* but depth, time_ns, filter, no_event, no_sched */
#define FTR_RECORD_OPTS_DEFAULTS \
	{ .buffer_bytes = 4 << 20, .max_stack = 1 << 20, .keep_bytes = FTR_BUDGET_KEEP_DEFAULT }

/* Print what --Event may name here, and of @program (nullable).  The exit status. */
int ftr_record_list_events(const struct ftr_common *common, const char *program);

/*
 * Record argv[0] with its arguments into @dir; reports what failed.  *was_run: there is a
 * recording. The exit status: the program's own (128 + n for a signal), or an FTR_EXIT_*.
 */
int ftr_record_program(const struct ftr_record_opts *opts, const char *dir, char **argv,
		       bool *was_run);

#endif /* FTR_CMDS_RECORD_H */

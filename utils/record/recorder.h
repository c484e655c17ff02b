/* SPDX-License-Identifier: MIT */
/*
 * ftr record without its command line: start a program, collect until its last process has ended.
 */
#ifndef FTR_RECORD_RECORDER_H
#define FTR_RECORD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "utils/attach/attach.h"
#include "utils/base/clock.h"
#include "utils/base/err.h"
#include "utils/base/option.h"
#include "utils/proto/control.h"
#include "utils/record/program.h"
#include "utils/record/store.h"
#include "utils/record/store_flight.h"

struct ftr_record_choice;
struct ftr_rules;
struct ftr_signal_actions;

struct ftr_recorder_options {
	const char *dir;			/* data directory */
	const struct ftr_program *program;	/* checked by ftr_program_find */
	const char *runtime;			/* libmcount.so, from ftr_program_runtime; NULL: no
						 * functions */
	const char *preload;			/* ... and what else is preloaded, with colons */
	unsigned events;			/* FTR_PERF_* bits: scheduling, tasks, names */
	const struct ftr_option_values *collectors; /* what their own options were set to */
	const struct ftr_option_values *sections; /* likewise, of the makers of sections */
	const struct ftr_record_choice *choice;	/* (nullable) which calls */
	bool has_agent;			/* what is recorded may be changed meanwhile: */
	struct ftr_rules *rules;	/* (borrowed) ... the choice's, which has one then */
	bool values_stay;			/* ... but not the values that are recorded */
	const char *readers_opts;	/* (nullable) default.opts of the data */
	bool has_syscalls;			/* observe processes and files */
	bool has_stacks;			/* ... with the stacks of calls */
	char *const *argv;			/* of the program, NULL-terminated */
	int32_t attach_pid;			/* it runs already, as this process; 0 = no */
	bool attach_all;			/* with what has come from it */
	bool attach_no_exec;			/* but not with what it executes */
	const struct ftr_clock *clock;
	enum ftr_on_full on_full;
	uint32_t ring_bytes;			/* a power of two */
	uint32_t depth_max;			/* 0 = no limit */
	uint32_t stack_max;
	uint32_t wait_ms;
	bool estimate_return;			/* return addresses stay as they are */
	bool nop;				/* the runtime does not connect */
	bool no_pltbind;
	bool keep_pid;
	bool detach; /* end with the program, whatever it leaves running */
	unsigned rt_prio;			/* SCHED_FIFO for the recorder; 0 = none */
	unsigned thread_nr;			/* that drain rings; at least 1 */
	struct ftr_flight_limits flight;	/* bytes 0: records are written as they come */
	bool is_packed;				/* files of records are packed */
	unsigned summary_seconds;		/* not 0: sums of such intervals, no records */
	const struct ftr_signal_actions *signals; /* (nullable) what signals do to the recording */
	uint64_t max_bytes;			/* of the data; 0 = no bound */
	uint64_t keep_bytes;			/* of the disk; FTR_BUDGET_KEEP_DEFAULT, 0 = none */
	bool no_randomize;
	const char *cmdline;			/* of ftr, for info */
	const char *version;
	struct ftr_diag *diag;
};

struct ftr_recorder_result {
	bool was_ready;			/* what comes next is to start the program */
	bool was_run;			/* ... it was started */
	bool has_status;		/* wait_status is known */
	bool has_usage;			/* usage is known */
	int  wait_status;
	uint64_t elapsed_ns;
	struct rusage usage;		/* of the program and what it waited for */
	unsigned dumps;			/* of a flight recorder */
	unsigned sessions;		/* program images that reported themselves */
	unsigned tasks;
	uint64_t records;
	uint64_t calls;
	uint64_t lost[FTR_LOST_CAUSES];
	bool was_stopped;		/* by a signal, while processes went on */
	struct ftr_attach_report attached, left; /* of a program that ran already */
	char *notes;			/* (owned by the caller, nullable) lines of makers */
};

/*
 * Record.  0: the program ran, and *result says how it went.  -errno: it could not be started
 * (result->was_run is false), or recording failed.
 */
int ftr_recorder_run(const struct ftr_recorder_options *options,
		     struct ftr_recorder_result *result, struct ftr_err *err);

#endif /* FTR_RECORD_RECORDER_H */

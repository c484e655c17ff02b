/* SPDX-License-Identifier: MIT */
/* What report --by shows: rows of what happened, added up by name, whatever it was. */
#ifndef FTR_ANALYSIS_SUMS_H
#define FTR_ANALYSIS_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/bits.h"
#include "utils/base/strpool.h"
#include "utils/base/text.h"
#include "utils/base/vec.h"
#include "utils/trace/event.h"

enum ftr_sums_by {
	FTR_SUMS_BY_CALL,	/* analysis/syscalls.h */
	FTR_SUMS_BY_FILE,	/* ... or analysis/io_sums.h */
	FTR_SUMS_BY_PROCESS,
	FTR_SUMS_BY_EVENT,	/* analysis/event_sums.h */
	FTR_SUMS_BY_CALLER,	/* analysis/memory_sums.h */
	FTR_SUMS_BY_LOCK,	/* analysis/wait_sums.h */
	FTR_SUMS_BY_SAMPLE,	/* analysis/sample_sums.h */
	FTR_SUMS_BY_SOCKET,	/* analysis/io_sums.h */
	FTR_SUMS_BY_LEAK,	/* analysis/leak_sums.h */
	FTR_SUMS_BY_VALUE,	/* analysis/value_sums.h */
	FTR_SUMS_BY_RANGE,	/* ... each function, with the ranges of its values */
};

struct ftr_sum {
	const char *name; /* "openat"; an absolute path; the last command line, blanks between its
			     words; "sched:sched_switch" */
	int32_t  pid;		/* by process */
	int32_t status; /* by process: as a shell gives it, 128+n for a signal; -1 = not known */
	uint64_t total_ns, min_ns, max_ns;	/* inside of the calls */
	uint64_t calls;		/* by event: how often it happened; by caller: requests */
	uint64_t errors;	/* of these: failed */
	uint64_t opens;		/* that succeeded */
	uint64_t reads, writes;	/* of these: for reading, for writing; both count in both.  Where
				   what was moved is known: calls that read, that write */
	uint64_t forks;		/* children, threads not */
	uint64_t processes;	/* that did any of this */
	uint64_t bytes;		/* by caller: of all blocks that it was given; else that moved */
	uint64_t read_bytes, written_bytes;	/* of these */
	uint64_t self_samples, samples;	/* by sample: in the function itself; and below */
	uint64_t self_ns;		/* ... traced time of its own */
	uint64_t live_bytes, live_blocks;	/* ... of these, never given back */
	uint64_t start_ns,
		end_ns; /* of the first call (a child: of its making), of the last one's end */
};

/* A value of a function's calls. */
struct ftr_value_range {
	uint64_t nr;		/* calls that have it as a number */
	long double min, max, sum;
};
#define FTR_VALUE_RANGES_MAX 8

struct ftr_sums {
	FTR_VEC(struct ftr_sum) rows;	/* in the order in which they appeared */
	FTR_VEC(struct ftr_value_range) ranges;	/* of each row range_nr */
	const char *range_names[FTR_VALUE_RANGES_MAX];	/* (borrowed) "arg1", "retval.size" */
	unsigned range_nr;
	bool may_be_empty;	/* what there was to add up was there: no row is an answer */
	bool is_of_bytes;	/* by file, socket: what was moved is known (analysis/io_sums.h) */
};

/* Of their sinks: what is not added up is no loss. */
#define FTR_SUMS_ACCEPTS (FTR_BIT(FTR_EVENT_TYPES) - 1)

/* The row of @name, an empty one if it is new; @names has it by its row.  0 or -ENOMEM. */
int ftr_sums_row(struct ftr_sums *sums, struct ftr_strpool *names, struct ftr_slice name,
		 uint32_t *row);

#endif /* FTR_ANALYSIS_SUMS_H */

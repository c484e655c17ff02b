/* SPDX-License-Identifier: MIT */
/* What report --by shows: rows of what happened, added up by name, whatever it was. */
#ifndef FTR_ANALYSIS_SUMS_H
#define FTR_ANALYSIS_SUMS_H

#include <stdint.h>

#include "utils/base/bits.h"
#include "utils/base/strpool.h"
#include "utils/base/text.h"
#include "utils/base/vec.h"
#include "utils/trace/event.h"

enum ftr_sums_by {
	FTR_SUMS_BY_CALL,	/* analysis/syscalls.h */
	FTR_SUMS_BY_FILE,
	FTR_SUMS_BY_PROCESS,
	FTR_SUMS_BY_EVENT,	/* analysis/event_sums.h */
	FTR_SUMS_BY_CALLER,	/* analysis/memory_sums.h */
	FTR_SUMS_BY_LOCK,	/* analysis/wait_sums.h */
	FTR_SUMS_BY_VALUE,	/* analysis/value_sums.h */
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
	uint64_t reads, writes;	/* of these: for reading, for writing; both count in both */
	uint64_t forks;		/* children, threads not */
	uint64_t processes;	/* that did any of this */
	uint64_t bytes;		/* by caller: of all blocks that it was given */
	uint64_t live_bytes, live_blocks;	/* ... of these, never given back */
	uint64_t start_ns,
		end_ns; /* of the first call (a child: of its making), of the last one's end */
};

struct ftr_sums {
	FTR_VEC(struct ftr_sum) rows;	/* in the order in which they appeared */
};

/* Of their sinks: what is not added up is no loss. */
#define FTR_SUMS_ACCEPTS (FTR_BIT(FTR_EVENT_TYPES) - 1)

/* The row of @name, an empty one if it is new; @names has it by its row.  0 or -ENOMEM. */
int ftr_sums_row(struct ftr_sums *sums, struct ftr_strpool *names, struct ftr_slice name,
		 uint32_t *row);

#endif /* FTR_ANALYSIS_SUMS_H */

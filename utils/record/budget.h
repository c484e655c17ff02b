/* SPDX-License-Identifier: MIT */
/* How much a recording may write: up to a size, and as long as the disk has a reserve. */
#ifndef FTR_RECORD_BUDGET_H
#define FTR_RECORD_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"

#define FTR_BUDGET_KEEP_DEFAULT UINT64_MAX	/* 5 % of the file system, at most 1 GB */

/* Of both processes that write (the observer is one of its own): mapped shared. */
struct ftr_budget_shared {
	_Atomic bool is_spent;
};

struct ftr_budget {
	int dir;			/* (borrowed) data directory */
	uint64_t max_bytes;		/* of all its files; 0 = no bound */
	uint64_t keep_bytes;		/* of the file system; 0 = may be filled */
	uint64_t seen_ns;		/* CLOCK_MONOTONIC of the last look … */
	uint64_t look_bytes;		/* … and how many written ones call for the next */
	struct ftr_budget_shared *shared;
};

/* -ENOSPC: less than @keep_bytes are free from the beginning. */
int  ftr_budget_open(struct ftr_budget *budget, int dir, uint64_t max_bytes, uint64_t keep_bytes,
		     struct ftr_err *err);
void ftr_budget_close(struct ftr_budget *budget);

/*
 * Is it spent, now that @written bytes of records and events are in the directory?  Looks at the
 * file system a hundred times a second at most, but whenever half of what was left at the last look
 * is written, too.  The first time @why says what it ran into.
 */
bool ftr_budget_is_spent(struct ftr_budget *budget, uint64_t written, struct ftr_err *why);

#endif /* FTR_RECORD_BUDGET_H */

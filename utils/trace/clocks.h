/* SPDX-License-Identifier: MIT */
/* How two clocks go, found from the times at which both saw the same things happen. */
#ifndef FTR_TRACE_CLOCKS_H
#define FTR_TRACE_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/vec.h"

/* Something happened to a task, which no one else mixes up with what happens to another. */
struct ftr_clock_mark {
	int32_t tid;
	uint64_t time_ns;
};

struct ftr_clock_marks {
	FTR_VEC(struct ftr_clock_mark) all;
};

/* Time by our clock = theirs + offset_ns + drift_ns * (theirs - from_ns) / over_ns. */
struct ftr_clock_relation {
	int64_t offset_ns;
	int64_t drift_ns;		/* within over_ns */
	uint64_t from_ns;
	uint64_t over_ns;		/* 0 = no drift is known */
	uint32_t match_nr;		/* marks that fit */
	uint32_t of_nr;			/* of so many that were tried */
};

uint64_t ftr_clock_convert(const struct ftr_clock_relation *relation, uint64_t theirs_ns);

/*
 * Find where most marks of @ours lie on such of @theirs, which are sorted here.
 * There may be more on either side.  1; 0: too few fit to be sure; -ENOMEM.
 */
int ftr_clock_relate(struct ftr_clock_marks *ours, struct ftr_clock_marks *theirs,
		     struct ftr_clock_relation *relation);

#endif /* FTR_TRACE_CLOCKS_H */

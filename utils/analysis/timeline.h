/* SPDX-License-Identifier: MIT */
/*
 * What each task did over time, as data: a range of time in equal cells, and for each task and cell
 * how long it was in calls and in which functions most.  Time scheduled out is not busy.
 *
 * A cell takes a fixed amount of memory, whatever happened in it.
 */
#ifndef FTR_ANALYSIS_TIMELINE_H
#define FTR_ANALYSIS_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/vec.h"

struct ftr_func;
struct ftr_sink;
struct ftr_task;

#define FTR_TIMELINE_SHARES 3

/* Time in a function itself, not in what it called. */
struct ftr_timeline_share {
	const struct ftr_func *func;	/* (borrowed) of the trace; NULL: no more */
	uint64_t self_ns;
};

struct ftr_timeline_cell {
	uint64_t busy_ns;		/* up to the width of the cell */
	uint32_t depth_max;		/* of calls open at once */
	struct ftr_timeline_share shares[FTR_TIMELINE_SHARES];	/* the largest first */
};

struct ftr_timeline_row {
	const struct ftr_task *task;	/* (borrowed) of the trace */
	struct ftr_timeline_cell *cells;	/* (owned) cell_nr of them */
};

struct ftr_timeline {
	uint64_t from_ns;		/* the first cell begins here */
	uint64_t width_ns;		/* of a cell, 1 or more */
	size_t cell_nr;
	uint64_t first_ns, last_ns;	/* of all events, also out of the range; 0, 0: none */
	FTR_VEC(struct ftr_timeline_row) rows;	/* by the task's first event */
};

/*
 * The time from @from_ns to before @to_ns, which is later, in @cell_nr cells, 1 or more; those of
 * a range that they do not divide end behind it.  The events of each task must come in order.
 * Functions are told apart by name.  Of a cell with more than 64 of them, a share may be too large
 * by a 64th of what is busy.  NULL = out of memory.
 */
struct ftr_sink *ftr_timeline_new(uint64_t from_ns, uint64_t to_ns, size_t cell_nr,
				  struct ftr_err *err);
/* Valid as long as the sink; complete after the pump. */
const struct ftr_timeline *ftr_timeline_get(const struct ftr_sink *sink);

#endif /* FTR_ANALYSIS_TIMELINE_H */

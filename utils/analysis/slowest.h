/* SPDX-License-Identifier: MIT */
/*
 * The slowest calls of a function, each with the tree of what it called, as data.  A call inside
 * another one of the function is part of its tree.
 *
 * Kept are the trees of as many calls as are asked for, and one for each task that is inside of
 * the function.
 */
#ifndef FTR_ANALYSIS_SLOWEST_H
#define FTR_ANALYSIS_SLOWEST_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/analysis/graph.h"
#include "utils/trace/event.h"
#include "utils/trace/sink.h"

/* An ENTRY or EXIT that outlives its batch. */
struct ftr_slow_edge {
	struct ftr_event ev;	/* its payload (nullable) is the one below */
	struct ftr_payload payload;
	uint8_t *bytes;		/* (owned, nullable) of the payload */
};

struct ftr_slow_call {
	struct ftr_graph tree;	/* its only root is the call */
	struct ftr_slow_edge entry, exit;
};

struct ftr_slowest {
	struct ftr_slow_call **calls;	/* after the pump: slowest first */
	size_t nr;
	uint64_t seen_nr;		/* calls of the function, but for those inside of others */
};

/*
 * @func (borrowed) NULL: the outermost calls of the tasks.  @nr: how many calls to keep, from 1 on.
 * @levels: of the trees, 0 = all.  The tasks of the stream may come one after the other.  NULL =
 * out of memory.
 */
struct ftr_sink *ftr_slowest_new(const char *func, size_t nr, uint64_t levels,
				 struct ftr_err *err);
/* Valid as long as the sink; who prints them may change the order of callees. */
const struct ftr_slowest *ftr_slowest_get(const struct ftr_sink *sink);

static inline uint64_t ftr_slow_call_ns(const struct ftr_slow_call *call)
{
	return call->exit.ev.time_ns - call->exit.ev.call.start_ns;
}

#endif /* FTR_ANALYSIS_SLOWEST_H */

/* SPDX-License-Identifier: MIT */
/* Trees of calls and of tasks of whatever a fuzz target reads, checked and printed. */
#ifndef FTR_TESTS_FUZZ_GRAPHS_H
#define FTR_TESTS_FUZZ_GRAPHS_H

#include <stddef.h>

#include "utils/analysis/weight.h"

struct ftr_event;
struct ftr_sink;
struct ftr_trace;

struct graphs {
	struct ftr_sink *calls;
	struct ftr_sink *tasks;
	struct ftr_sink *weights[FTR_WEIGHTS];	/* by what; NULL: of times */
};

void graphs_begin(struct graphs *graphs, const struct ftr_trace *trace);
void graphs_batch(struct graphs *graphs, const struct ftr_event *evs, size_t nr);
void graphs_end(struct graphs *graphs);

#endif /* FTR_TESTS_FUZZ_GRAPHS_H */

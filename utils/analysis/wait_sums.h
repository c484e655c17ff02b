/* SPDX-License-Identifier: MIT */
/* Waits of threads (record --probe=sync) added up by what was waited for, and in which function. */
#ifndef FTR_ANALYSIS_WAIT_SUMS_H
#define FTR_ANALYSIS_WAIT_SUMS_H

#include "utils/analysis/sums.h"
#include "utils/trace/sink.h"

/*
 * A sink for a stream in which each task is ordered by time.  Rows are called "mutex 0x12 in FUNC";
 * a wait that did not end counts without a time.  NULL = out of memory.
 */
struct ftr_sink *ftr_wait_sums_new(struct ftr_err *err);
/* What it has added up so far; valid as long as the sink. */
const struct ftr_sums *ftr_wait_sums_get(const struct ftr_sink *sink);

#endif /* FTR_ANALYSIS_WAIT_SUMS_H */

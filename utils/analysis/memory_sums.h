/* SPDX-License-Identifier: MIT */
/* Requests for memory (record --probe=memory) added up by the function that made them. */
#ifndef FTR_ANALYSIS_MEMORY_SUMS_H
#define FTR_ANALYSIS_MEMORY_SUMS_H

#include "utils/analysis/sums.h"
#include "utils/trace/sink.h"

/*
 * A sink for a stream ordered by time.  Blocks are counted with the function that asked for them,
 * whoever gave them back; pages (mmap, brk) are not.  NULL = out of memory.
 */
struct ftr_sink *ftr_memory_sums_new(struct ftr_err *err);
/* What it has added up so far; valid as long as the sink. */
const struct ftr_sums *ftr_memory_sums_get(const struct ftr_sink *sink);

#endif /* FTR_ANALYSIS_MEMORY_SUMS_H */

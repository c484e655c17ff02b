/* SPDX-License-Identifier: MIT */
/* Memory that nobody gave back (record --probe=memory), added up by the line of callers. */
#ifndef FTR_ANALYSIS_LEAK_SUMS_H
#define FTR_ANALYSIS_LEAK_SUMS_H

#include "utils/analysis/sums.h"
#include "utils/trace/sink.h"

/*
 * A sink for a stream ordered by time.  Rows are called "leaf < middle < main"; lines of callers
 * whose blocks were all given back have none.  @depth_max as ftr_weights_new has it.  NULL = out of
 * memory.
 */
struct ftr_sink *ftr_leak_sums_new(uint32_t depth_max, struct ftr_err *err);
/* After the pump; valid as long as the sink. */
const struct ftr_sums *ftr_leak_sums_get(const struct ftr_sink *sink);

#endif /* FTR_ANALYSIS_LEAK_SUMS_H */

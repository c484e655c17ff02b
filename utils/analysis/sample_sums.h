/* SPDX-License-Identifier: MIT */
/* CPU samples (record --sample) added up by function, beside the traced time of its calls. */
#ifndef FTR_ANALYSIS_SAMPLE_SUMS_H
#define FTR_ANALYSIS_SAMPLE_SUMS_H

#include "utils/analysis/sums.h"
#include "utils/trace/sink.h"

/*
 * A sink for a stream in which each task is ordered by time.  A function counts once in a sample,
 * however often it stands there.  NULL = out of memory.
 */
struct ftr_sink *ftr_sample_sums_new(struct ftr_err *err);
/* What it has added up so far; valid as long as the sink.  Without any sample there are no rows. */
const struct ftr_sums *ftr_sample_sums_get(const struct ftr_sink *sink);

#endif /* FTR_ANALYSIS_SAMPLE_SUMS_H */

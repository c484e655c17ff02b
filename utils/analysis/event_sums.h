/* SPDX-License-Identifier: MIT */
/*
 * Events added up by name, and what takes from one to another: from wake-up to run, from a
 * request to its completion.  Which belong together: the table in event_pairs.c.
 */
#ifndef FTR_ANALYSIS_EVENT_SUMS_H
#define FTR_ANALYSIS_EVENT_SUMS_H

#include "utils/analysis/sums.h"
#include "utils/trace/sink.h"

/* A sink for a stream ordered by time, with the texts of events.  NULL = out of memory. */
struct ftr_sink *ftr_event_sums_new(struct ftr_err *err);
/* What it has added up so far; valid as long as the sink.  Rows with 0 calls began only. */
const struct ftr_sums *ftr_event_sums_get(const struct ftr_sink *sink);

#endif /* FTR_ANALYSIS_EVENT_SUMS_H */

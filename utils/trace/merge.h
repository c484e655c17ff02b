/* SPDX-License-Identifier: MIT */
/* merge: several sources, each ordered by time, become one. */
#ifndef FTR_TRACE_MERGE_H
#define FTR_TRACE_MERGE_H

#include <stdbool.h>

#include "utils/trace/source.h"

/*
 * Takes the @nr sources over (also on failure; the array itself is copied).  At equal times events
 * come in order of tids, those of one task in that of the sources.  A single source is returned as
 * it is.  With @is_unordered the sources simply follow one another: cheaper, for sinks that only
 * sum up.  NULL = out of memory.
 */
struct ftr_source *ftr_merge_new(struct ftr_source *const *sources, size_t nr, bool is_unordered);

#endif /* FTR_TRACE_MERGE_H */

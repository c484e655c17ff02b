/* SPDX-License-Identifier: MIT */
/* Observed system calls added up: by call, by file, or by process. */
#ifndef FTR_ANALYSIS_SYSCALLS_H
#define FTR_ANALYSIS_SYSCALLS_H

#include "utils/analysis/sums.h"
#include "utils/trace/sink.h"

/*
 * A sink for a stream ordered by time.  A rename or link counts for both its paths; a file is known
 * by its resolved path, or, where the call failed, by the one asked for.  NULL = out of memory.
 */
struct ftr_sink *ftr_syscalls_new(enum ftr_sums_by by, struct ftr_err *err);
/* What it has added up so far; valid as long as the sink. */
const struct ftr_sums *ftr_syscalls_get(const struct ftr_sink *sink);

#endif /* FTR_ANALYSIS_SYSCALLS_H */

/* SPDX-License-Identifier: MIT */
/* What was done with files and sockets (record --probe=file,net) added up by these. */
#ifndef FTR_ANALYSIS_IO_SUMS_H
#define FTR_ANALYSIS_IO_SUMS_H

#include "utils/analysis/sums.h"
#include "utils/trace/sink.h"

/*
 * A sink for a stream ordered by time: FTR_SUMS_BY_FILE or FTR_SUMS_BY_SOCKET.  Files of a trace
 * that has observed system calls are added up by those, as ftr_syscalls_new does.  NULL = out of
 * memory.
 */
struct ftr_sink *ftr_io_sums_new(enum ftr_sums_by by, struct ftr_err *err);
/* What it has added up so far; valid as long as the sink. */
const struct ftr_sums *ftr_io_sums_get(const struct ftr_sink *sink);

#endif /* FTR_ANALYSIS_IO_SUMS_H */

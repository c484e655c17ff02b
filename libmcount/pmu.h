/* SPDX-License-Identifier: MIT */
/* Performance counters of a thread (utils/proto/pmu.h), opened when rules first ask for them. */
#ifndef FTR_LIBMCOUNT_PMU_H
#define FTR_LIBMCOUNT_PMU_H

#include "libmcount/hook.h"

/* The two counters of @kind of the calling thread, to @values.  False: there are none. */
bool ftr_pmu_read_kind(struct ftr_thread *self, unsigned kind, uint64_t values[FTR_PMU_PAIR])
	FTR_HIDDEN;

/* Unmap them; the next reading opens them anew. */
void ftr_pmu_close(struct ftr_pmu *pmu) FTR_HIDDEN;

#endif /* FTR_LIBMCOUNT_PMU_H */

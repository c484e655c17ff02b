/* SPDX-License-Identifier: MIT */
/* Can performance counters be read here as the runtime reads them (utils/proto/pmu.h)? */
#ifndef FTR_RECORD_PMU_H
#define FTR_RECORD_PMU_H

#include <stdint.h>

struct ftr_err;

/*
 * @reads: FTR_READ_* flags, of which those of counters are tried, each on the calling thread;
 * @asked: what asked for them, for the message.  0, or -errno with the reason and the remedy.
 */
int ftr_pmu_check(uint32_t reads, const char *asked, struct ftr_err *err);

#endif /* FTR_RECORD_PMU_H */

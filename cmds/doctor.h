/* SPDX-License-Identifier: MIT */
/* What tracing a call costs on this machine, for ftr doctor. */
#ifndef FTR_CMDS_DOCTOR_H
#define FTR_CMDS_DOCTOR_H

#include <stdint.h>

#include "utils/base/err.h"

struct ftr_call_cost {
	double traced_ns;	/* of a call of an empty function: to enter, record and leave it */
	double native_ns;	/* the same, untraced */
};

/* Call an empty function @nr times; what one took, in the quickest thousand. */
double ftr_call_time(uint64_t nr);

/*
 * Have ftr record itself doing that, below TMPDIR.  0, or -errno with the reason: it cannot be
 * measured.
 */
int ftr_call_cost_measure(struct ftr_call_cost *cost, struct ftr_err *err);

#endif /* FTR_CMDS_DOCTOR_H */

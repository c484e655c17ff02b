/* SPDX-License-Identifier: MIT */
/*
 * ties: events of several tasks at one time, in the order that merge gives them: that of the tids.
 *
 * So a trace looks the same whichever format it is read from.
 */
#ifndef FTR_TRACE_TIES_H
#define FTR_TRACE_TIES_H

#include "utils/trace/source.h"

/* Takes @inner, a source of several tasks ordered by time, over; NULL: out of memory. */
struct ftr_source *ftr_ties_new(struct ftr_source *inner);

#endif /* FTR_TRACE_TIES_H */

/* SPDX-License-Identifier: MIT */
/* A sink that hands what it is given to several. */
#ifndef FTR_TRACE_TEE_H
#define FTR_TRACE_TEE_H

#include <stddef.h>

#include "utils/trace/sink.h"

#define FTR_TEE_SINKS 8u

/*
 * @sinks stay the caller's and outlive it; each sees everything, and the first failure ends all.
 * What one cannot hold is not counted.  NULL = out of memory.
 */
struct ftr_sink *ftr_tee_new(struct ftr_sink *const *sinks, size_t nr, struct ftr_err *err);

#endif /* FTR_TRACE_TEE_H */

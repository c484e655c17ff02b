/* SPDX-License-Identifier: MIT */
/* A kind of event of the kernel as the kernel describes it, for writers that keep its records. */
#ifndef FTR_TRACE_TRACEPOINT_H
#define FTR_TRACE_TRACEPOINT_H

#include <stdint.h>

#include "utils/base/text.h"

struct ftr_module;

/* What is needed to read records besides their formats: of one kernel. */
struct ftr_tracepoint_kernel {
	struct ftr_module *module;		/* its symbols, where known */
	struct ftr_slice printk_formats;	/* that file: texts that records point to */
};

/* Lives as long as the trace. */
struct ftr_tracepoint {
	const char *name;		/* "sched:sched_switch" */
	struct ftr_slice format;	/* that file: the second line is "ID: N" */
	uint16_t id;			/* N; records begin with it */
	const struct ftr_tracepoint_kernel *kernel;
};

#endif /* FTR_TRACE_TRACEPOINT_H */

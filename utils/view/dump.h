/* SPDX-License-Identifier: MIT */
/* A trace as it was recorded, record by record and task by task, as uftrace dump lists it. */
#ifndef FTR_VIEW_DUMP_H
#define FTR_VIEW_DUMP_H

#include <stdbool.h>

#include "utils/base/err.h"
#include "utils/base/ostream.h"

struct ftr_pipeline_options;
struct ftr_trace;

struct ftr_dump_opts {
	bool has_hex;		/* each record's bytes, too */
	const struct ftr_pipeline_options *selection;	/* (borrowed, nullable) */
};

/* Takes the events out of trace->sources, where the selection's watch is let in.  0 or -errno. */
int ftr_dump_print(struct ftr_trace *trace, const struct ftr_dump_opts *opts,
		   struct ftr_ostream *out, struct ftr_err *err);

#endif /* FTR_VIEW_DUMP_H */

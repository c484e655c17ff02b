/* SPDX-License-Identifier: MIT */
/* Opening the data of an analysis command, with warnings printed as they come. */
#ifndef FTR_CMDS_OPEN_H
#define FTR_CMDS_OPEN_H

#include <stdbool.h>

#include "utils/base/err.h"
#include "utils/base/vec.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/rule.h"
#include "utils/trace/rule_plan.h"
#include "utils/trace/source.h"
#include "utils/trace/trace.h"

struct ftr_common;
struct ftr_selection;

struct ftr_opened {
	struct ftr_diag diag;
	struct ftr_trace *trace;
	struct ftr_source *source;	/* (owned) what the selection lets through */
	FTR_VEC(int32_t) tids;		/* (owned) of --tid */
	struct ftr_rules rules;		/* of -F, -N ... */
	struct ftr_rule_plans plans;
	struct ftr_pipeline_options options;	/* the selection, parsed */
};

/*
 * The argument of -d, else ftr.data or uftrace.data, whichever exists, else a directory with one of
 * them in it.
 */
const char *ftr_data_path(const struct ftr_common *common);

/* Name the data that are read where they are not those that the user expects without -d. */
void ftr_data_report_default(const struct ftr_common *common);

/* Does @name, with or without directories, name a program that the trace at that path is of? */
bool ftr_data_is_of_program(const struct ftr_common *common, const char *name);
bool ftr_trace_is_of_program(const struct ftr_trace *trace, const char *name);

/* In which order a command wants events of different tasks. */
enum ftr_order {
	FTR_ORDER_TIME,
	FTR_ORDER_ANY,		/* whatever is cheapest: for sums */
	FTR_ORDER_INPUT,	/* as they come; a trace that has to be read first is refused */
	FTR_ORDER_FOLLOW,	/* ... or is taken in order of time */
	FTR_ORDER_CONSUME,	/* the same, and of a recording nobody else will read the data */
};

/*
 * @selection NULL: the trace itself, without a source.  An exit status; failures are reported.
 */
int  ftr_opened_open(struct ftr_opened *opened, const struct ftr_common *common,
		     const struct ftr_selection *selection, enum ftr_order order);
/*
 * For what works on records: the trace with its own sources; to apply @opened->options is the
 * caller's.
 */
int  ftr_opened_open_records(struct ftr_opened *opened, const struct ftr_common *common,
			     const struct ftr_selection *selection);
void ftr_opened_close(struct ftr_opened *opened);

#endif /* FTR_CMDS_OPEN_H */

/* SPDX-License-Identifier: MIT */
/* The stream of events as calls of a script. */
#ifndef FTR_SCRIPT_SINK_H
#define FTR_SCRIPT_SINK_H

#include "utils/trace/pattern.h"
#include "utils/trace/sink.h"

struct ftr_script;
struct ftr_script_start;

/*
 * @script and @start are borrowed; @match says what UFTRACE_FUNCS are.  NULL: described.  A script
 * that wants no more ends the pumping with -ECANCELED.
 */
struct ftr_sink *ftr_script_sink_new(struct ftr_script *script,
				     const struct ftr_script_start *start, enum ftr_match match,
				     struct ftr_err *err);

#endif /* FTR_SCRIPT_SINK_H */

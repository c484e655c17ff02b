/* SPDX-License-Identifier: MIT */
/*
 * calls: makes a stream well-formed, once and for every sink.
 *
 * What comes out holds per task: times that do not decrease; ENTRY and EXIT nested and balanced,
 * both of the same function; depth counted exactly.  EXIT gets start_ns and child_ns (callees, and
 * time scheduled out); a sched-in gets start_ns of its sched-out and counts as a callee.
 *
 * Where ENTRY and EXIT do not match, the recorded depth decides: calls that were left without EXIT
 * (exec, lost records) end at the task's last known time, calls whose ENTRY is missing begin there,
 * those of unknown functions are called FTR_CALLS_LOST_NAME.  Such events are marked
 * FTR_EVENT_INFERRED.  An EXIT of a setjmp that is not open tells of a longjmp: it ends what was
 * left (FTR_EVENT_LEFT), and is passed over.  What is open at the end gets an EXIT with
 * FTR_EVENT_UNFINISHED.
 */
#ifndef FTR_TRACE_CALLS_H
#define FTR_TRACE_CALLS_H

#include <stdbool.h>

#include "utils/trace/source.h"

struct ftr_func;
struct ftr_trace;

#define FTR_CALLS_LOST_NAME "<lost>"

/*
 * Wrap @inner, of one task or of several, and take it over (also on failure).  NULL = out of
 * memory.
 */
struct ftr_source *ftr_calls_new(struct ftr_source *inner, struct ftr_trace *trace);

/* Is it one of the functions that return twice? */
bool ftr_calls_is_setjmp(const struct ftr_func *func);

#endif /* FTR_TRACE_CALLS_H */

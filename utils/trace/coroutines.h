/* SPDX-License-Identifier: MIT */
/*
 * coroutines: gives each stack of a thread a task of its own.
 *
 * A thread's coroutines take turns on it, each with open calls of its own, while a task has one
 * stack of calls.  Where the runtime recorded that a thread went on on another stack (ftr:stack),
 * the events that follow become those of a task that stands for that stack: of the thread's
 * process, task->thread leads to the thread.  A task that is left gets ftr:suspend, and ftr:resume
 * when the thread comes back to it: the time between counts as a callee's.  The first time, a FORK
 * in the task that was left says where the coroutine began.  doc/adr/0033
 */
#ifndef FTR_TRACE_COROUTINES_H
#define FTR_TRACE_COROUTINES_H

#include <stdint.h>

#include "utils/trace/source.h"

struct ftr_task;
struct ftr_trace;

/*
 * The task that stands for stack @nr (not 0) of @thread, made at the first call: a reader that
 * knows which there are makes them while it opens the trace.  NULL = out of memory.
 */
struct ftr_task *ftr_coroutine_task(struct ftr_trace *trace, struct ftr_task *thread, uint32_t nr);

/*
 * Wrap @inner, of one thread or of several, as a reader made it, and take it over (also on
 * failure).  NULL = out of memory.
 */
struct ftr_source *ftr_coroutines_new(struct ftr_source *inner, struct ftr_trace *trace);

#endif /* FTR_TRACE_COROUTINES_H */

/* SPDX-License-Identifier: MIT */
/* Observed calls as events: ENTRY and EXIT of functions named sys_openat ..., FORK. */
#ifndef FTR_FORMAT_ETRACE_EVENTS_H
#define FTR_FORMAT_ETRACE_EVENTS_H

#include "utils/base/istream.h"
#include "utils/trace/trace.h"

struct ftr_etrace_events;

/*
 * Read the text @in and make its tasks in @trace.  Lives as long as the trace.  Violations of the
 * format are warnings.  0, -EBADMSG (nothing in it), -ENOMEM.
 */
int  ftr_etrace_events_load(struct ftr_etrace_events **out, struct ftr_trace *trace,
			    struct ftr_istream *in, struct ftr_err *err);
void ftr_etrace_events_free(struct ftr_etrace_events *events);

/* That of either reader: -EBADMSG. */
int  ftr_etrace_describe_empty(const struct ftr_istream *in, struct ftr_err *err);

/* Once tasks have their sessions: these begin with the execs that made them.  0 or -ENOMEM. */
int  ftr_etrace_events_sessions(struct ftr_etrace_events *events);

/*
 * A source of what the task did, by time, to be merged with what else is known of it.  Each task's
 * once: then, and for tasks without records, *out is NULL.  0 or -ENOMEM.
 */
int  ftr_etrace_events_take(struct ftr_etrace_events *events, const struct ftr_task *task,
			    struct ftr_source **out);

/* Sources of all tasks that were not taken, added to trace->sources.  0 or -ENOMEM. */
int  ftr_etrace_events_take_rest(struct ftr_etrace_events *events);

/* ---- as they come ---- */

/*
 * Read @in, which is taken over, while the one source of @trace is read: records as they come, one
 * at a time.  0, -EBADMSG, -ENOMEM.
 */
int  ftr_etrace_stream_open(struct ftr_trace *trace, struct ftr_istream *in, struct ftr_err *err);

#endif /* FTR_FORMAT_ETRACE_EVENTS_H */

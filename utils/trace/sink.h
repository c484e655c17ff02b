/* SPDX-License-Identifier: MIT */
/* A sink: what consumes events.  One const struct ftr_sink_ops per kind of output. */
#ifndef FTR_TRACE_SINK_H
#define FTR_TRACE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/trace/event.h"
#include "utils/trace/run.h"

struct ftr_ostream;
struct ftr_sink;
struct ftr_summary_row;
struct ftr_trace;

struct ftr_sink_ops {
	size_t   size;			/* bytes of the concrete sink, base included */
	uint32_t accepts;		/* FTR_BIT() of each event type it can represent */
	uint32_t record_max; /* it keeps records of the kernel of so many bytes: tracepoint.h */
	int  (*begin)(struct ftr_sink *sink, const struct ftr_trace *trace);	/* (nullable) */
	int  (*event)(struct ftr_sink *sink, const struct ftr_event *ev);
	/*
	 * (nullable) As event, for a whole batch at once, of any types: what is not accepted has to
	 * be skipped, and is not counted as refused.  For sinks that do so little per event that
	 * the call counts, or whose text is made ahead (text_ahead.h), and which accept all types
	 * or whose output is no copy of the trace.
	 */
	int  (*batch)(struct ftr_sink *sink, const struct ftr_event *evs, size_t nr);
	/* (nullable) As batch, for calls that are summed up already, in this way. */
	int  (*run)(struct ftr_sink *sink, const struct ftr_run *run);
	enum ftr_run_kind run_kind;
	bool takes_short;	/* ... and knows that an EXIT with FTR_EVENT_SHORT does not count */
	/* (nullable: refuses such traces) Calls that were summed up when they were recorded. */
	int  (*sums)(struct ftr_sink *sink, const struct ftr_summary_row *row);
	int  (*end)(struct ftr_sink *sink);					/* (nullable) */
	void (*fini)(struct ftr_sink *sink);	/* (nullable) release what begin allocated */
};

struct ftr_sink {
	const struct ftr_sink_ops *ops;
	struct ftr_ostream *out;	/* (borrowed, nullable) the caller opens and closes it */
	struct ftr_err     *err;	/* (borrowed) first failure is described here */
	const void *values; /* (borrowed, nullable: as it likes) of the format's options */
	uint64_t cut_nr; /* things the format could not hold (deep, long, many), counted */
	const char *cut_what;		/* "arguments beyond 15" (nullable) */
	const char *note; /* "5 lists split" (nullable): kept, but not as one may expect */
};

/* Heap, zeroed beyond the base; NULL when out of memory. */
struct ftr_sink *ftr_sink_new(const struct ftr_sink_ops *ops, struct ftr_ostream *out,
			      struct ftr_err *err);
void ftr_sink_free(struct ftr_sink *sink);	/* calls fini; NULL is fine */

struct ftr_strbuf;
/*
 * Count @nr things of a kind that the format could not hold; @text, empty at first, becomes
 * sink->cut_what.
 */
void ftr_sink_cut(struct ftr_sink *sink, struct ftr_strbuf *text, uint64_t nr, const char *what);

#endif /* FTR_TRACE_SINK_H */

/* SPDX-License-Identifier: MIT */
/*
 * Waist 2: the event, one decoded, time-stamped unit of a trace.
 *
 * Batches of events are passed from source to source and at last to a sink.  Nothing frees an event
 * or what it borrows (task, func: as long as the trace; payload: until the next batch).
 */
#ifndef FTR_TRACE_EVENT_H
#define FTR_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/bits.h"

struct ftr_task;
struct ftr_func;
struct ftr_argspec;
struct ftr_syscall;
struct ftr_tracepoint;

enum ftr_event_type {
	FTR_EVENT_ENTRY,	/* a traced function was called */
	FTR_EVENT_EXIT,		/* it returned */
	FTR_EVENT_POINT,	/* something happened: id and, decoded, data */
	FTR_EVENT_LOST,		/* lost.nr records are missing here (0 = unknown) */
	FTR_EVENT_FORK,		/* the task started the process or thread peer */
	FTR_EVENT_MESSAGE,	/* a text for people */
	FTR_EVENT_TYPES
};

enum ftr_event_flag {
	FTR_EVENT_INFERRED = 1 << 0,   /* not recorded: calls made it up to balance the stream */
	FTR_EVENT_UNFINISHED = 1 << 1, /* EXIT: the call had not returned when the trace ended */
	FTR_EVENT_NO_ENTRY = 1 << 2,   /* ENTRY: began before the task's data, whose first time it
					* has;   EXIT: of such a call, so its duration is cut */
	FTR_EVENT_PREEMPTED = 1 << 3,  /* POINT: linux:sched-out, and its sched-in: pre-empted */
	FTR_EVENT_LEFT = 1 << 4,	/* EXIT: of a call that a longjmp left */
	FTR_EVENT_ARRIVED = 1 << 5,	/* LEFT EXIT: the last of the jump; its caller goes on */
	FTR_EVENT_SHORT = 1 << 6,	/* EXIT: of a call that does not count: threshold_sum.h */
};

/* What rules say of an event that other stages may leave out calls before: see filter.h. */
enum ftr_event_ahead {
	FTR_AHEAD_OFF = 1 << 0,		/* its process is switched off, from here on */
	FTR_AHEAD_COUNTED = 1 << 1,	/* ENTRY: counted out */
	FTR_AHEAD_HIDDEN = 1 << 2,	/* ENTRY: left out, for whatever reason */
};

/* Depth of an ENTRY or EXIT of a format without it (or beyond it: uftrace's saturates). */
#define FTR_DEPTH_UNKNOWN UINT32_MAX

/* What a POINT is.  Formats without these make instants. */
enum ftr_point_kind {
	FTR_POINT_INSTANT,
	FTR_POINT_COUNTER, /* the payload holds values of a time series; id distinguishes those of
			      one name */
	FTR_POINT_ASYNC_BEGIN, /* of an async span, which may outlive calls; id: which */
	FTR_POINT_ASYNC_INSTANT,
	FTR_POINT_ASYNC_END,  /* start_ns is that of its begin, where known */
	FTR_POINT_FLOW_BEGIN, /* of a flow from call to call; id: which */
	FTR_POINT_FLOW_STEP,
	FTR_POINT_FLOW_END, /* start_ns is that of its begin, where known */
};

/* Whose records a LOST counts. */
enum ftr_lost_source {
	FTR_LOST_OF_TASK,	/* the task's own, of the runtime */
	FTR_LOST_OF_PERF,	/* perf events of a CPU, in any of its tasks */
	FTR_LOST_OF_KERNEL,	/* what ftrace recorded on a CPU, in any of its tasks */
	FTR_LOST_SOURCES
};

/*
 * A tracepoint of the kernel is an instant whose id is the one that tracefs gave it; its name is
 * "SYSTEM:NAME", its payload the text that the kernel would print: no NUL, no spec.
 */
#define FTR_TRACEPOINT_ID_MAX 99999u

/*
 * Undecoded argument or return-value bytes (ENTRY, EXIT) or event data (POINT): see trace/args.h.
 */
struct ftr_payload {
	const uint8_t *data;
	const struct ftr_argspec *spec;	/* (nullable: unknown layout) */
	uint16_t len;
	bool is_big_endian;
	uint16_t cpu_nr;		/* of a record: plus 1, 0 = not known */
	uint32_t stack;	/* ENTRY of a system call: trace->stacks has it; 0 = not known */
	/*
	 * (nullable) what an EXIT completes, a FORK or POINT is part of; lives as the trace, or as
	 * the payload where that is_growing
	 */
	const struct ftr_syscall *syscall;
	/*
	 * (nullable) data is the kernel's record of the event, no text or arguments, because the
	 * consumer asked for it (trace->record_max)
	 */
	const struct ftr_tracepoint *tracepoint;
	const char *instance;	/* (nullable: the top one) whose buffer had the record */
};

struct ftr_event {
	uint64_t time_ns;
	struct ftr_task *task;		/* (borrowed) never NULL */
	union {
		struct {			/* ENTRY, EXIT */
			const struct ftr_func *func;	/* (borrowed) never NULL */
			uint64_t addr;		/* as recorded */
			uint64_t start_ns;	/* EXIT, after calls: time of its ENTRY */
			uint64_t child_ns;	/* EXIT, after calls: time inside its callees */
		} call;
		struct {			/* POINT */
			const char *name;	/* (borrowed) "linux:sched-in" */
			uint64_t id; /* INSTANT: of its kind (event_kind.h), else 0; others: see
				      enum ftr_point_kind */
			uint64_t start_ns; /* after calls: of a pair's first half (sched-out); else
					      0 */
			uint8_t  kind;		/* enum ftr_point_kind */
			uint16_t cpu_nr;	/* CPU it happened on, plus 1; 0 = not known */
		} point;
		struct {			/* LOST */
			uint64_t nr;
			uint16_t cpu_nr;	/* that of PERF and KERNEL, plus 1 */
			uint8_t  source;	/* enum ftr_lost_source */
		} lost;
		struct { struct ftr_task *peer; } fork;		/* FORK */
		struct {			/* MESSAGE */
			const char *text;
			/*
			 * Of the call that comes next: which of those around it the text names,
			 * the outermost one is 1.  0 = it is no backtrace.
			 */
			uint32_t caller_nr;
		} message;
	};
	const struct ftr_payload *payload;	/* (borrowed, nullable) */
	uint32_t depth;			/* open calls of the task below this one; after calls exact,
					 * before: as recorded, or FTR_DEPTH_UNKNOWN */
	uint8_t  type;			/* enum ftr_event_type */
	uint8_t  flags;			/* FTR_EVENT_* flags */
	union {
		char    color;		/* ENTRY: to show it in: see ftr_rule; 0 = as usual */
		uint8_t ahead;		/* of filter, to itself: FTR_AHEAD_* */
	};
	uint8_t  verdict;		/* ENTRY: which conditions of rules are true: see judge.h */
};

/* Of a POINT. */
static inline bool ftr_event_is_tracepoint(const struct ftr_event *ev)
{
	return ev->point.kind == FTR_POINT_INSTANT && ev->point.id - 1 < FTR_TRACEPOINT_ID_MAX;
}

/* Does it matter whatever call it is in: spans and flows, lost records, tasks that were started? */
static inline bool ftr_event_outlives_calls(const struct ftr_event *ev)
{
	return (ev->type == FTR_EVENT_POINT && ev->point.kind != FTR_POINT_INSTANT) ||
	       ev->type == FTR_EVENT_LOST || ev->type == FTR_EVENT_FORK;
}

#endif /* FTR_TRACE_EVENT_H */

/* SPDX-License-Identifier: MIT */
/*
 * Kinds of events: what the POINT events that ftr knows are called, carry and pair with.  One table
 * for readers, writers, views and the recorder: a new kind is one row of event_kind.c.
 */
#ifndef FTR_TRACE_EVENT_KIND_H
#define FTR_TRACE_EVENT_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/trace/event.h"

#define FTR_EVENT_VALUES_MAX 3
#define FTR_EVENT_SDT_ARGS_MAX 12
#define FTR_EVENT_STACK_PART_MAX 256	/* bytes of a part: proto/stack_part.h */
#define FTR_EVENT_PAIRS_MAX  64	/* kinds that close a pair */

struct ftr_argspec;
struct ftr_strbuf;

/* Ids of kinds, which stand in POINT events; up to 299999 and EXTERN uftrace's numbers. */
enum ftr_event_id {
	FTR_EVENT_ID_READ_STATM		 = 100001,
	FTR_EVENT_ID_READ_FAULT		 = 100002,
	FTR_EVENT_ID_DIFF_STATM		 = 100003,
	FTR_EVENT_ID_DIFF_FAULT		 = 100004,
	FTR_EVENT_ID_READ_CYCLE		 = 100005,
	FTR_EVENT_ID_DIFF_CYCLE		 = 100006,
	FTR_EVENT_ID_READ_CACHE		 = 100007,
	FTR_EVENT_ID_DIFF_CACHE		 = 100008,
	FTR_EVENT_ID_READ_BRANCH	 = 100009,
	FTR_EVENT_ID_DIFF_BRANCH	 = 100010,
	FTR_EVENT_ID_WATCH_CPU		 = 100011,
	FTR_EVENT_ID_WATCH_VAR		 = 100012,
	FTR_EVENT_ID_CALLSITE		 = 100013,
	FTR_EVENT_ID_SCHED_IN		 = 200001,
	FTR_EVENT_ID_SCHED_OUT		 = 200002,
	FTR_EVENT_ID_SCHEDULE		 = 200003,
	FTR_EVENT_ID_TASK_NEW		 = 200004,
	FTR_EVENT_ID_TASK_EXIT		 = 200005,
	FTR_EVENT_ID_TASK_NAME		 = 200006,
	FTR_EVENT_ID_SCHED_OUT_PREEMPTED = 200007,
	FTR_EVENT_ID_SCHEDULE_PREEMPTED	 = 200008,
	FTR_EVENT_ID_SAMPLE_CPU		 = 200101,	/* of ftr: record --sample */
	FTR_EVENT_ID_SYSTEM_CPU		 = 200111,	/* of ftr: record --system */
	FTR_EVENT_ID_SYSTEM_MEMORY	 = 200112,
	FTR_EVENT_ID_SYSTEM_LOAD	 = 200113,
	FTR_EVENT_ID_SYSTEM_DISK	 = 200114,
	FTR_EVENT_ID_SYSTEM_NETWORK	 = 200115,
	FTR_EVENT_ID_SYSTEM_ENERGY	 = 200116,
	FTR_EVENT_ID_SYSTEM_PROCESS	 = 200117,
	FTR_EVENT_ID_SYSTEM_THREAD	 = 200118,
	FTR_EVENT_ID_STALL_BEGIN	 = 1000000,	/* the runtime's: proto/record.h */
	FTR_EVENT_ID_STALL_END		 = 1000001,
	FTR_EVENT_ID_SUSPEND		 = 1000002,
	FTR_EVENT_ID_RESUME		 = 1000003,
	FTR_EVENT_ID_SUSPENDED		 = 1000004,
	FTR_EVENT_ID_ERRNO		 = 1000010,	/* the runtime's: proto/record.h */
	FTR_EVENT_ID_STACK_PART		 = 1000020,	/* in rings alone */
	FTR_EVENT_ID_BACKTRACE		 = 1000021,
	FTR_EVENT_ID_SDT		 = 1500000,	/* and on: by their names in events.txt */
	FTR_EVENT_ID_SDT_LAST		 = 1999999,
	FTR_EVENT_ID_EXTERN		 = 2000000,
	FTR_EVENT_ID_MALLOC		 = 3000001,	/* the runtime's: proto/record.h */
	FTR_EVENT_ID_CALLOC		 = 3000002,
	FTR_EVENT_ID_MEMALIGN		 = 3000003,
	FTR_EVENT_ID_NEW		 = 3000004,
	FTR_EVENT_ID_REALLOC		 = 3000005,
	FTR_EVENT_ID_FREE		 = 3000006,
	FTR_EVENT_ID_DELETE		 = 3000007,
	FTR_EVENT_ID_MMAP		 = 3000008,
	FTR_EVENT_ID_MUNMAP		 = 3000009,
	FTR_EVENT_ID_MREMAP		 = 3000010,
	FTR_EVENT_ID_BRK		 = 3000011,
	FTR_EVENT_ID_SYNC_MUTEX		 = 3000101,	/* each is followed by its end */
	FTR_EVENT_ID_SYNC_READ		 = 3000103,
	FTR_EVENT_ID_SYNC_WRITE		 = 3000105,
	FTR_EVENT_ID_SYNC_COND		 = 3000107,
	FTR_EVENT_ID_SYNC_BARRIER	 = 3000109,
	FTR_EVENT_ID_SYNC_SEM		 = 3000111,
	FTR_EVENT_ID_SYNC_JOIN		 = 3000113,
	FTR_EVENT_ID_SYNC_LAST		 = 3000114,
	FTR_EVENT_ID_FILE_READ		 = 3000201,
	FTR_EVENT_ID_FILE_WRITE		 = 3000203,
	FTR_EVENT_ID_FILE_LOCK		 = 3000205,
	FTR_EVENT_ID_FILE_UNLOCK	 = 3000207,
	FTR_EVENT_ID_FILE_CLOSE		 = 3000209,
	FTR_EVENT_ID_FILE_SEEK		 = 3000211,
	FTR_EVENT_ID_FILE_FLUSH		 = 3000213,
	FTR_EVENT_ID_FILE_SETSIZE	 = 3000215,
	FTR_EVENT_ID_FILE_SETMODE	 = 3000217,
	FTR_EVENT_ID_FILE_DUP		 = 3000219,
	FTR_EVENT_ID_FILE_READDIR	 = 3000221,
	FTR_EVENT_ID_FILE_SETOWNER	 = 3000223,
	FTR_EVENT_ID_FILE_FSTAT		 = 3000225,
	FTR_EVENT_ID_FILE_OPEN		 = 3000231,	/* from here on with a path */
	FTR_EVENT_ID_FILE_OPENDIR	 = 3000233,
	FTR_EVENT_ID_FILE_MKDIR		 = 3000235,
	FTR_EVENT_ID_FILE_CHDIR		 = 3000237,
	FTR_EVENT_ID_FILE_UNLINK	 = 3000239,
	FTR_EVENT_ID_FILE_CHMOD		 = 3000241,
	FTR_EVENT_ID_FILE_CHOWN		 = 3000243,
	FTR_EVENT_ID_FILE_TRUNCATE	 = 3000245,
	FTR_EVENT_ID_FILE_STAT		 = 3000247,
	FTR_EVENT_ID_FILE_ACCESS	 = 3000249,
	FTR_EVENT_ID_FILE_RENAME	 = 3000261,	/* ... with two */
	FTR_EVENT_ID_FILE_LINK		 = 3000263,
	FTR_EVENT_ID_FILE_SYMLINK	 = 3000265,
	FTR_EVENT_ID_FILE_LAST		 = 3000266,
	FTR_EVENT_ID_NET_SOCKET		 = 3000301,
	FTR_EVENT_ID_NET_BIND		 = 3000303,
	FTR_EVENT_ID_NET_CONNECT	 = 3000305,
	FTR_EVENT_ID_NET_LISTEN		 = 3000307,
	FTR_EVENT_ID_NET_ACCEPT		 = 3000309,
	FTR_EVENT_ID_NET_RECEIVE	 = 3000311,
	FTR_EVENT_ID_NET_SEND		 = 3000313,
	FTR_EVENT_ID_NET_RECEIVE_FROM	 = 3000315,
	FTR_EVENT_ID_NET_SEND_TO	 = 3000317,
	FTR_EVENT_ID_NET_SHUTDOWN	 = 3000319,
	FTR_EVENT_ID_NET_CLOSE		 = 3000321,
	FTR_EVENT_ID_NET_DUP		 = 3000323,
	FTR_EVENT_ID_NET_WAIT		 = 3000325,
	FTR_EVENT_ID_NET_LAST		 = 3000326,
	FTR_EVENT_ID_THREAD_CREATE	 = 3000401,
	FTR_EVENT_ID_THREAD_DETACH	 = 3000403,
	FTR_EVENT_ID_THREAD_CANCEL	 = 3000405,
	FTR_EVENT_ID_THREAD_EXIT	 = 3000407,
	FTR_EVENT_ID_USER_MARK		 = 3000501,
	FTR_EVENT_ID_USER_MESSAGE	 = 3000502,
	FTR_EVENT_ID_USER_COUNTER	 = 3000503,
	FTR_EVENT_ID_USER_CHART		 = 3000504,
	FTR_EVENT_ID_USER_SPAN_BEGIN	 = 3000505,
	FTR_EVENT_ID_USER_SPAN_END	 = 3000506,
	FTR_EVENT_ID_STACK		 = 0x40000000,	/* and on: proto/record.h */
	FTR_EVENT_ID_STACK_LAST		 = 0x7fffffff,
};

/* What is added to FTR_EVENT_ID_STACK: ftr_record_stack_id, proto/record.h. */
#define FTR_EVENT_STACK_NEW	    1u
#define FTR_EVENT_STACK_NR_SHIFT    1
#define FTR_EVENT_STACK_NR_MAX	    4095u
#define FTR_EVENT_STACK_MOVED_SHIFT 13
#define FTR_EVENT_STACK_MOVED_MAX   131071u

/* Perf events have ids from BEGIN up to END, exclusive. */
#define FTR_EVENT_ID_PERF_BEGIN 200001u
#define FTR_EVENT_ID_PERF_END	300000u

/* What the payload of an event without a spec holds. */
enum ftr_event_data {
	FTR_EVENT_DATA_BYTES,		/* nothing, or bytes that are shown as text */
	FTR_EVENT_DATA_TEXT,		/* a text */
	FTR_EVENT_DATA_VALUES,		/* a u64 for each label */
	FTR_EVENT_DATA_DIFFERENCES,	/* an s64 for each label */
	FTR_EVENT_DATA_CPU,		/* s32: a CPU's number */
	FTR_EVENT_DATA_VARIABLE,	/* the address of a variable, and its value */
	FTR_EVENT_DATA_TASK_NAME,
	FTR_EVENT_DATA_ADDRESS,		/* u64: an address in the program's code */
	FTR_EVENT_DATA_SPEC,		/* the values of the kind's spec */
	FTR_EVENT_DATA_STACK,		/* u64 each: see trace/sample.h */
	FTR_EVENT_DATA_SDT,		/* types and values: proto/sdt.h */
};

/* What perf_event_open(2) is asked for to have an event recorded. */
enum ftr_event_perf {
	FTR_PERF_SCHED = 1 << 0, /* PERF_RECORD_SWITCH */
	FTR_PERF_TASK  = 1 << 1, /* PERF_RECORD_FORK, PERF_RECORD_EXIT */
	FTR_PERF_NAME  = 1 << 2, /* PERF_RECORD_COMM; the kernel adds those of FTR_PERF_TASK */
};
#define FTR_PERF_ALL (FTR_PERF_SCHED | FTR_PERF_TASK | FTR_PERF_NAME)

struct ftr_event_kind {
	uint32_t id;
	const char *name;	/* "PROVIDER:NAME" */
	uint32_t closed_by;	/* id of the event that ends what this one begins, 0 = none */
	/*
	 * Id of the kind that stands for both together, and is shown as a call of the task: calls
	 * pairs them.  0 = none.
	 */
	uint32_t pair;
	bool     is_uftrace;	/* uftrace knows it; others are named in events.txt */
	bool     is_late;	/* of those: since 0.14, so its data are kept from older ones */
	bool     is_runtime;	/* recorded by the runtime */
	uint8_t  perf;		/* enum ftr_event_perf bits, 0 = not recorded by perf */
	uint8_t  data;		/* enum ftr_event_data */
	uint8_t  value_nr;
	uint16_t bytes_max;	/* of BYTES and TEXT that the runtime records, 0 = they are empty */
	const char *labels[FTR_EVENT_VALUES_MAX];	/* value_nr of them */
	const char *unit;	/* (nullable) of all values */
	const struct ftr_argspec *spec;	/* of SPEC, else NULL: values of 8 bytes, with names */
};

const struct ftr_event_kind *ftr_event_kind_by_id(uint64_t id);		/* NULL = none */
const struct ftr_event_kind *ftr_event_kind_by_name(const char *name);	/* NULL = none */

/* Is it kept beside TID.dat?  uftrace stops at data of events that it does not know. */
static inline bool ftr_event_kind_is_aside(const struct ftr_event_kind *kind, size_t bytes)
{
	return bytes != 0 && (!kind->is_uftrace || kind->is_late);
}

/* Is @bytes what the payload of an event of @kind has when the runtime records it? */
bool ftr_event_kind_fits(const struct ftr_event_kind *kind, size_t bytes);

/* Is @id of a kind of the system's state? */
static inline bool ftr_event_id_is_system(uint64_t id)
{
	return id >= FTR_EVENT_ID_SYSTEM_CPU && id <= FTR_EVENT_ID_SYSTEM_THREAD;
}

/* Iterate, by id: *pos starts at 0; NULL at the end. */
const struct ftr_event_kind *ftr_event_kind_next(size_t *pos);

/* "linux:schedule": what @opens_id and the event that closes it are together; both must exist. */
const char *ftr_event_pair_name(uint32_t opens_id);

/* Append the names of what @perf bits record, pairs as one: "linux:schedule, linux:task-new". */
void ftr_event_perf_names(unsigned perf, struct ftr_strbuf *text);

/* Of a POINT: the id of its kind or tracepoint, 0 = none: only an INSTANT's id is one of these. */
static inline uint64_t ftr_event_kind_id(const struct ftr_event *ev)
{
	return ev->point.kind == FTR_POINT_INSTANT ? ev->point.id : 0;
}

static inline enum ftr_event_id ftr_sched_out_id(bool is_preempted)
{
	return is_preempted ? FTR_EVENT_ID_SCHED_OUT_PREEMPTED : FTR_EVENT_ID_SCHED_OUT;
}

static inline bool ftr_event_id_is_sched_out(uint64_t id)
{
	return id == FTR_EVENT_ID_SCHED_OUT || id == FTR_EVENT_ID_SCHED_OUT_PREEMPTED;
}

static inline bool ftr_event_id_is_sched(uint64_t id)
{
	return (id >= FTR_EVENT_ID_SCHED_IN && id <= FTR_EVENT_ID_SCHEDULE) ||
	       id == FTR_EVENT_ID_SCHED_OUT_PREEMPTED || id == FTR_EVENT_ID_SCHEDULE_PREEMPTED;
}

/* Of a POINT: the task leaves its CPU. */
static inline bool ftr_event_is_sched_out(const struct ftr_event *ev)
{
	return ftr_event_id_is_sched_out(ftr_event_kind_id(ev));
}

/* Of a POINT: the task gets a CPU. */
static inline bool ftr_event_is_sched_in(const struct ftr_event *ev)
{
	return ftr_event_kind_id(ev) == FTR_EVENT_ID_SCHED_IN;
}

/* Of a POINT, after calls: the kind of the sched-out that @ev is, or ends. */
static inline enum ftr_event_id ftr_event_sched_out_id(const struct ftr_event *ev)
{
	return ftr_sched_out_id((ev->flags & FTR_EVENT_PREEMPTED) != 0);
}

/* The task waits for room in its ring, or does no more. */
static inline bool ftr_event_id_is_stall(uint64_t id)
{
	return id == FTR_EVENT_ID_STALL_BEGIN || id == FTR_EVENT_ID_STALL_END;
}

/* Of a LOST, for people: "LOST 12 events of CPU 0". */
#define FTR_EVENT_LOST_TEXT_MAX 64
void ftr_event_lost_text(const struct ftr_event *ev, char text[FTR_EVENT_LOST_TEXT_MAX]);

/* Of a POINT, after calls: a sched-in whose sched-out is known. */
static inline bool ftr_event_ends_schedule(const struct ftr_event *ev)
{
	return ftr_event_is_sched_in(ev) && ev->point.start_ns != 0;
}

#endif /* FTR_TRACE_EVENT_KIND_H */

/* SPDX-License-Identifier: MIT */
/* The state of the system (ftr record --system): counters, whose names are those of kinds. */
#ifndef FTR_TRACE_SYSTEM_H
#define FTR_TRACE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/trace/event_kind.h"

#define FTR_SYSTEM_VALUES_MAX 8
#define FTR_SYSTEM_PREFIX     "system:"

/* Where the values of a kind stand in its spec. */
enum { FTR_SYSTEM_CPU_USER, FTR_SYSTEM_CPU_SYSTEM, FTR_SYSTEM_CPU_IDLE };
enum { FTR_SYSTEM_MEMORY_TOTAL, FTR_SYSTEM_MEMORY_USED };
enum {
	FTR_SYSTEM_PROCESS_USER,
	FTR_SYSTEM_PROCESS_SYSTEM,
	FTR_SYSTEM_PROCESS_VIRTUAL,
	FTR_SYSTEM_PROCESS_RESIDENT,
	FTR_SYSTEM_PROCESS_SHARED,
};
enum { FTR_SYSTEM_THREAD_USER, FTR_SYSTEM_THREAD_SYSTEM };
enum { FTR_SYSTEM_NETWORK_RECEIVED, FTR_SYSTEM_NETWORK_SENT = 2 };

/* What one record says: some values of the state at a moment. */
struct ftr_system_sample {
	uint64_t time_ns;
	uint64_t number;	/* of a CPU, pid, tid; else 0 */
	uint32_t pid, tid;	/* whose, or in whose stream it stands */
	uint32_t id;		/* FTR_EVENT_ID_SYSTEM_* */
	uint64_t values[FTR_SYSTEM_VALUES_MAX];	/* as its kind's spec has them */
};

/*
 * The sample that @ev is: a COUNTER of a kind's name ("system:memory"; of a processor with its
 * number behind it: "system:cpu3"), with the kind's values.  False: it is none.
 */
bool ftr_system_sample_get(const struct ftr_event *ev, struct ftr_system_sample *sample);

#endif /* FTR_TRACE_SYSTEM_H */

/* SPDX-License-Identifier: MIT */
/*
 * The control block: how to record, for every process alike, in one memfd that the recorder keeps
 * mapped for writing and the traced process maps read-only (F_SEAL_FUTURE_WRITE).  What concerns
 * one module is in its sections (utils/proto/sections.h).
 */
#ifndef FTR_PROTO_CONTROL_H
#define FTR_PROTO_CONTROL_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/proto/tried.h"

#define FTR_CONTROL_MAGIC	0x43525446u	/* "FTRC" */
#define FTR_CONTROL_VERSION	5u

#define FTR_TRIED_MAX 96u		/* all in one page, also with what the recorder has there */

#define FTR_COUNTER_STEP_NS 1000u	/* FTR_CONTROL_CLOCK_COUNTER */

/* What word 0 of a record in a ring counts. */
enum ftr_control_clock {
	FTR_CONTROL_CLOCK_TSC     = 0,	/* the processor's counter; the recorder converts */
	FTR_CONTROL_CLOCK_VDSO    = 1,	/* clock_gettime(clock_id) nanoseconds */
	FTR_CONTROL_CLOCK_COUNTER = 2,	/* per process: +1000 at each read, for tests */
};

enum ftr_on_full {
	FTR_ON_FULL_WAIT      = 0,	/* wait for the recorder; nothing is lost */
	FTR_ON_FULL_DROP      = 1,	/* go on, count LOST */
	FTR_ON_FULL_OVERWRITE = 2,	/* keep the newest (flight recorder) */
};

enum ftr_control_flag {
	FTR_CONTROL_ESTIMATE_RETURN = 1 << 0,	/* leave return addresses alone */
};

struct ftr_control {
	uint32_t magic;
	uint32_t version;
	uint32_t flags;			/* FTR_CONTROL_* flags */
	uint32_t clock;			/* enum ftr_control_clock */
	int32_t  clock_id;		/* clockid_t for FTR_CONTROL_CLOCK_VDSO */
	uint32_t on_full;		/* enum ftr_on_full */
	uint32_t ring_bytes;		/* power of two, FTR_RING_MIN_BYTES.. */
	_Atomic uint32_t depth_max;	/* deepest call recorded (-D); 0 = no limit */
	uint32_t stack_max;		/* frames of a shadow stack (--max-stack) */
	uint32_t wait_ms;		/* longest wait for room before it counts as lost */
	uint32_t ticks_per_ms;		/* of FTR_CONTROL_CLOCK_TSC, roughly: to bound that wait */
	uint32_t slot_max;		/* threads of a process that are traced at a time */
	_Atomic uint32_t stopped;	/* not 0: the recorder takes no more; disarm */

	/*
	 * A robust futex that the recorder holds while it lives: the kernel sets
	 * FUTEX_OWNER_DIED (0x40000000) in it when the recorder dies, however that happens,
	 * so a task that waits for room sees it without a system call.
	 */
	_Atomic uint32_t recorder_futex;
	_Atomic uint32_t answered;	/* messages, ever: grows while a busy recorder works */
	_Atomic uint32_t generation;	/* of the sections handed out (utils/proto/sections.h) */

	/* Each is there before its number is, and is never changed: readers need no lock. */
	_Atomic uint32_t tried_nr;	/* release; <= FTR_TRIED_MAX */
	uint32_t reserved;
	struct ftr_tried_file tried[FTR_TRIED_MAX];
};
static_assert(offsetof(struct ftr_control, tried) == 72, "of one layout for each machine");

#endif /* FTR_PROTO_CONTROL_H */

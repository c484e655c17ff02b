/* SPDX-License-Identifier: MIT */
/*
 * The gate: which calls are recorded, where rules say so (utils/proto/rules.h).
 *
 * What a call leaves to those that it makes (whether they are inside a filter, how deep they may
 * go ...) stands in its frame, so the state of a call is that of the frame below it.  Nothing is
 * counted up and down: however frames end, by a return, a jump, an exception or a switch to another
 * coroutine, there is nothing to restore.  A call that is not recorded and changes nothing for its
 * callees needs no frame: its return address stays.  doc/adr/0027
 */
#ifndef FTR_LIBMCOUNT_GATE_H
#define FTR_LIBMCOUNT_GATE_H

#include "libmcount/hook.h"
#include "libmcount/values.h"
#include "utils/proto/rules.h"

struct ftr_call_rule;

#define FTR_GATE_DEEP UINT64_MAX	/* no limit of depth */

/* What a call leaves to those that it makes.  Words: what is copied is not waited for in parts. */
struct ftr_gate_state {
	uint64_t time;			/* ticks that a call must take; 0 = it need not wait */
	uint64_t depth;			/* so deep they may go, or FTR_GATE_DEEP */
	uint64_t recorded;		/* calls on the way here that are recorded, or wait */
	uint64_t size_min;		/* bytes of a function's code */
	uint64_t inside;		/* FTR_CALL_FILTER, FTR_CALL_NOTRACE: of such calls */
};

enum ftr_gate_status {
	FTR_GATE_NONE = 0,		/* a free frame's, and that of one that is being filled */
	FTR_GATE_UNRECORDED,
	FTR_GATE_WAITS,			/* its ENTRY is put when it is known to be wanted */
	FTR_GATE_BEGUN,			/* its ENTRY is in the ring, its EXIT is not */
};

/* What is done at a call, besides recording it: bits. */
enum ftr_gate_action {
	FTR_GATE_CALLSITE = 1 << 0,
	FTR_GATE_READ = 1 << 1,
	FTR_GATE_RECOVER = 1 << 2,
};

/* Beside each frame of a gated thread. */
struct ftr_gate_frame {
	struct ftr_gate_state after;
	uint64_t status;		/* enum ftr_gate_status; changes hands by one instruction */
	uint64_t tick;			/* of its ENTRY */
	uint32_t payload_bytes;		/* of an ENTRY that waits */
	bool is_caller;			/* FTR_CALL_CALLER */
	bool has_arguments, has_retval;	/* to be captured */
	uint8_t actions;		/* enum ftr_gate_action */
};
static_assert(sizeof(struct ftr_gate_frame) == 64, "one cache line");

/* What the rules say of a function: found once, then by its address. */
#define FTR_GATE_KNOWN 512		/* a power of two */

struct ftr_gate_known {
	uint64_t check;			/* address ^ rule: not both by chance, see known_at */
	uint64_t rule;			/* const struct ftr_call_rule *, or 0; and these: */
};
#define FTR_GATE_ARGUMENTS UINT64_C(1)	/* are captured of its calls */
#define FTR_GATE_RETVAL UINT64_C(2)

/* The programs of functions that have any, likewise. */
#define FTR_GATE_PROGRAMS 128		/* a power of two */

struct ftr_gate_programs {
	uint64_t check;			/* address ^ all words of the programs */
	struct ftr_values_programs programs;
};

/* Beside each frame where calls read: what was read when it began. */
#define FTR_GATE_READ_VALUES 5

struct ftr_gate_reads {
	uint64_t kinds;			/* FTR_CALL_READ_* flags */
	uint64_t values[FTR_GATE_READ_VALUES];
};

/* Calls of functions whose rules count them, by their addresses. */
#define FTR_GATE_COUNTERS 4096		/* a power of two */

struct ftr_gate_counter {
	uint64_t func;			/* 0 = free */
	uint64_t sampled_nr;		/* calls */
	uint64_t second;		/* the tick at which the second began, 0 = none has */
	uint64_t rated_nr;		/* calls of that second */
};

/* Of one thread. */
struct ftr_gate {
	struct ftr_gate_state start;	/* below all frames */
	struct ftr_gate_frame *frames;	/* as many as the slot has */
	uint64_t tick;			/* of the newest frame, which orders those that keep none */
	bool has_waited;		/* an ENTRY has ever waited */
	uint32_t flags;			/* FTR_CALLS_* of the image */
	uint32_t module_generation;	/* of what is known: ftr_state's */
	uint32_t rules_generation;	/* ... ftr_state's */
	uint32_t control_generation;	/* ... the control block's */
	uint8_t *payloads;		/* FTR_GATE_PAYLOAD bytes a frame; NULL = no values */
	uint64_t payload_nr;		/* of them: calls that are deeper have no values */
	struct ftr_gate_reads *reads;	/* as many as frames; NULL = nothing reads */
	uintptr_t *recovering;		/* loc of the outermost open call that recovers */
	int32_t cpu;			/* plus 1, of the last look: see watch.h */
	bool has_watch;
	struct ftr_gate_counter *counters;	/* FTR_GATE_COUNTERS; NULL = nothing counts */
	struct ftr_gate_known known[FTR_GATE_KNOWN];
	struct ftr_gate_programs programs[FTR_GATE_PROGRAMS];
};
#define FTR_GATE_PAYLOAD 1024u
#define FTR_GATE_PAYLOADS 16384u	/* 16 MB of address space for a thread */
static_assert(FTR_PAYLOAD_MAX <= FTR_GATE_PAYLOAD, "the longest payload fits");

/* What the gate decides about a call. */
enum ftr_gate_way {
	FTR_GATE_PASS,			/* not recorded, and no frame is needed */
	FTR_GATE_KEEP,			/* not recorded, but callees must know about it */
	FTR_GATE_WAIT,			/* recorded when it turns out to be wanted */
	FTR_GATE_RECORD,
};

struct ftr_gate_passage {
	struct ftr_gate_state after;
	bool is_caller;
	bool has_arguments, has_retval;
	uint8_t actions;		/* enum ftr_gate_action */
	uint32_t reads;			/* FTR_CALL_READ_* flags */
};

/* Is this process gated?  Bytes that a thread's gate takes up then, else 0. */
uint64_t ftr_gate_bytes(uint64_t frame_nr) FTR_HIDDEN;

/* Make the gate of a new thread at @mem, of ftr_gate_bytes of zeros. */
struct ftr_gate *ftr_gate_init(void *mem, uint64_t frame_nr) FTR_HIDDEN;

/* What becomes of a call of @func by one that left @before.  *@passage: unless it passes. */
enum ftr_gate_way ftr_gate_decide(struct ftr_thread *self, const struct ftr_gate_state *before,
				  uintptr_t func, struct ftr_gate_passage *passage) FTR_HIDDEN;

/* What is captured of calls of @func, which has values. */
struct ftr_values_programs ftr_gate_programs(struct ftr_thread *self, uintptr_t func) FTR_HIDDEN;

static inline struct ftr_gate_frame *ftr_gate_frame(const struct ftr_thread *self,
						    const struct ftr_frame *frame)
{
	return &self->gate->frames[frame - self->frames];
}

#endif /* FTR_LIBMCOUNT_GATE_H */

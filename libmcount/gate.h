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

#include "arch/values.h"
#include "libmcount/hook.h"
#include "libmcount/state.h"
#include "libmcount/values.h"
#include "libmcount/values_decide.h"
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
	FTR_GATE_DUMP = 1 << 3,		/* when it ends, if its condition is true */
	FTR_GATE_STACK = 1 << 4,
};

/* Beside each frame of a gated thread. */
struct ftr_gate_frame {
	struct ftr_gate_state after;
	uint64_t status;		/* enum ftr_gate_status; changes hands by one instruction */
	uint64_t tick;			/* of its ENTRY */
	union {
		uint64_t extras;		/* all of these, for one store, and one test */
		struct {
			uint32_t payload_bytes;		/* of an ENTRY that waits */
			bool is_caller;			/* FTR_CALL_CALLER */
			bool has_arguments, has_retval;	/* to be captured */
			uint8_t actions;		/* enum ftr_gate_action */
		};
	};
};
static_assert(sizeof(struct ftr_gate_frame) == 64, "one cache line");

/* extras of a frame that has_retval alone. */
#define FTR_GATE_EXTRA_RETVAL \
	(UINT64_C(1) << 8 * (offsetof(struct ftr_gate_frame, has_retval) - \
			     offsetof(struct ftr_gate_frame, extras)))

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
	uint64_t quick_check;		/* ... of programs.quick */
	struct ftr_values_programs programs;
};

/* Beside each frame where calls have to do with how they began: what they were then. */
#define FTR_GATE_READ_VALUES (6 + FTR_PMU_COUNTERS)

struct ftr_gate_reads {
	uint64_t kinds;			/* FTR_CALL_READ_* flags */
	uint64_t pid;			/* whose values: a child returns from calls, too */
	uint64_t values[FTR_GATE_READ_VALUES];
	uint64_t tick;			/* ... and these of FTR_GATE_DUMP */
	struct ftr_values_judged judged;
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
	struct ftr_gate_frame *frames;	/* as many as the slot has, and one below all frames */
	uint64_t tick;			/* of the newest frame, which orders those that keep none */
	bool has_waited;		/* an ENTRY has ever waited */
	bool is_plain;			/* neither watch points nor FTR_CALLS_CALLERS: see lean.h */
	uint32_t flags;			/* FTR_CALLS_* of the image */
	uint32_t module_generation;	/* of what is known: ftr_state's */
	uint32_t rules_generation;	/* ... ftr_state's */
	uint32_t control_generation;	/* ... the control block's */
	uint8_t *payloads;		/* FTR_GATE_PAYLOAD bytes a frame; NULL = no values */
	uint64_t payload_nr;		/* of them: calls that are deeper have no values */
	struct ftr_gate_reads *reads;	/* as many as frames; NULL = nothing needs it */
	uintptr_t *recovering;		/* loc of the outermost open call that recovers */
	int32_t cpu;			/* plus 1, of the last look: see watch.h */
	bool has_watch;
	uint32_t stack_nr;		/* that were put: backtrace.c */
	struct ftr_gate_counter *counters;	/* FTR_GATE_COUNTERS; NULL = nothing counts */
	struct ftr_gate_known known[FTR_GATE_KNOWN];
	struct ftr_gate_programs programs[FTR_GATE_PROGRAMS];
};
#define FTR_GATE_PAYLOAD 1024u
#define FTR_GATE_PAYLOADS 16384u	/* 16 MB of address space for a thread */
static_assert(FTR_PAYLOAD_MAX / 8 * 8 + sizeof(uint64_t) <= FTR_GATE_PAYLOAD,
	      "the longest payload fits, and a word");

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
	bool asks_dump;			/* behind its ENTRY, if it has one */
	uint8_t actions;		/* enum ftr_gate_action */
	uint32_t reads;			/* FTR_CALL_READ_* flags */
};

/* Are values of calls recorded, or may they be later? */
bool ftr_gate_may_have_values(void) FTR_HIDDEN;

/* Is this process gated?  Bytes that a thread's gate takes up then, else 0. */
uint64_t ftr_gate_bytes(uint64_t frame_nr) FTR_HIDDEN;

/* Make the gate of a new thread at @mem, of ftr_gate_bytes of zeros. */
struct ftr_gate *ftr_gate_init(void *mem, uint64_t frame_nr) FTR_HIDDEN;

/* What becomes of @call by one that left @before.  *@passage: if it passes, asks_dump alone. */
enum ftr_gate_way ftr_gate_decide(struct ftr_thread *self, const struct ftr_gate_state *before,
				  const struct ftr_call *call,
				  struct ftr_gate_passage *passage) FTR_HIDDEN;

/* What the recorder keeps is to be written, up to here. */
void ftr_gate_dump(const struct ftr_thread *self) FTR_HIDDEN;

/* The time between two ticks, roughly. */
uint64_t ftr_gate_elapsed_ns(uint64_t from, uint64_t to) FTR_HIDDEN;

/* What is captured of calls of @func, which has values. */
struct ftr_values_programs ftr_gate_programs(struct ftr_thread *self, uintptr_t func) FTR_HIDDEN;

/* What is left to calls that no other made. */
static inline struct ftr_gate_state *ftr_gate_start(const struct ftr_gate *gate)
{
	return &gate->frames[-1].after;
}

/* Are the rules still those that it has taken over? */
static inline bool ftr_gate_has_rules(const struct ftr_gate *gate)
{
	return gate->rules_generation == atomic_load_explicit(&ftr_state.rules_generation,
							      memory_order_relaxed) &&
	       gate->control_generation ==
		       atomic_load_explicit(&ftr_state.control->generation, memory_order_relaxed);
}

/* Is what is known of functions still true? */
static inline bool ftr_gate_is_current(const struct ftr_gate *gate)
{
	return gate->module_generation == atomic_load_explicit(&ftr_state.module_generation,
							       memory_order_relaxed) &&
	       ftr_gate_has_rules(gate);
}

/*
 * The two words of an entry may be of two functions, when a handler came between their stores: then
 * their exclusive or is no address, or another one than is looked for.
 */
static inline struct ftr_gate_known *ftr_gate_known_at(struct ftr_gate *gate, uintptr_t func)
{
	return &gate->known[(func >> 4 ^ func >> 13) % FTR_GATE_KNOWN];
}

static inline struct ftr_gate_frame *ftr_gate_frame(const struct ftr_thread *self,
						    const struct ftr_frame *frame)
{
	return &self->gate->frames[frame - self->frames];
}

/*
 * Does @frame have a state?  Not while a hook that we interrupted fills it, but while one closes
 * it: its EXIT comes after our records.
 */
static inline bool ftr_gate_is_open(const struct ftr_thread *self, const struct ftr_frame *frame)
{
	return frame >= self->frames && frame->loc != NULL &&
	       (!ftr_frame_is_busy(frame->loc) ||
		ftr_gate_frame(self, frame)->status != FTR_GATE_NONE);
}

/* The call of @frame, whose values are in @regs (nullable). */
static inline struct ftr_call ftr_gate_call(const struct ftr_frame *frame,
					    const struct ftr_regs *regs)
{
	return (struct ftr_call){
		.regs = regs,
		.slot = (const uintptr_t *)((uintptr_t)frame->loc & ~(uintptr_t)FTR_FRAME_BUSY),
		.func = frame->func,
	};
}

static inline struct ftr_gate_programs *ftr_gate_programs_at(const struct ftr_gate *gate,
							     uintptr_t func)
{
	return (struct ftr_gate_programs *)&gate->programs[(func >> 4 ^ func >> 11) %
							   FTR_GATE_PROGRAMS];
}

/* A frame's room for values. */
static inline uint8_t *ftr_gate_payload(const struct ftr_thread *self,
					const struct ftr_frame *frame)
{
	return self->gate->payloads + (uint64_t)(frame - self->frames) * FTR_GATE_PAYLOAD;
}

/*
 * Where the call of @frame leaves a value of many words: told when it begins, and kept behind all
 * that a program makes.  Of frames whose value is captured alone.
 */
static inline uintptr_t *ftr_gate_result(const struct ftr_thread *self,
					 const struct ftr_frame *frame)
{
	return (uintptr_t *)(ftr_gate_payload(self, frame) + FTR_GATE_PAYLOAD) - 1;
}

static inline void ftr_gate_result_keep(const struct ftr_thread *self,
					const struct ftr_frame *frame, const uintptr_t *slot,
					const struct ftr_regs *regs)
{
	*ftr_gate_result(self, frame) = regs != NULL ? ftr_arch_result(regs, slot) : 0;
}

static inline uint64_t ftr_gate_quick_check(const struct ftr_values_quick *quick, uintptr_t func)
{
	return func ^ quick->entry ^ quick->exit ^ quick->literals ^ quick->literal_bytes;
}

static inline uint64_t ftr_gate_programs_check(const struct ftr_values_programs *programs,
					       uintptr_t func)
{
	return func ^ (uintptr_t)programs->entry ^ (uintptr_t)programs->exit ^
	       (uintptr_t)programs->values ^ programs->base ^ (uintptr_t)programs->image ^
	       programs->test ^ (uint64_t)programs->dump << 32 ^
	       (uint64_t)programs->dump_nr << 48 ^ ftr_gate_quick_check(&programs->quick, 0);
}

/* What of that is needed where a value is a register or a literal; all 0: not known. */
static inline struct ftr_values_quick ftr_gate_quick(const struct ftr_gate *gate, uintptr_t func)
{
	const struct ftr_gate_programs *slot = ftr_gate_programs_at(gate, func);
	struct ftr_values_quick quick = slot->programs.quick;

	if (unlikely(slot->quick_check != ftr_gate_quick_check(&quick, func)))
		quick = (struct ftr_values_quick){ 0 };
	return quick;
}

#endif /* FTR_LIBMCOUNT_GATE_H */

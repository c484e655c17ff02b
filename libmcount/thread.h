/* SPDX-License-Identifier: MIT */
/* One traced thread: its shadow stack and its end of its ring. */
#ifndef FTR_LIBMCOUNT_THREAD_H
#define FTR_LIBMCOUNT_THREAD_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/proto/pmu.h"
#include "utils/proto/record.h"
#include "utils/proto/ring.h"
#include "utils/proto/shadow.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* What arch/return_stubs.h reads is in the same place whatever the size of a word. */
#define FTR_PLACED _Alignas(8)

enum ftr_frame_kind {
	FTR_FRAME_RETURN  = 0,		/* leaves through a return stub; loc holds its address */
	FTR_FRAME_CYGPROF = 1,		/* leaves through __cyg_profile_func_exit; loc is its CFA */
	FTR_FRAME_BARE = 2,		/* of RETURN; loc holds ret again, see unwinding.c */
};

/* An open call. */
struct ftr_frame {
	FTR_PLACED uintptr_t *loc;	/* where the return address stood; NULL = free */
	FTR_PLACED uintptr_t  ret;	/* the true return address */
	FTR_PLACED uintptr_t  func;	/* the address recorded for the function */
	union {
		uint64_t state;		/* all of these, for one store; ftr_frame_begun */
		struct {
			uint8_t kind;		/* enum ftr_frame_kind */
			bool is_begun;		/* its ENTRY is in the ring, its EXIT is not */
			uint16_t stamp[3];	/* of its ENTRY: the upper bits of ftr_stamp */
		};
	};
};

/*
 * When an ENTRY was recorded, of @tick: which of two calls of one place is newer.  In units of 512
 * ticks, so that it takes months until they wrap (programs run long, and what they dropped stays
 * in the shadow stack); calls of one unit are told apart by their order there.  Never 0, and
 * nothing in the lower 16 bits.
 */
#define FTR_STAMP_MASK (~UINT64_C(0xffff))
static inline uint64_t ftr_stamp(uint64_t tick)
{
	return (tick << 8 & FTR_STAMP_MASK) | UINT64_C(0x10000);
}

static inline bool ftr_stamp_is_newer(uint64_t stamp, uint64_t than)
{
	return (int64_t)(stamp - than) > 0;
}

/* The state of a frame whose ENTRY is not recorded, or not yet. */
static inline uint64_t ftr_frame_waiting(enum ftr_frame_kind kind, uint64_t tick)
{
	return ftr_stamp(tick) | kind;
}

/* The state of a frame whose ENTRY was recorded at @tick. */
static inline uint64_t ftr_frame_begun(enum ftr_frame_kind kind, uint64_t tick)
{
	return ftr_stamp(tick) | 1u << 8 | kind;
}

/*
 * A handler in between may switch to a coroutine that closes @frame, and opens it for another call
 * of the same place: then its state is not that of the copy any more.
 */
static inline void ftr_frame_copy(struct ftr_frame *copy, const struct ftr_frame *frame)
{
	copy->state = __atomic_load_n(&frame->state, __ATOMIC_ACQUIRE);
	copy->loc = __atomic_load_n(&frame->loc, __ATOMIC_ACQUIRE);
	copy->ret = frame->ret;
	copy->func = frame->func;
}

/* Open, and will return through @loc? */
static inline bool ftr_frame_is_at(const struct ftr_frame *frame, const uintptr_t *loc)
{
	return frame->loc == loc && frame->kind == FTR_FRAME_RETURN;
}

static inline uint64_t ftr_frame_stamp(const struct ftr_frame *frame)
{
	return frame->state & FTR_STAMP_MASK;
}

/*
 * Has the hook that opened it done all that it does?  Until then the call does not return, and the
 * frame is that hook's, which will store its state: a handler that switches to another coroutine in
 * between is not to give the frame to another call.
 */
static inline bool ftr_frame_is_through(const struct ftr_frame *frame)
{
	return ftr_frame_stamp(frame) != 0;
}

enum ftr_pmu_state {
	FTR_PMU_UNTRIED = 0,
	FTR_PMU_OPEN,
	FTR_PMU_NONE,			/* they cannot be had */
};

/* Its performance counters: see pmu.h. */
struct ftr_pmu {
	const struct perf_event_mmap_page *pages[FTR_PMU_COUNTERS];
	uint8_t states[FTR_PMU_KINDS];	/* enum ftr_pmu_state */
};

/*
 * The producer's end of a ring, alone in a page that fork(2) wipes: in a forked child head and
 * limit are 0, so its first record takes the slow path and cannot land in its parent's ring.
 */
struct ftr_producer {
	struct ftr_record scrap;	/* see ftr_producer_record */
	uint64_t head;			/* bytes reserved since the start */
	uint64_t limit;			/* head may go up to here without asking */
	uint64_t room; /* ... and there is room up to here (slow clocks: limit is 0) */
	uint64_t mask;			/* bytes of the ring - 1 */
	uint64_t data; /* from here to it, in bytes; mirrored: mask + 1 bytes, twice */
	struct ftr_ring_header *header;	/* (shared with the recorder) NULL = no ring */
	uint64_t hopeless; /* tail + 1 at which a wait was given up: none until it moves */
	uint64_t lost;			/* dropped since the last record, not yet reported */
	uint64_t stalled; /* since when, first, dated records waited for room: not yet reported */
	struct ftr_pmu pmu;		/* here, for a child has none of what is mapped */
};

/*
 * The slot at @pos.  A handler may interrupt the hook just before this and fork; where the child
 * goes on in the hook, all is 0 here, and the record that is its parent's lands in scrap.
 */
static inline struct ftr_record *ftr_producer_record(struct ftr_producer *producer, uint64_t pos)
{
	return (struct ftr_record *)((uint8_t *)producer + producer->data + (pos & producer->mask));
}

/*
 * The return address that a frame held when it was taken for left.  A wrong guess costs the program
 * nothing as long as the address can still be found by the place that it stood in.
 */
struct ftr_return {
	uintptr_t *loc;			/* NULL = empty; FTR_FRAME_BUSY: it changes */
	uintptr_t ret;
	uint64_t stamp;
};

/*
 * Set in loc while a hook fills a frame or closes it: other contexts of the thread leave it alone.
 */
#define FTR_FRAME_BUSY 1u

static inline bool ftr_frame_is_busy(const uintptr_t *loc)
{
	return ((uintptr_t)loc & FTR_FRAME_BUSY) != 0;
}

/* Above every frame: unwinders look at all of them, newest first. */
#define FTR_HALVING_NEVER ((struct ftr_frame *)INTPTR_MAX)

#define FTR_RETURN_WAYS 4		/* entries that share a hash */

/*
 * The memory of one thread, mapped at its first call and handed on when it is dead; never freed, so
 * that a list of them can be walked without a lock.
 */
struct ftr_slot {
	FTR_PLACED struct ftr_thread *thread;	/* the owner's; gone when it has ended */
	FTR_PLACED struct ftr_frame *frames;	/* frame_nr of them, reserved address space */
	FTR_PLACED struct ftr_frame *frames_high;	/* behind the last of them */
	FTR_PLACED uintptr_t home_low;		/* the owner's, up to home_high */
	FTR_PLACED uintptr_t home_high;
	struct ftr_slot *next;		/* older; set before the slot is published */
	_Atomic int32_t tid;		/* owner; 0 = just claimed */
	int32_t pid;
	int32_t parent_pid;		/* of a vfork's child: who waits for it */
	bool is_vforked;		/* a vfork's child, and has not asked for a ring yet */
	struct ftr_vfork *vfork;	/* room for one (vfork.h); NULL = it is a vfork's child's */
	uint64_t ring_id;		/* the recorder's name for the ring; 0 = none */
	struct ftr_producer *producer;	/* its page */
	uint32_t ring_bytes;		/* of data */
	uint8_t *ring_data; /* where producer->data leads, which fork wipes; see is_in_nursery */
	uint64_t frame_nr;
	struct ftr_gate *gate;		/* gate.h; NULL: there were no rules */
	struct ftr_return *returns;	/* of frames taken for left; by hash of loc */
	uint64_t return_nr;		/* a power of two, a multiple of FTR_RETURN_WAYS */
	struct ftr_stacks *stacks;	/* room for stacks.h; NULL = none, of a vfork's child */
	uint32_t stack_nr;		/* that it has room for */
	uint64_t bytes;			/* of this mapping */
	uint32_t stub;			/* 0 = none left: unwinders end at this thread's calls */
	_Atomic uint32_t stub_aside;	/* of calls made in the middle of leave.c; 0 = none yet */
	bool is_moving;			/* frames move, see frames.h */
	bool is_in_nursery;	/* the ring is: ring_data is its header, then come its data */
	bool is_staying;		/* there: no other ring could be had */
};

/* Was @frame of @slot ever in use?  (Those behind it then were not.) */
static inline bool ftr_slot_used(const struct ftr_slot *slot, const struct ftr_frame *frame)
{
	return (uint64_t)(frame - slot->frames) < slot->frame_nr && frame->func != 0;
}

/*
 * What the hook touches, in the thread's static TLS.  Before the first call all but top is zero:
 * frames_end is below it, which leads into the slow path without a test of its own.
 */
struct ftr_thread {
	FTR_PLACED struct ftr_frame *top;	/* first free frame */
	FTR_PLACED struct ftr_frame *frames_end; /* no call is recorded from here on */
	FTR_PLACED struct ftr_frame *frames;
	/* frames - 1, while loc falls from frame to frame */
	FTR_PLACED struct ftr_frame *halving_low;
	struct ftr_producer *producer;
	uintptr_t hook;			/* stub, where returns take the common path, else 0 */
	uintptr_t stub;			/* this thread's return stub; 0 = returns are estimated */
	const uintptr_t *estimating_at; /* stack of the hook while it is at work on estimates; NULL
					   = it is not */
	const struct ftr_frame *jumping; /* of the newest longjmp that is recorded; may be gone */
	struct ftr_frame *estimate_end;	/* ... and this is what frames_end, then frames, would be */
	struct ftr_gate *gate;		/* gate.h; NULL: all calls are recorded */
	struct ftr_frame *gate_end; /* with a gate and without estimates: likewise */
	struct ftr_frame *stacks_end; /* with stacks and without a gate: likewise */
	struct ftr_stacks *stacks;	/* stacks.h; NULL: as far as is known it has one */
	uintptr_t home_low, home_high;	/* the stack it was born on; 0, 0 = unknown */
	uintptr_t signal_low, signal_bytes;	/* what it gave to sigaltstack */
	uintptr_t module_low, module_bytes;	/* of the last call; see module.h */
	uint32_t module_generation;
	uint32_t caller_generation;
	uintptr_t caller_low, caller_bytes;	/* likewise, of the last caller of interposed.h */
	struct ftr_slot *slot;
	struct ftr_frame *bare_low;	/* from here on frames may be bare; NULL = none is */
	union {
		uint64_t cygprof_rare;	/* 0 = none of these */
		struct {
			uint32_t uncounted; /* cygprof: open calls that found no frame */
			bool is_departed; /* an exception, whose cleanups may be at work */
		};
	};
	uint64_t stopped_tick, stopped_ns;	/* see ftr_clock_stop_ticks; 0 = it runs */
	uint64_t hole_nr;		/* frames that became free below others since they moved */
	struct ftr_ring_header *untraced;	/* where it is counted that it is; see untraced.h */
	uint64_t untraced_calls;
	const uintptr_t *interposed;	/* return slot of the interposed call; NULL = none */
	bool is_mixed;		/* a handler interrupted a hook and made calls */
	bool is_silent;			/* see ftr_is_silent */
	bool is_refused;		/* this thread cannot be traced; do not try again */
	bool is_vforked;	/* this is the child of a vfork that we saw; see vfork.h */
	uint32_t looking_nr;		/* of ftr_state's, those that it has: looking.h */
	uint64_t forking_tick;		/* when a fork began that is not done, or 0; see fork.h */
	uint64_t forked_tick;		/* ... and one that it was made by, until it has a ring */
};

/* Is @loc on the stack that the program gave to its handlers? */
static inline bool ftr_thread_is_signal(const struct ftr_thread *self, const uintptr_t *loc)
{
	return (uintptr_t)loc - self->signal_low < self->signal_bytes;
}

/* Does its parent wait for it, with the same thread-local storage? */
static inline bool ftr_thread_is_vforked(const struct ftr_thread *self)
{
	return self->slot != NULL && self->slot->vfork == NULL;
}

/* Read by the call frame information of the return stubs. */
static_assert(offsetof(struct ftr_thread, top) == 0, "arch/return_stubs.h");
static_assert(offsetof(struct ftr_thread, frames) == 16, "arch/return_stubs.h");
static_assert(offsetof(struct ftr_thread, halving_low) == 24, "arch/return_stubs.h");
static_assert(offsetof(struct ftr_frame, loc) == 0 && offsetof(struct ftr_frame, ret) == 8 &&
	      offsetof(struct ftr_frame, func) == 16 && sizeof(struct ftr_frame) == 32,
	      "arch/return_stubs.h");
static_assert(offsetof(struct ftr_slot, thread) == 0 && offsetof(struct ftr_slot, frames) == 8 &&
	      offsetof(struct ftr_slot, frames_high) == 16 &&
	      offsetof(struct ftr_slot, home_low) == 24 &&
	      offsetof(struct ftr_slot, home_high) == 32, "arch/return_stubs.h");

/* ... and by the recorder. */
#define FTR_IS_SHOWN(STRUCT, AS, MEMBER) \
	(offsetof(struct ftr_##STRUCT, MEMBER) == offsetof(struct ftr_shadow_##AS, MEMBER))
static_assert(FTR_IS_SHOWN(thread, thread, top) && FTR_IS_SHOWN(thread, thread, frames) &&
	      FTR_IS_SHOWN(thread, thread, halving_low), "utils/proto/shadow.h");
static_assert(FTR_IS_SHOWN(frame, frame, loc) && FTR_IS_SHOWN(frame, frame, ret) &&
	      FTR_IS_SHOWN(frame, frame, func) &&
	      sizeof(struct ftr_frame) == sizeof(struct ftr_shadow_frame), "utils/proto/shadow.h");
static_assert(FTR_IS_SHOWN(slot, owner, thread) && FTR_IS_SHOWN(slot, owner, frames) &&
	      FTR_IS_SHOWN(slot, owner, frames_high) && FTR_IS_SHOWN(slot, owner, home_low) &&
	      FTR_IS_SHOWN(slot, owner, home_high), "utils/proto/shadow.h");
#undef FTR_IS_SHOWN

extern __thread struct ftr_thread ftr_self __attribute__((visibility("hidden")));
/* What that is before a thread's first call. */
extern const struct ftr_thread ftr_thread_none __attribute__((visibility("hidden")));

/*
 * Give the calling thread a shadow stack (unless it has one: a forked child) and a ring.  All
 * signals are blocked meanwhile.  False: it runs on untraced.
 */
bool ftr_thread_attach(struct ftr_thread *self);

/*
 * Does the calling thread, @tid, use another one's thread-local storage, when attached to?  So does
 * a child that was made by libc's vfork before that: it has its parent's, and so its number.  What
 * is put there would be taken for the parent's, whose calls would return where the child's do.
 */
bool ftr_thread_is_anothers(int32_t tid);

/* Give the calling thread's @slot its second stub, unless it has one, or none is left. */
void ftr_stub_take_aside(struct ftr_slot *slot);

/* Record no more calls of this thread; open ones still return where they must. */
void ftr_thread_disarm(struct ftr_thread *self);

/*
 * Record no calls of this thread for a while: what the runtime has libc do is not the program's
 * doing.
 */
struct ftr_pause {
	struct ftr_frame *frames_end, *estimate_end, *gate_end, *stacks_end;
	bool is_refused;
};
void ftr_thread_pause(struct ftr_thread *self, struct ftr_pause *pause);
void ftr_thread_resume(struct ftr_thread *self, const struct ftr_pause *pause);

/*
 * Put a record when the fast path could not: wait for room, or drop, or attach first.  @pos is what
 * the fast path reserved.
 */
void ftr_ring_put_slow(struct ftr_thread *self, uint64_t pos, uint64_t word);

/*
 * Put a record with @bytes of payload, at most FTR_PAYLOAD_MAX; longer ones are dropped and
 * counted.  @word is that of ftr_record_word().  The payload is copied, so what fills it may be
 * interrupted or fail before anything is reserved; of strings and the like it can hold what turned
 * out to be their length.  Reentrant on its own thread, as the hook is, and makes no system call
 * once the thread is attached.  Nothing is put for a thread that is not traced.
 */
void ftr_record_put(struct ftr_thread *self, uint64_t word, const void *payload, uint32_t bytes);

/* Would a record of @self be put?  Attaches a thread that is not yet. */
bool ftr_record_is_wanted(struct ftr_thread *self);
/* Put one after that was asked. */
void ftr_record_put_wanted(struct ftr_thread *self, uint64_t word, const void *payload,
			   uint32_t bytes);

/* The same with a payload that is one unit, the last. */
void ftr_record_put_unit(struct ftr_thread *self, uint64_t word, struct ftr_record unit);

/* A record whose time is not that of its being put. */
struct ftr_dated_record {
	uint64_t time;			/* never less than the previous record's */
	uint64_t word;
	const void *payload;
	uint32_t payload_bytes;
	uint64_t *claim; /* (nullable) put only if it changes from claim_from to claim_to, now */
	uint64_t claim_from, claim_to;
};

/*
 * Put it.  Other than with ftr_record_put, a wait for room is not reported in between, as it comes
 * after what is put; ftr_stall_report does that, with the last of several.
 */
void ftr_record_put_dated(struct ftr_thread *self, const struct ftr_dated_record *record);
void ftr_stall_report(struct ftr_thread *self);

/*
 * Put one of a payload of whole words, @bytes of them, not none, behind which two are 0: nothing is
 * taken from it byte by byte.  A wait for room is reported behind it.
 */
void ftr_record_put_words(struct ftr_thread *self, uint64_t word, uint64_t time,
			  const uint64_t *words, uint32_t bytes);

/* Take over the room that the recorder has made. */
void ftr_ring_update_limit(struct ftr_producer *producer);

#endif /* FTR_LIBMCOUNT_THREAD_H */

/* SPDX-License-Identifier: MIT */
/* What the runtime knows about its process: with ftr_self all that is mutable here. */
#ifndef FTR_LIBMCOUNT_STATE_H
#define FTR_LIBMCOUNT_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libmcount/code_plan.h"
#include "libmcount/patch_near.h"
#include "libmcount/plain_code.h"
#include "libmcount/plt_stubs.h"
#include "libmcount/real.h"
#include "libmcount/seccomp.h"
#include "libmcount/thread.h"
#include "libmcount/unwinding.h"
#include "utils/proto/control.h"
#include "utils/proto/watch.h"

#define FTR_ADDRESS_MAX 108		/* of an abstract socket: sockaddr_un.sun_path */

/* See unwinding.c. */
struct ftr_unwind {
	void *_Atomic real[FTR_UNWIND_CALLS];		/* in the global scope; NULL = not known */
	_Atomic uintptr_t callers[FTR_UNWIND_CALLERS];
	_Atomic unsigned caller_nr;
};

/* A module that the recorder knows of.  Racing writers store the same or a newer truth. */
#define FTR_KNOWN_MAX 1024

struct ftr_known_module {
	uintptr_t low, bytes;
	uint64_t  inode;		/* 0 = not looked at since the start */
	uint32_t  generation;		/* of the last look */
	_Atomic bool is_forgotten;	/* unloaded, and its place is free */
	_Atomic(const struct ftr_sections *) sections; /* see sections.h; NULL = none */
};

#define FTR_KEPT_MAX 4096		/* sections of libraries, as many as there ever were */

/* The variables of environ.h. */
enum ftr_ours {
	FTR_OURS_PRELOAD,
	FTR_OURS_ASAN,
	FTR_OURS_CHANNEL,
	FTR_OURS_NR,
};

enum ftr_arming {
	FTR_UNARMED = 0,	/* before the constructor, or not run by ftr */
	FTR_ARMED,
	FTR_DISARMED,		/* for good: refused, stopped, or the recorder is gone */
};

/* What watch points saw last, see watch.h. */
struct ftr_watching {
	_Atomic(const struct ftr_watch *) what;	/* NULL = nothing */
	_Atomic uint64_t last[FTR_WATCH_VARIABLES_MAX];
	_Atomic bool is_known[FTR_WATCH_VARIABLES_MAX];
};

/* What triggers have switched, for all threads; only gated ones look. */
enum ftr_tracing {
	FTR_TRACING_ON = 0,
	FTR_TRACING_OFF,
	FTR_TRACING_FINISHED,	/* off for good */
};

/* Where setjmp returns to, and the address recorded for it. */
#define FTR_JUMP_SITES 256		/* a power of two */

struct ftr_jump_site {
	_Atomic uintptr_t ip;			/* 0 = free */
	_Atomic uintptr_t addr;
};

struct ftr_call_rules;
struct ftr_late_slot;
struct ftr_left;

#define FTR_INTERPOSERS_MAX 8u

struct ftr_state {
	_Atomic uint32_t arming;		/* enum ftr_arming */
	const struct ftr_control *control;	/* mapped read-only */
	struct ftr_slot *_Atomic slots;		/* newest first */
	char *ours[FTR_OURS_NR];		/* "NAME=VALUE", for new images; NULL = none */
	bool asks_exec;				/* FTR_CHANNEL_ASKS_EXEC */
	struct ftr_unwind unwind;
	struct ftr_plain_areas plain_areas;
	struct ftr_code_plan code_plan;		/* when attached */
	uint32_t program_call_nr;		/* of them, the first are the program's */
	void *program_map;			/* a handle for dlsym */
	struct ftr_libraries *libraries;	/* NULL unless a probe wants them */
	_Atomic(const struct ftr_sections *) image_sections; /* see sections.h; NULL = none */
	_Atomic uint32_t generation;		/* of ftr_control when they were asked for */
	_Atomic uint32_t refreshing_pid;	/* which process asks for them; 0 = none */
	_Atomic(const struct ftr_call_rules *) rules; /* the image's; see rules.h; NULL = none */
	_Atomic bool has_values;		/* the image's sections have programs for them */
	bool has_transactions;			/* the processor, where values are wanted */
	/* Code of the libraries that interpose functions, and what lies between all of it. */
	struct ftr_interposer { uintptr_t low, high; } interposers[FTR_INTERPOSERS_MAX];
	uint32_t interposer_nr;
	struct ftr_interposer interposers_hull;
	_Atomic uint64_t span_nr;	/* that the program has begun */
	_Atomic uint32_t rules_generation;	/* grows with each publication of sections */
	_Atomic uint32_t tracing;		/* enum ftr_tracing */
	struct ftr_watching watching;
	_Atomic bool names_are_reported;	/* probe name is on */
	_Atomic bool after_monstartup;		/* and before the call of atexit that follows it */
	_Atomic bool has_stacks;		/* coroutines were made: see stacks.h */
	_Atomic bool has_deepbind;		/* dlopen was called with RTLD_DEEPBIND */
	_Atomic uint32_t module_generation;	/* grows with each dlopen and dlclose */
	_Atomic uint32_t known_nr;
	struct ftr_known_module known[FTR_KNOWN_MAX]; /* the first is the image */
	_Atomic uint32_t kept_nr;
	_Atomic(const struct ftr_sections *) kept[FTR_KEPT_MAX]; /* never unmapped */
	struct ftr_jump_site jump_sites[FTR_JUMP_SITES];	/* hashed by ip */
	_Atomic uint32_t stubs;			/* return stubs handed out */
	_Atomic uint32_t slot_nr;		/* of slots */
	_Atomic(struct ftr_slot *)
		recycle_next; /* where the search for a dead thread's slot goes on */
	_Atomic uint32_t asking;		/* threads that talk to the recorder, a futex */
	_Atomic uint32_t asking_pid;		/* of this process */
	_Atomic uint32_t is_unanswered;		/* the recorder did not answer in time, last time */
	_Atomic uint32_t blocked; /* by seccomp filters: FTR_SECCOMP_BIT() of purposes */
	_Atomic bool is_locking;	/* what is mapped is locked (mlockall with MCL_FUTURE) */
	_Atomic bool is_filtered;		/* the program has installed a seccomp filter */
	struct ftr_nursery *_Atomic nursery;	/* see nursery.h; NULL = none */
	_Atomic uint32_t fork_nr;		/* of this process, without a nursery */
	_Atomic uint64_t counter_ns;		/* FTR_CONTROL_CLOCK_COUNTER */
	uint32_t late_nr;
	struct ftr_semaphore *semaphores;	/* see semaphores.h; NULL = there are none */
	uint32_t semaphore_nr;
	_Atomic uint32_t attached;		/* enum ftr_attach_state; 0 also when launched */
	_Atomic uint32_t looking_nr;	/* threads that hook what was loaded, or prepare exec */
	struct ftr_left *left_before;		/* what it has taken the place of */
	_Atomic uint64_t is_forgotten;		/* no thread has, nor may use, a slot; 8 bytes */
	_Atomic bool has_odd_prologue;	/* a function whose calls are not recorded for that */
	uint32_t address_bytes;
	char address[FTR_ADDRESS_MAX];		/* of the recorder, without the leading NUL */
	bool has_unseen;			/* a library was loaded that was not looked at */
	struct {
		uint64_t id;			/* 0 = there is none */
		int fd;				/* (owned) */
	} first_ring;				/* which came with the session, until it is used */
	/* What lasts when a recording is ended begins here: other threads may be using it. */
	struct ftr_scratch *_Atomic scratch;	/* newest first */
	struct ftr_real real;
	struct ftr_plt_stubs plt;
	struct ftr_patch_near patch_near;
	uintptr_t errno_offset;			/* of errno, from a thread's control block on */
	struct ftr_late_slot *late;		/* see late.h; NULL = never attached to */
	struct ftr_left *_Atomic left;		/* see left.h; NULL = there is none */
	bool has_atfork;			/* attached to, now or before */
	uintptr_t main_stack;			/* an address near its upper end */
	_Atomic int32_t stepping_tid;		/* who is in ftr_attach_step; 0 = nobody */
};

extern struct ftr_state ftr_state __attribute__((visibility("hidden")));

#define FTR_FUTEX_OWNER_DIED 0x40000000u	/* <linux/futex.h> FUTEX_OWNER_DIED */

/* Has it ended, or is it dead?  Only for images that have its control block. */
static inline bool ftr_recorder_is_gone(void)
{
	const struct ftr_control *control = ftr_state.control;
	uint32_t futex = atomic_load_explicit(&control->recorder_futex, memory_order_relaxed);

	return (futex & FTR_FUTEX_OWNER_DIED) != 0 ||
	       atomic_load_explicit(&control->stopped, memory_order_relaxed) != 0;
}

#endif /* FTR_LIBMCOUNT_STATE_H */

/* SPDX-License-Identifier: MIT */
/*
 * The body of FTR_SECTION_RULES: which calls of a module's functions are recorded.  The recorder
 * resolves names and patterns; the runtime looks addresses up.
 *
 *	[ struct ftr_call_rules ][ struct ftr_call_rule, rule_nr ]
 *	[ struct ftr_call_rule_start, start_nr ]
 *
 * The starts are sorted by offset, and each holds up to the next one: an address below the first
 * has rule 0, which says nothing.  What struct ftr_call_rules says counts where it comes with the
 * program's image, for the whole process.
 */
#ifndef FTR_PROTO_RULES_H
#define FTR_PROTO_RULES_H

#include <assert.h>
#include <stdint.h>

enum ftr_calls_flag {
	FTR_CALLS_OPT_IN = 1 << 0,  /* some function has FTR_CALL_FILTER: others need one outside */
	FTR_CALLS_CALLERS = 1 << 1, /* only what leads to a function with FTR_CALL_CALLER */
	FTR_CALLS_OFF = 1 << 2,	    /* nothing is recorded until FTR_CALL_TRACE_ON */
	FTR_CALLS_COUNTED = 1 << 3, /* some function has FTR_CALL_SAMPLE or FTR_CALL_RATE */
	FTR_CALLS_READ = 1 << 4,    /* some function has FTR_CALL_READ */
	FTR_CALLS_CHANGE = 1 << 5,  /* any of these may be said later (ftr ctl) */
	FTR_CALLS_JUDGED = 1 << 6,  /* some function has FTR_CALL_DUMP_AT_END */
};

enum ftr_call_flag {
	FTR_CALL_FILTER = 1 << 0,    /* its calls and what they call */
	FTR_CALL_NOTRACE = 1 << 1,   /* neither its calls nor what they call */
	FTR_CALL_DEPTH = 1 << 2,     /* it and what it calls, so deep */
	FTR_CALL_TIME = 1 << 3,	     /* ... if they take so long */
	FTR_CALL_SIZE = 1 << 4,	     /* ... if their code is so long */
	FTR_CALL_TRACE = 1 << 5,     /* however short */
	FTR_CALL_TRACE_ON = 1 << 6,  /* from here on, in all threads */
	FTR_CALL_TRACE_OFF = 1 << 7, /* not from here on */
	FTR_CALL_HIDE = 1 << 8,	     /* not its calls, but what they call */
	FTR_CALL_CALLER = 1 << 9,    /* see FTR_CALLS_CALLERS */
	FTR_CALL_FINISH = 1 << 10,   /* not from here on, for good */
	FTR_CALL_DUMP = 1 << 11,     /* ask for a dump: see utils/proto/ring.h */
	FTR_CALL_SAMPLE = 1 << 12,   /* but one of sample_nr calls in a thread as NOTRACE */
	FTR_CALL_RATE = 1 << 13,     /* after rate_per_s calls of a thread's second: NOTRACE */
	FTR_CALL_CALLSITE = 1 << 14, /* where it was called from is an event */
	FTR_CALL_READ = 1 << 15,     /* what reads says is read when it begins, and ends */
	FTR_CALL_RECOVER = 1 << 16,  /* return addresses are the program's own meanwhile */
	/*
	 * Its condition (struct ftr_values_func) decides: where it is true of a call, FILTER or
	 * NOTRACE is said of it, where it is not, neither.  Undecided: as the flags are.
	 */
	FTR_CALL_IF_FILTER = 1 << 17,
	FTR_CALL_IF_NOTRACE = 1 << 18,
	/* DUMP only where its other condition is true of the call, when that begins, or ends. */
	FTR_CALL_IF_DUMP = 1 << 19,
	FTR_CALL_DUMP_AT_END = 1 << 20,
	FTR_CALL_STACK = 1 << 21,    /* the stack that it was called on is an event: stack_part.h */
};

/* What FTR_CALL_READ reads. */
enum ftr_call_read {
	FTR_CALL_READ_STATM = 1 << 0,	/* /proc/self/statm */
	FTR_CALL_READ_FAULTS = 1 << 1,	/* page faults of the process */
	FTR_CALL_READ_ERRNO = 1 << 2,	/* errno, where the call has set it */
	FTR_CALL_READ_CYCLE = 1 << 3,	/* performance counters, as in utils/proto/pmu.h */
	FTR_CALL_READ_CACHE = 1 << 4,
	FTR_CALL_READ_BRANCH = 1 << 5,
};

struct ftr_call_rule {
	uint32_t flags;			/* FTR_CALL_* flags */
	uint32_t depth;
	uint64_t time_ns;
	uint32_t size_min;		/* FTR_CALL_SIZE */
	uint32_t size;			/* of the function itself, where any size matters */
	uint64_t sample_nr;		/* at least 1 */
	uint64_t rate_per_s;		/* at least 1 */
	uint32_t reads;			/* FTR_CALL_READ_* flags */
	uint32_t reserved;
};
static_assert(sizeof(struct ftr_call_rule) == 48, "wire layout");

struct ftr_call_rule_start {
	uint32_t offset;		/* from the module's first mapping */
	uint32_t rule;			/* its index */
};
static_assert(sizeof(struct ftr_call_rule_start) == 8, "wire layout");

struct ftr_call_rules {
	uint32_t flags;			/* FTR_CALLS_* flags */
	uint32_t rule_nr;
	uint32_t start_nr;
	uint32_t size_min;		/* -Z */
	uint64_t time_ns;		/* -t */
	/*
	 * Counts what signals to the recorder, or ftr ctl, switched: a new one says that nothing
	 * is recorded from here on (FTR_CALLS_OFF), or what is chosen.
	 */
	uint32_t switch_nr;
	uint32_t reserved;
};
static_assert(sizeof(struct ftr_call_rules) == 32, "wire layout");

#endif /* FTR_PROTO_RULES_H */

/* SPDX-License-Identifier: MIT */
/*
 * Records of tasks into sums of functions, for record --summary.  Each task's open calls are
 * followed, and a call is counted when it ends.  What does not fit is repaired as readers do
 * (utils/trace/calls.h), but calls whose ENTRY is missing count only when their EXIT comes, and
 * those that a forked child begins in are none of its.
 */
#ifndef FTR_RECORD_SUMMING_H
#define FTR_RECORD_SUMMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/hashmap.h"
#include "utils/base/vec.h"
#include "utils/format/uftrace/summary.h"

#define FTR_SUMMING_CACHE 1024u		/* of functions, by address */
#define FTR_SUMMING_PARTS 8u
/* More functions, or places, are forgotten at an interval's end, but for those that are open. */
#define FTR_SUMMING_KEPT_MAX 32768u

struct ftr_summing_place {
	struct ftr_summary_place place;
	uint32_t in_block;			/* index + 1 there; 0 = not yet */
};

/* A function, by where it lies, and its calls in this interval. */
struct ftr_summing_func {
	uint32_t place;
	uint64_t addr;
	struct ftr_time_span total, self;
	uint64_t used;				/* 0: no calls yet, and the above are stale */
	struct ftr_call_sum *parts[FTR_SUMMING_PARTS]; /* (owned, nullable) eight octaves each */
};

struct ftr_summing_frame {
	uint32_t func;		/* index + 1; 0 = its ENTRY is missing */
	bool is_inherited;	/* its ENTRY is the parent's, with which it counts */
	uint64_t begin_ns, child_ns;
};

/* Calls of a thread, or of a coroutine in it. */
struct ftr_summing_stack {
	FTR_VEC(struct ftr_summing_frame) frames;	/* (owned) */
	FTR_VEC(uint32_t) open;			/* (owned) by index of the function: open calls */
	uint64_t away_ns;	/* since when the thread is on another; 0 = it is not */
};

struct ftr_summing_task {
	FTR_VEC(struct ftr_summing_stack) stacks;	/* (owned) [0] is the thread's own */
	uint32_t now;			/* index of the one that it is on */
	bool is_switching;	/* ... or ever did: depths are those of all stacks together */
	bool has_lost;			/* records, just now */
	uint64_t last_ns;
};

struct ftr_summing {
	FTR_VEC(struct ftr_summing_func) funcs;	/* (owned) */
	FTR_VEC(struct ftr_summing_place) places; /* (owned) */
	struct ftr_hashmap place_by_key;	/* index + 1 */
	struct ftr_hashmap func_by_key;		/* index + 1 */
	struct ftr_summing_cached {
		uint64_t key;
		uint32_t func;			/* index + 1; 0 = empty */
	} cache[FTR_SUMMING_CACHE];
	struct ftr_hashmap tasks;		/* tid -> struct ftr_summing_task (owned) */
	bool has_failed;			/* out of memory: some calls are not counted */
	uint64_t not_counted;			/* records that could not be read, or held */
};

void ftr_summing_init(struct ftr_summing *self);
void ftr_summing_fini(struct ftr_summing *self);

/*
 * @len bytes of whole records of @tid, as they stand in TID.dat.  What lies at their addresses is
 * told by session @sid, as it was from @since_ns on, and before that as it was from @before_ns on.
 */
struct ftr_summing_from {
	uint64_t sid;
	uint64_t before_ns, since_ns;
	bool is_forked;		/* the task begins inside of calls of its parent */
};
void ftr_summing_take(struct ftr_summing *self, int32_t tid, const struct ftr_summing_from *from,
		      const void *bytes, size_t len);
/* Nothing more comes of the task: what is open took until its last record. */
void ftr_summing_end_task(struct ftr_summing *self, int32_t tid);
void ftr_summing_end_tasks(struct ftr_summing *self);

/*
 * Move what was counted so far to @block, whose places and rows are replaced.  False: nothing was.
 */
bool ftr_summing_flush(struct ftr_summing *self, struct ftr_summary_block *block);

#endif /* FTR_RECORD_SUMMING_H */

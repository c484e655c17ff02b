/* SPDX-License-Identifier: MIT */
/* What system calls are as tasks and events, whoever keeps the calls. */
#ifndef FTR_FORMAT_ETRACE_MAKE_H
#define FTR_FORMAT_ETRACE_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "utils/base/hashmap.h"
#include "utils/base/strbuf.h"
#include "utils/trace/args.h"
#include "utils/trace/event.h"
#include "utils/trace/syscall.h"
#include "utils/trace/trace.h"

struct ftr_etrace_maker {
	struct ftr_trace *trace;
	struct ftr_hashmap task_by_upid;	/* struct ftr_task */
	struct ftr_hashmap own_forks; /* upid of a child that no other file mentions -> its task */
	const struct ftr_module *module;	/* of the calls' functions */
	const struct ftr_func *funcs[FTR_SYSIDS];	/* (nullable) made at first use */
};

int  ftr_etrace_maker_init(struct ftr_etrace_maker *maker, struct ftr_trace *trace);
void ftr_etrace_maker_fini(struct ftr_etrace_maker *maker);

/* What the call says of tasks: whose it is, whom it made, what they are called.  0 or -ENOMEM. */
int ftr_etrace_apply(struct ftr_etrace_maker *maker, const struct ftr_syscall *call,
		     struct ftr_task **out);

#define FTR_ETRACE_BATCH 48	/* events: a build has thousands of tasks, each with a batch */
#define FTR_ETRACE_EVENTS_PER_CALL 3

struct ftr_etrace_batch {
	struct ftr_etrace_maker *maker;		/* (borrowed) */
	struct ftr_strbuf bytes;		/* of the payloads */
	size_t nr;
	struct ftr_event evs[FTR_ETRACE_BATCH];
	struct ftr_payload payloads[FTR_ETRACE_BATCH];
};

static inline bool ftr_etrace_batch_is_full(const struct ftr_etrace_batch *batch)
{
	return batch->nr + FTR_ETRACE_EVENTS_PER_CALL > FTR_ETRACE_BATCH;
}

void ftr_etrace_batch_begin(struct ftr_etrace_batch *batch);
/*
 * The events of a call of @task; there must be room.  *is_new_image, one a task, false at first: an
 * exec ended all calls around the next.  0 or -ENOMEM.
 */
int ftr_etrace_batch_add(struct ftr_etrace_batch *batch, struct ftr_task *task,
			 const struct ftr_syscall *call, bool *is_new_image);
/* How many events there are, for a source's next, or -ENOMEM. */
ssize_t ftr_etrace_batch_end(struct ftr_etrace_batch *batch, struct ftr_event **evs);

#endif /* FTR_FORMAT_ETRACE_MAKE_H */

/* SPDX-License-Identifier: MIT */
/*
 * A collector: how the recorder gets records from one kind of source.  One const struct per source,
 * listed in collectors.def.  Members that a source has no use for are NULL; open and close are
 * there always.
 */
#ifndef FTR_RECORD_COLLECTOR_H
#define FTR_RECORD_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/option.h"
#include "utils/base/strbuf.h"
#include "utils/proto/control.h"
#include "utils/record/pool.h"
#include "utils/record/store.h"
#include "utils/record/tick.h"

struct ftr_backtraces;
struct ftr_record_claim;
struct ftr_ring;

/* What every collector may use; lives as long as the recording. */
struct ftr_recording {
	struct ftr_store *store;
	struct ftr_diag *diag;			/* (nullable) */
	const struct ftr_control *control;	/* ring size, clock, ... */
	const struct ftr_tick_map *ticks;
	struct ftr_backtraces *backtraces;	/* what becomes of the stacks of calls */
	unsigned events;		/* FTR_PERF_* bits: what to ask the kernel for, unasked */
	const char *why_no_events;	/* none can be recorded (nullable) */
	bool reports_names;		/* the runtime does, the kernel does not; known last */
	bool is_program_self;  /* the process that opens becomes the program (--keep-pid) */
	const int32_t *running; /* processes that run already, the program first (-p) */
	size_t running_nr;	/* 0: the recorder starts the program */
	char *events_text;     /* FTR_EVENTS_TEXT_BYTES: which of them are recorded, or why none */
	struct ftr_pool *pool; /* (nullable) threads to share work out to, in drain alone */
	unsigned thread_nr;			/* they are at most that many, 1 without a pool */
};
#define FTR_EVENTS_TEXT_BYTES 200

/* A task has reported itself. */
struct ftr_task_start {
	struct ftr_store_task *task;
	int32_t  pid;		/* in our namespace */
	uint64_t ring_id;	/* 0, or the ring to go on with */
	bool is_growing;	/* that is to be left, for a larger one */
	const struct ftr_record_claim *claim; /* (nullable) by which it has reported itself */
	const struct ftr_ring *ring; /* (nullable) what it has, named ring_id: it moves from here */
};

/* The ring it writes to. */
struct ftr_task_answer {
	uint64_t ring_id;
	int	 ring_fd;	/* (borrowed) of a new ring, or -1: it has the ring already */
};

#define FTR_COLLECTOR_EPOLL_TAG (UINT64_C(1) << 33)

struct ftr_collector {
	const char *name;

	/* Options (nullable): rows, and the struct that they fill. */
	const struct ftr_option *options;
	size_t values_bytes;
	const void *defaults;		/* (nullable: zeros) */

	/*
	 * (nullable) Add a line for each event that --Event may name.  0, or -errno with a
	 * description: the machine does not let us know.
	 */
	int (*list)(struct ftr_strbuf *text, struct ftr_err *err);

	/* Make the state of a recording; NULL with a description.  @values: of its options. */
	void *(*open)(const struct ftr_recording *recording, const void *values,
		      struct ftr_err *err);
	/* The program @pid is about to exec, or has done so already unless is_program_self. */
	void (*started)(void *self, int32_t pid);
	/*
	 * Add what becomes readable when there is much to drain to @epoll_fd, with
	 * FTR_COLLECTOR_EPOLL_TAG.
	 */
	void (*watch)(void *self, int epoll_fd);
	/* Write what is left, and release. */
	void (*close)(void *self);

	/* A task starts.  -errno: the task is refused. */
	int (*task)(void *self, const struct ftr_task_start *start,
		    struct ftr_task_answer *answer, struct ftr_err *err);
	/* A task of process @pid of the program has reported itself, and was taken. */
	void (*process)(void *self, int32_t pid);
	/* The program image of @pid is gone (exec, or the end): nothing new comes of it. */
	void (*image_end)(void *self, int32_t pid);
	/* Move what is there to the store.  Returns how full the fullest source was, in percent. */
	unsigned (*drain)(void *self);
	/* May a process that has not reported itself still write to a source? */
	bool (*is_shared)(void *self);
};

/* Iterate over collectors.def: *pos starts at 0; NULL at the end. */
const struct ftr_collector *ftr_collector_next(size_t *pos);
ftr_option_set_fn ftr_collector_options;

/* Those of one recording; the functions call the member of that name of each. */
#define FTR_COLLECTORS_MAX 8

struct ftr_collectors {
	struct {
		const struct ftr_collector *ops;
		void *self;
	} v[FTR_COLLECTORS_MAX];
	unsigned nr;
};

/* Open one more.  0, or -errno with a description: the others stay open. */
int ftr_collectors_add(struct ftr_collectors *collectors, const struct ftr_collector *ops,
		       const struct ftr_recording *recording, const void *values,
		       struct ftr_err *err);
/* Open all of collectors.def with the values that were @given (nullable) to their options. */
int ftr_collectors_open(struct ftr_collectors *collectors, const struct ftr_recording *recording,
			const struct ftr_option_values *given, struct ftr_err *err);
void ftr_collectors_started(const struct ftr_collectors *collectors, int32_t pid);
void ftr_collectors_watch(const struct ftr_collectors *collectors, int epoll_fd);
/* By the first collector that takes tasks; -ENOTSUP when none does. */
int ftr_collectors_task(const struct ftr_collectors *collectors, const struct ftr_task_start *start,
			struct ftr_task_answer *answer, struct ftr_err *err);
void ftr_collectors_image_end(const struct ftr_collectors *collectors, int32_t pid);
/* Returns how full the fullest source of all was. */
unsigned ftr_collectors_drain(const struct ftr_collectors *collectors);
/* Of any of them? */
bool ftr_collectors_are_shared(const struct ftr_collectors *collectors);
void ftr_collectors_close(struct ftr_collectors *collectors);

#endif /* FTR_RECORD_COLLECTOR_H */

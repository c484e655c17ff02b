/* SPDX-License-Identifier: MIT */
/* Where collectors put what they get: records of a task, and counts of what could not be kept. */
#ifndef FTR_RECORD_STORE_H
#define FTR_RECORD_STORE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/proto/record.h"

struct ftr_ring_untraced;
struct iovec;
struct ftr_strbuf;

enum ftr_lost_cause {
	FTR_LOST_NO_ROOM,	/* the program dropped them: its ring was full */
	FTR_LOST_DEPTH,		/* of calls nested more deeply than the shadow stack holds */
	FTR_LOST_DISK,		/* they could not be written */
	FTR_LOST_DAMAGED,	/* what stood in the ring was no record */
	FTR_LOST_EVENTS,	/* the kernel had no room for perf events */
	FTR_LOST_KERNEL,	/* ... in the ring buffers of its own tracing */
	FTR_LOST_CAUSES
};

/*
 * A task of the recording.  One per tid: several rings, images and tasks of a recycled tid follow
 * each other.
 */
struct ftr_store_task {
	int32_t tid;
	int32_t pid;
	bool is_forked;		/* it begins inside of calls of its parent */
	char sid[17];		/* of the session that its records are of; "" = not known */
	uint64_t last_ns;	/* of the last record appended */
	void *file, *aside;	/* the store's own (nullable) */
	pthread_mutex_t
		lock; /* the store's own: a number may come back while its last owner is drained */
};

struct ftr_store;

#define FTR_STORE_NAME_MAX 24	/* with its NUL */

/* Whole records of one task, in order of time, as they stand in TID.dat (utils/proto/record.h). */
struct ftr_record_batch {
	const void *bytes;
	size_t len;		/* a multiple of FTR_RECORD_FILE_ALIGN */
	size_t record_nr;	/* at least 1 */
	size_t call_nr;		/* those of them that are ENTRYs */
	uint64_t last_ns;	/* time of the last record */
	bool is_aside;		/* ... but they stand in TID.event */
};

/* append, events, extra and lost may be called by several threads at a time. */
struct ftr_store_ops {
	void (*append)(struct ftr_store *store, struct ftr_store_task *task,
		       const struct ftr_record_batch *batch);
	/* Records of the runtime's events follow, ftr:stack among them: see that they are named. */
	void (*events)(struct ftr_store *store, bool has_stacks);
	/*
	 * Append whole perf records of @cpu; with @nr 0 only its file is made.  False: they are not
	 * kept.
	 */
	bool (*perf)(struct ftr_store *store, unsigned cpu, const struct iovec *parts, unsigned nr);
	/*
	 * (nullable: who needs it was refused) Append whole records to the file @name (at most
	 * FTR_STORE_NAME_MAX) of the directory, which only ftr knows.  False: they are not kept.
	 */
	bool (*extra)(struct ftr_store *store, const char *name, const struct iovec *parts,
		      unsigned nr);
	/*
	 * Move @bytes, whole pages of @cpu's ring buffer of the kernel, out of a pipe, which is
	 * then empty.  False: they are not kept, and nothing will be.  (kernel, kernel_file: NULL
	 * where nothing comes of the kernel's tracing.)
	 */
	bool (*kernel)(struct ftr_store *store, unsigned cpu, int pipe_fd, size_t bytes);
	/* What explains them (FTR_KERNEL_*_FILE).  0 or -errno, which was said. */
	int (*kernel_file)(struct ftr_store *store, const char *name,
			   const struct ftr_strbuf *text);
	/* @nr records of @task (the kernel's: NULL) were lost. */
	void (*lost)(struct ftr_store *store, struct ftr_store_task *task, uint64_t nr,
		     enum ftr_lost_cause cause);
	/* So many tasks more ran without a ring. */
	void (*untraced)(struct ftr_store *store, const struct ftr_ring_untraced *more);
	/* Write what is held back (nullable: nothing is). */
	void (*dump)(struct ftr_store *store);
	/* Nothing more comes of @task for now. */
	void (*rest)(struct ftr_store *store, struct ftr_store_task *task);
};

struct ftr_store {
	const struct ftr_store_ops *ops;
};

#endif /* FTR_RECORD_STORE_H */

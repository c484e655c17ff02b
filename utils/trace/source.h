/* SPDX-License-Identifier: MIT */
/*
 * A source: a pull iterator over batches of events.
 *
 *	const struct ftr_event *evs;
 *	ssize_t nr;
 *	while ((nr = ftr_source_next(source, &evs, err)) > 0)
 *		for (ssize_t i = 0; i < nr; i++) use(&evs[i]);
 */
#ifndef FTR_TRACE_SOURCE_H
#define FTR_TRACE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/trace/event.h"
#include "utils/trace/run.h"

#define FTR_SOURCE_BATCH 256		/* events a batch holds at most */
#define FTR_CACHE_LINE	 64		/* align batches to it */

struct ftr_source;
struct ftr_task;
struct ftr_watch;

struct ftr_seek {
	uint64_t from_ns;	/* 0 = everything before to_ns is wanted */
	uint64_t to_ns;		/* nothing behind this has to come; 0 = all */
	bool wants_funcs;	/* ... and the trace has to have the functions of all calls */
	struct ftr_watch *watch;	/* (borrowed, nullable) of what is read for it */
};

struct ftr_source_ops {
	/*
	 * Hand out the next events, 1..FTR_SOURCE_BATCH, in order.  They stay valid until the next
	 * call; a wrapping source may change them in place.  0 at the end (and ever after), or
	 * -errno for what no resynchronisation can mend.
	 */
	ssize_t (*next)(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err);
	/*
	 * (nullable) Told before anything is asked for: which runs will be.  Who wraps a source
	 * says what it needs of these itself.
	 */
	void (*wish)(struct ftr_source *source, const struct ftr_run_wish *wish);
	/*
	 * (nullable) Offer what comes next as a run instead.  1; 0 where it has to be handed out as
	 * events (or is the end), and as long as the run is not marked as taken; or -errno.
	 */
	int (*run)(struct ftr_source *source, struct ftr_run **run, struct ftr_err *err);
	/*
	 * (nullable) Told before anything is asked for: of what is before seek->from_ns, only those
	 * ENTRYs have to come whose calls are open then, and first halves of pairs that are.
	 */
	void (*seek)(struct ftr_source *source, const struct ftr_seek *seek);
	void (*free)(struct ftr_source *source);
};

struct ftr_source {
	const struct ftr_source_ops *ops;
	const struct ftr_task *task; /* (nullable) of a trace: all events are this one's */
	bool is_calls_only; /* the batch handed out last is known to hold ENTRY and EXIT alone */
};

static inline ssize_t ftr_source_next(struct ftr_source *source, struct ftr_event **evs,
				      struct ftr_err *err)
{
	return source->ops->next(source, evs, err);
}

static inline void ftr_source_wish(struct ftr_source *source, const struct ftr_run_wish *wish)
{
	if (source->ops->wish != NULL)
		source->ops->wish(source, wish);
}

static inline int ftr_source_run(struct ftr_source *source, struct ftr_run **run,
				 struct ftr_err *err)
{
	return source->ops->run == NULL ? 0 : source->ops->run(source, run, err);
}

static inline void ftr_source_seek(struct ftr_source *source, const struct ftr_seek *seek)
{
	if (source->ops->seek != NULL)
		source->ops->seek(source, seek);
}

/* NULL is fine.  A wrapping source frees what it wraps. */
static inline void ftr_source_free(struct ftr_source *source)
{
	if (source != NULL)
		source->ops->free(source);
}

#endif /* FTR_TRACE_SOURCE_H */

/* SPDX-License-Identifier: MIT */
/*
 * Text ahead: threads make the text of plain calls while what comes behind them is being read
 * (doc/adr/0094).  What is no plain call is left to the caller, in its turn:
 *
 *	ret = ftr_text_ahead_take(ahead, before, evs, nr, err);
 *	if (ret == 0)
 *		for (size_t i = 0; i < nr; i++) put(&evs[i]);
 *
 * Without threads, where there is one processor or little to do, @ahead takes nothing.
 */
#ifndef FTR_TRACE_TEXT_AHEAD_H
#define FTR_TRACE_TEXT_AHEAD_H

#include <stddef.h>

struct ftr_err;
struct ftr_event;
struct ftr_ostream;
struct ftr_text_ahead;
struct ftr_trace;

struct ftr_text_ops {
	/*
	 * A maker of text, which writes to @out and describes failures in @err; NULL when out of
	 * memory.  There are some, each used by one thread at a time; they share with @owner what
	 * none of them changes.
	 */
	void *(*maker_new)(const void *owner, struct ftr_ostream *out, struct ftr_err *err);
	void (*maker_free)(void *maker);
	/*
	 * The text of @evs, which follow @before (nullable: see ftr_text_ahead_take); it must not
	 * depend on what came earlier.  0 or -errno, described.
	 */
	int (*make)(void *maker, const struct ftr_event *before, const struct ftr_event *evs,
		    size_t nr);
};

/*
 * Text goes to @out, which is written by who calls, never by the threads.  NULL: do without, which
 * every function below takes.  @owner and @out are borrowed.
 */
struct ftr_text_ahead *ftr_text_ahead_new(const struct ftr_trace *trace,
					  const struct ftr_text_ops *ops, const void *owner,
					  struct ftr_ostream *out);

/*
 * 1: @evs are taken, all of them plain calls: ENTRY or EXIT, no payload, no flags.  0: none is, and
 * the text of all that were taken is in the stream, whose code tells of a failure to write.  Or
 * -errno, described.  @before: the event before @evs, if it was not taken and the text depends on
 * it; it has no payload.
 */
int ftr_text_ahead_take(struct ftr_text_ahead *ahead, const struct ftr_event *before,
			const struct ftr_event *evs, size_t nr, struct ftr_err *err);

/* The text of all that were taken is in the stream.  0 or -errno, described. */
int ftr_text_ahead_drain(struct ftr_text_ahead *ahead, struct ftr_err *err);

void ftr_text_ahead_free(struct ftr_text_ahead *ahead);	/* drops what was not drained */

#endif /* FTR_TRACE_TEXT_AHEAD_H */

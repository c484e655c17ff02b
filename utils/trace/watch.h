/* SPDX-License-Identifier: MIT */
/*
 * watch: lets events through, tells how far reading is, and can end it early: then what was read
 * until there is complete for all that comes behind, as if the trace ended.
 */
#ifndef FTR_TRACE_WATCH_H
#define FTR_TRACE_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct ftr_source;

struct ftr_watch {
	volatile sig_atomic_t is_ending;	/* set, also by a signal handler: end all sources */
	bool was_ended;		/* events may be missing because of that */
	uint64_t events;	/* that were read so far */
	/* (nullable) Called now and then, every few thousand events. */
	void (*tick)(struct ftr_watch *watch);
};

/*
 * Wrap @inner and take it over (also on failure); @watch (borrowed) outlives it, and may be shared.
 * NULL = out of memory.
 */
struct ftr_source *ftr_watch_new(struct ftr_source *inner, struct ftr_watch *watch);

#endif /* FTR_TRACE_WATCH_H */

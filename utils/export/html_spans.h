/* SPDX-License-Identifier: MIT */
/*
 * The spans of a page's timeline: calls, and times that a task was not running, in rows: one for
 * each depth of each task.  There is room for so many; when there are more, neighbours in a row
 * that are shorter than the grain are merged to runs.  Time is divided into cells of a grain: a
 * run's spans all begin in one cell, and are of the same span of the row above.  So
 *
 *	the spans of a row are in order of time and do not overlap,
 *	each lies within one span of the row above, or in none (its caller was not recorded),
 *	a run takes less than two grains, and what takes a grain or more is no run,
 *	calls and times of all spans of a row add up to what was added.
 */
#ifndef FTR_EXPORT_HTML_SPANS_H
#define FTR_EXPORT_HTML_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/vec.h"

struct ftr_event;
struct ftr_ostream;
struct ftr_task;

#define FTR_HTML_NOT_RUNNING UINT32_MAX

struct ftr_html_span {
	uint64_t start_ns, end_ns;
	uint64_t ns;			/* in its spans: less than the whole in a run only */
	/*
	 * By how much the time of func is more than that of the others: func is the one that most
	 * of the time is of, if one has more than half of it, else one with much of it.
	 */
	uint64_t lead_ns;
	uint32_t func;			/* its name_id, or FTR_HTML_NOT_RUNNING */
	uint32_t calls;			/* how many it stands for; UINT32_MAX: so many or more */
	uint32_t text;			/* what more is known of it, plus 1; 0 = nothing; no run */
	bool     is_run;
};

struct ftr_html_row {
	FTR_VEC(struct ftr_html_span) spans;
};

struct ftr_html_task {
	const struct ftr_task *task;	/* (borrowed) NULL: nothing of it */
	FTR_VEC(struct ftr_html_row) rows;	/* by depth */
};

struct ftr_html_spans {
	FTR_VEC(struct ftr_html_task) tasks;	/* by task id */
	size_t   span_nr, span_max;
	unsigned grain_bits;		/* 2^grain_bits ns; 0 = nothing was merged */
	uint32_t depth_max;		/* rows; what is deeper is left out */
	uint64_t left_out;		/* calls */
	uint64_t first_ns, last_ns;	/* of all that was added; first > last: nothing was */
};

/* All zero before.  @span_max: when all is added, there are no more. */
void ftr_html_spans_init(struct ftr_html_spans *spans, size_t span_max);
void ftr_html_spans_fini(struct ftr_html_spans *spans);

/* Would a span of so many ns be merged at once?  Then its text need not be made. */
static inline bool ftr_html_spans_is_short(const struct ftr_html_spans *spans, uint64_t ns)
{
	return spans->grain_bits != 0 && ns >> spans->grain_bits == 0;
}

/* Below which spans were merged; 0 = none were. */
static inline uint64_t ftr_html_spans_grain_ns(const struct ftr_html_spans *spans)
{
	return spans->grain_bits != 0 ? (uint64_t)1 << spans->grain_bits : 0;
}

/* Add a span (of a call or of none, func tells) that ended after all in its row.  0 or -ENOMEM. */
int ftr_html_spans_add(struct ftr_html_spans *spans, const struct ftr_task *task, uint32_t depth,
		       struct ftr_html_span span);
/* Add what ends with an event, if that is of interest; @text is of it.  0 or -ENOMEM. */
int ftr_html_spans_event(struct ftr_html_spans *spans, const struct ftr_event *ev, uint32_t text);
/* All are added: merge what is above span_max. */
void ftr_html_spans_end(struct ftr_html_spans *spans);

/*
 * A task's rows, base64 of LEB128 numbers: how many; for each, how many spans; for each of these:
 * from the end of the one before to its start, its duration, and func + 1 (0: not running) times
 * four, plus 1 where its text, plus 1, follows, or 2 where it is a run: calls and ns follow.
 */
void ftr_html_spans_put(const struct ftr_html_spans *spans, const struct ftr_html_task *task,
			struct ftr_ostream *out);

#endif /* FTR_EXPORT_HTML_SPANS_H */

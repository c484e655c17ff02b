/* SPDX-License-Identifier: MIT */
/* The calls of a trace as an indented listing, as uftrace replay prints it. */
#ifndef FTR_VIEW_REPLAY_H
#define FTR_VIEW_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/trace/sink.h"

enum ftr_replay_times {
	FTR_REPLAY_NO_TIMES,
	FTR_REPLAY_TIME_STAMPS,
	FTR_REPLAY_ELAPSED,
};

struct ftr_replay_opts {
	const char *fields;	/* -f (nullable: "duration,tid") */
	enum ftr_replay_times times;	/* --time-range: time columns */
	bool is_flat;
	bool is_json;
	bool is_column_view;
	uint64_t column_offset;	/* levels between the columns of two tasks */
	bool no_merge;		/* a leaf call takes two lines */
	bool no_comment;	/* no name behind a closing brace */
	bool has_srcline;	/* where functions are, behind their entries */
	bool no_args;
	bool no_callsite;	/* the pipeline leaves them out */
	bool has_task_newline;	/* an empty line where the task changes */
	bool use_color;
};

/*
 * NULL on a wrong field or out of memory, described in @err.  @opts is copied; its strings
 * borrowed.
 */
struct ftr_sink *ftr_replay_new(const struct ftr_replay_opts *opts, struct ftr_ostream *out,
				struct ftr_err *err);

#endif /* FTR_VIEW_REPLAY_H */

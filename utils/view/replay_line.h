/* SPDX-License-Identifier: MIT */
/* One line of replay: the columns before the bar, and room for what follows it. */
#ifndef FTR_VIEW_REPLAY_LINE_H
#define FTR_VIEW_REPLAY_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/ostream.h"

struct ftr_task;
struct ftr_module;

enum {
	REPLAY_DURATION, REPLAY_TID, REPLAY_ADDR, REPLAY_TIME, REPLAY_DELTA, REPLAY_ELAPSED,
	REPLAY_TASK, REPLAY_MODULE,
	REPLAY_FIELDS
};

#define REPLAY_FIELDS_DEFAULT (1u << REPLAY_DURATION | 1u << REPLAY_TID)

/* What a line tells in its columns.  A zero or NULL leaves the column blank. */
struct replay_line {
	const struct ftr_task *task;
	const char *tid_text;	/* "[   6134]" */
	uint64_t duration_ns;
	uint64_t time_ns;
	uint64_t delta_ns;	/* since the task's line before */
	uint64_t elapsed_ns;	/* since the trace began */
	uint64_t addr;
	const char *module;
	const char *what;	/* (nullable) in the place of the duration */
};

struct replay_layout {
	struct ftr_ostream *out;	/* (borrowed) */
	uint64_t mask;			/* fields shown */
	uint8_t  shown[REPLAY_FIELDS];	/* their numbers, in order */
	unsigned nr;
	size_t   width;			/* bytes of the columns at most, colours included */
	bool     use_color;
	char    *scratch;		/* (owned) a line too long for the stream's room */
	size_t   scratch_cap;
	bool     is_in_scratch;
};

#define REPLAY_TID_CHARS 9
/* "[%7d]" without a NUL. */
void replay_tid_text(char text[REPLAY_TID_CHARS], int32_t tid);

/*
 * @fields: -f (nullable).  @extra: a field that belongs to the default, then as the first;
 * REPLAY_FIELDS for none.
 */
int  replay_layout_init(struct replay_layout *layout, const char *fields, unsigned extra,
			struct ftr_err *err);
void replay_layout_fini(struct replay_layout *layout);

/* "# DURATION     TID      FUNCTION [SOURCE]"; nothing when no field is shown. */
void replay_layout_put_header(const struct replay_layout *layout, bool has_srcline);
/* The columns blank. */
void replay_layout_put_blank(const struct replay_layout *layout);

/*
 * Begin a line: its columns, the bar and @indent blanks stand before the returned place, where the
 * caller puts up to @bytes and calls replay_line_end with where it stopped.  NULL when out of
 * memory.
 */
char *replay_line_begin(struct replay_layout *layout, const struct replay_line *line,
			size_t indent, size_t bytes);
void replay_line_end(struct replay_layout *layout, const char *end);

static inline char *replay_put(char *p, const char *s, size_t len)
{
	__builtin_memcpy(p, s, len);
	return p + len;
}

#endif /* FTR_VIEW_REPLAY_LINE_H */

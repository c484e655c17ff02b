/* SPDX-License-Identifier: MIT */
/* The lines of replay: where each begins, by its task and depth, and those that are comments. */
#ifndef FTR_VIEW_REPLAY_PAGE_H
#define FTR_VIEW_REPLAY_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/text.h"
#include "utils/base/vec.h"
#include "utils/trace/task.h"
#include "utils/view/replay_line.h"

struct ftr_err;
struct ftr_event;
struct ftr_replay_opts;

/* What replay keeps of each task, by task->id. */
struct replay_task {
	char tid_text[REPLAY_TID_CHARS];
	bool is_seen;			/* a line of it was printed */
	uint32_t column;		/* --column-view: 0, 1 ... in order of their first lines */
	uint64_t last_ns;		/* of that line */
	uint64_t sched_out_id;		/* of its last sched-out, 0 = none */
};

struct replay_page {
	const struct ftr_replay_opts *opts;	/* (borrowed) */
	struct ftr_err *err;			/* (borrowed) */
	struct replay_layout layout;
	FTR_VEC(struct replay_task) tasks;
	uint32_t columns;
	const struct ftr_task *last_task;	/* (nullable) of the last line */
	uint64_t first_ns;			/* --field elapsed counts from here */
};

void replay_page_fini(struct replay_page *page);

/* -ENOMEM, described in page->err. */
int replay_page_out_of_memory(struct replay_page *page);

struct replay_task *replay_page_task_slow(struct replay_page *page, const struct ftr_task *task);

/* NULL when out of memory. */
static inline struct replay_task *replay_page_task(struct replay_page *page,
						   const struct ftr_task *task)
{
	if (task->id < page->tasks.nr && page->tasks.v[task->id].is_seen)
		return &page->tasks.v[task->id];
	return replay_page_task_slow(page, task);
}

/*
 * Begin the line of line->task and line->time_ns, which are set; other columns of its are filled in
 * here.  The caller puts up to @bytes at the returned place, and calls replay_line_end.
 * NULL when out of memory.
 */
char *replay_page_begin(struct replay_page *page, struct replay_line *line, uint32_t depth,
			size_t bytes);

/* A line that is a comment: @name and, in parentheses, @data if there is any.  0, or -ENOMEM. */
int replay_page_put_remark(struct replay_page *page, struct replay_line *line, uint32_t depth,
			   const char *name, struct ftr_slice data);
/* "LOST 5 records", one level deeper than the calls that they would have stood among. */
int replay_page_put_lost(struct replay_page *page, const struct ftr_event *ev);

#endif /* FTR_VIEW_REPLAY_PAGE_H */

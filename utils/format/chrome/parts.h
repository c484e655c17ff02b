/* SPDX-License-Identifier: MIT */
/* What lines of Chrome JSON are put together from: quoted once for each task and each function. */
#ifndef FTR_FORMAT_CHROME_PARTS_H
#define FTR_FORMAT_CHROME_PARTS_H

#include <stddef.h>
#include <string.h>

#include "utils/base/arena.h"
#include "utils/base/ostream.h"
#include "utils/base/strbuf.h"
#include "utils/base/vec.h"

struct ftr_func;
struct ftr_task;

#define CHROME_PART_CHUNK 16 /* parts are copied in such chunks, what lies behind them included */

struct chrome_part {
	const char *s;		/* (borrowed, nullable: not made yet) in the arena */
	size_t len;
};

/* Parts with the phase of calls in them are indexed by ftr_event_type: ENTRY, EXIT. */
struct chrome_task {
	struct chrome_part call[2];	/* ,"ph":"B","pid":P,"tid":T,"name": */
	struct chrome_part other;	/* ,"pid":P,"tid":T,"name": */
	const char *out;	/* (nullable) name of the schedule that has begun */
};

struct chrome_func {
	struct chrome_part name;	/* "main"} */
	struct chrome_part srcline;	/* "srcline":"main.c:7", or empty */
};

struct chrome_parts {
	struct ftr_arena arena;
	struct ftr_strbuf text;
	struct ftr_ostream json;	/* where parts are made */
	FTR_VEC(struct chrome_task) tasks;	/* by task id */
	FTR_VEC(struct chrome_func) funcs;	/* by func id */
};

/* 0 or -ENOMEM; chrome_parts_fini() in either case. */
int chrome_parts_init(struct chrome_parts *parts);
void chrome_parts_fini(struct chrome_parts *parts);

/* Make the parts of @task or @func, which then stand at its id.  0 or -ENOMEM. */
int chrome_parts_add_task(struct chrome_parts *parts, const struct ftr_task *task);
int chrome_parts_add_func(struct chrome_parts *parts, const struct ftr_func *func);

/* Copies up to a chunk more than the part's bytes. */
static inline char *chrome_put_part(char *p, const struct chrome_part *part)
{
	for (size_t i = 0; i < part->len; i += CHROME_PART_CHUNK)
		memcpy(p + i, part->s + i, CHROME_PART_CHUNK);
	return p + part->len;
}

#endif /* FTR_FORMAT_CHROME_PARTS_H */

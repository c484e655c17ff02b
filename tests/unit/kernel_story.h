/* SPDX-License-Identifier: MIT */
/*
 * Traces with functions and tracepoints of the kernel, put together by hand, as uftrace
 * directories.
 */
#ifndef TESTS_UNIT_KERNEL_STORY_H
#define TESTS_UNIT_KERNEL_STORY_H

#include <stdint.h>

#include "utils/base/strbuf.h"
#include "utils/trace/event.h"
#include "utils/trace/source.h"
#include "utils/trace/trace.h"

#define STORY_TASKS 3
#define STORY_FUNCS 4

extern const int32_t story_tids[STORY_TASKS];

/* A source of events that were put together by hand. */
struct story {
	struct ftr_source base;
	struct ftr_trace *trace;
	struct ftr_task *tasks[STORY_TASKS];
	const struct ftr_func *user, *kernel[STORY_FUNCS];
	FTR_VEC(struct ftr_event) evs;
	uint64_t time_ns;	/* of the events that are put next */
	size_t told;
};

/* Functions that put events into a story. */
typedef void (*story_fn)(struct story *story);

void story_entry(struct story *story, int task, const struct ftr_func *func);
void story_exit(struct story *story, int task, const struct ftr_func *func);
void story_point(struct story *story, int task, struct ftr_event point, const char *text);
void story_lost(struct story *story, int task, uint64_t nr, unsigned cpu);

#define STORY_POINT(name_, id_, cpu_) \
	(struct ftr_event){ .point = { .name = (name_), .id = (id_), .cpu_nr = (cpu_) + 1 } }

/* Calls of the kernel in calls of the program, on CPUs 0 and 3, with long gaps. */
void story_nested(struct story *story);

/* What @make tells, made well-formed.  The source goes before the trace. */
struct ftr_source *story_tell(story_fn make, struct ftr_trace **trace);

/* As a directory.  Returns how many things were cut; @text (nullable) gets what is said of them. */
uint64_t story_write(const char *path, story_fn make, struct ftr_strbuf *text);
uint64_t story_write_source(const char *path, struct ftr_source *source, struct ftr_trace *trace,
			    struct ftr_strbuf *text);

/* Setup and teardown of a test: a directory of its own, which is the working directory. */
int story_setup(void **state);
int story_teardown(void **state);

struct ftr_strbuf story_slurp(const char *path);

#endif /* TESTS_UNIT_KERNEL_STORY_H */

/* SPDX-License-Identifier: MIT */
/*
 * What html_lanes_take.c and html_lanes_switch.c find in events, html_lanes.c keeps, and
 * html_lanes_put.c writes.
 */
#ifndef FTR_EXPORT_HTML_LANES_DATA_H
#define FTR_EXPORT_HTML_LANES_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/arena.h"
#include "utils/base/hashmap.h"
#include "utils/base/strbuf.h"
#include "utils/base/strpool.h"
#include "utils/base/vec.h"
#include "utils/export/html_series.h"
#include "utils/trace/memory_blocks.h"

struct ftr_event;
struct ftr_task;
struct ftr_trace;

enum html_lane {
	HTML_LANE_RUNS,		/* the task had a CPU */
	HTML_LANE_SYSCALLS,
	HTML_LANE_WAITS,	/* calls that may block, and others of the runtime's pairs */
	HTML_LANE_SPANS,	/* async spans and flows */
	HTML_LANE_KERNEL,	/* of pairs of the kernel's events, not the task's own */
	HTML_LANE_BLOCKS,	/* of memory that it asked for */
	HTML_LANES
};

struct html_item {
	uint64_t at_ns;
	uint64_t size;		/* nanoseconds; of BLOCKS bytes */
	uint32_t what;		/* of RUNS the CPU plus 1, 0 = not known; of others a name */
};

struct html_lane_state {
	size_t nr;
	uint64_t least;		/* smaller ones are left out; of BLOCKS: so many have all */
	uint64_t least_nr;	/* so large ones that were counted so far */
	uint64_t left_out;	/* of BLOCKS none are: others have their bytes */
};

struct html_mark {
	uint64_t time_ns;
	uint64_t nr;		/* of its name, from 0 */
	uint32_t name;
	char *text;		/* (owned, nullable: none) */
};

/* Names of items and marks, by id. */
struct html_name {
	uint64_t seen, kept;	/* marks */
	uint64_t every;		/* of the marks are kept: of every so many one; 0 = 1 */
};

struct html_lane_task {
	const struct ftr_task *task;	/* NULL: nothing of it */
	FTR_VEC(struct html_item) lanes[HTML_LANES];
	FTR_VEC(struct html_mark) marks;
	uint64_t first_ns, last_ns;	/* of its events */
	uint64_t carried_bytes;		/* of blocks since the last that was kept */
	uint64_t run_ns;		/* it runs since then, where it does */
	uint16_t run_cpu;		/* plus 1, 0 = not known */
	bool has_events, has_sched, has_switched, is_running;
};

/* By number plus 1: who has it, by the kernel's sched_switch. */
struct html_lane_cpu {
	uint64_t since_ns;	/* or, before any switch: of its first event, UINT64_MAX = none */
	int32_t tid;		/* 0 = it is idle, or nobody knows */
};

/* Whose values a series has: of the whole system where both are 0, of a process where tid is. */
struct html_owner {
	int32_t pid, tid;
};

struct html_values {
	struct html_owner owner;
	uint32_t name;
	const char *unit;		/* (nullable) */
	struct ftr_html_series series;
};

struct ftr_html_lanes {
	const struct ftr_trace *trace;
	size_t nr_max;			/* of each lane, and of marks */
	FTR_VEC(struct html_lane_task) tasks;	/* by task id */
	FTR_VEC(struct html_lane_cpu) cpus;	/* by number plus 1 */
	bool has_sched;			/* events of tasks say who runs: others are not asked */
	struct html_lane_state lanes[HTML_LANES];
	struct ftr_strpool name_pool;	/* id = index in names */
	FTR_VEC(struct html_name) names;
	FTR_VEC(const char *) name_texts;
	size_t mark_nr;
	FTR_VEC(struct html_values) values;
	struct ftr_hashmap values_by_key;	/* index in values, + 1 */
	struct ftr_memory_blocks blocks;	/* owners are indices in processes */
	uint64_t block_nr;		/* that were asked for */
	FTR_VEC(uint64_t) live_bytes;		/* by that index */
	struct ftr_hashmap process_by_pid;	/* that index, + 1 */
	struct ftr_hashmap begun;		/* by key of a pair: when, in kernel_begun, + 1 */
	FTR_VEC(uint64_t) kernel_begun;		/* UINT64_MAX = it ended */
	struct ftr_strbuf text;
	uint64_t first_ns, last_ns;	/* of what is shown */
	uint64_t end_ns;		/* of all events */
};

/* Of these each returns NULL, or -ENOMEM, where there is no memory. */
struct html_lane_task *html_lane_task_get(struct ftr_html_lanes *lanes,
					  const struct ftr_task *task);
int html_lane_name_get(struct ftr_html_lanes *lanes, const char *s, size_t len, uint32_t *id);
int html_lane_item_add(struct ftr_html_lanes *lanes, struct html_lane_task *task,
		       enum html_lane lane, struct html_item item);
int html_lane_block_add(struct ftr_html_lanes *lanes, struct html_lane_task *task,
			uint64_t time_ns, uint64_t bytes);
int html_lane_mark_add(struct ftr_html_lanes *lanes, const struct ftr_event *ev, const char *name);
/* A value of what is named lanes->text; @made has no series yet. */
int html_lane_value_add(struct ftr_html_lanes *lanes, struct html_values made, uint64_t time_ns,
			double value);

/* html_lanes_switch.c; each 0 or -ENOMEM */
int html_lane_run_end(struct ftr_html_lanes *lanes, struct html_lane_task *task, uint64_t time_ns);
/* Something happens on a CPU. */
int html_lane_cpu_see(struct ftr_html_lanes *lanes, uint16_t cpu_nr, uint64_t time_ns);
/* A POINT on a CPU that was seen: maybe a switch. */
int html_lane_switch_take(struct ftr_html_lanes *lanes, const struct ftr_event *ev);
void html_lane_switches_drop(struct ftr_html_lanes *lanes);
int html_lane_switches_end(struct ftr_html_lanes *lanes);

#endif /* FTR_EXPORT_HTML_LANES_DATA_H */

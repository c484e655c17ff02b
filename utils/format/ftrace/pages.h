/* SPDX-License-Identifier: MIT */
/*
 * Pages of the kernel's ring buffers, a CPU's in one piece of memory, whoever keeps them: a walk
 * over all of them, and sources of their events.  Who owns the pages says whose each event is, so
 * that a file or chunk of a new kind needs a struct ftr_ftrace_owner.  doc/adr/0019, 0031.
 *
 *	pages.ftrace = &ftrace; pages.owner = &owner; pages.arg = reader;
 *	ftr_vec_push(&pages.cpus, cpu);				(for each CPU)
 *	ftr_ftrace_pages_walk(&pages);
 *	source = ftr_ftrace_source(&pages, &task->kernel);	(or NULL: of all tasks)
 */
#ifndef FTR_FORMAT_FTRACE_PAGES_H
#define FTR_FORMAT_FTRACE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/format/ftrace/ftrace.h"

struct ftr_task;

/* A task's pages on one CPU: their numbers, ascending, with flags. */
struct ftr_ftrace_task_cpu {
	uint32_t cpu;			/* index in ftr_ftrace_pages.cpus */
	FTR_VEC(uint32_t) pages;
};

#define FTR_FTRACE_PAGE_LOST (UINT32_C(1) << 31) /* the task reports the loss before the page */
#define FTR_FTRACE_PAGE_SOLE (UINT32_C(1) << 30) /* events that fit are all the task's */
#define FTR_FTRACE_PAGE_NR   (FTR_FTRACE_PAGE_SOLE - 1)

/* A task that kernel events belong to.  Of its owner, zeroed but for task. */
struct ftr_ftrace_task {
	struct ftr_task *task;		/* (borrowed) */
	FTR_VEC(struct ftr_ftrace_task_cpu) cpus;
};

void ftr_ftrace_task_fini(struct ftr_ftrace_task *task);

/* One CPU's pages of one ring buffer. */
struct ftr_ftrace_cpu {
	const char *name;		/* (borrowed) of the file, for messages */
	const uint8_t *data;		/* (borrowed) */
	size_t bytes;
	uint64_t offset;		/* in the file, for messages */
	uint32_t page_bytes;
	uint16_t cpu_nr;		/* plus 1, as events have it */
	bool is_mapped;			/* what lies far behind need not stay in memory */
	const void *buffer;		/* (borrowed, nullable) the owner's */
};

/* Who owns the pages. */
struct ftr_ftrace_owner {
	/* The task of the event; NULL = none that is shown. */
	struct ftr_ftrace_task *(*task)(void *arg, const struct ftr_ftrace_cpu *cpu,
					const struct ftr_ftrace_page *page,
					const struct ftr_ftrace_event *event);
	/* Who reports a loss on a CPU where none of the events before is anybody's?  (nullable) */
	struct ftr_ftrace_task *(*first)(void *arg, const struct ftr_ftrace_cpu *cpu);
	/* (nullable) Nanoseconds of a page's time. */
	uint64_t (*time_ns)(void *arg, const struct ftr_ftrace_cpu *cpu, uint64_t time);
	/* (nullable) The instance whose buffer it is, NULL: the top one; stands before texts. */
	const char *(*instance)(void *arg, const struct ftr_ftrace_cpu *cpu);
	bool is_indexed;		/* sources of single tasks will be asked for */
};

/* What the kernel traced, as a file of its own has it; who joins it to a trace is its owner. */
struct ftr_ftrace_side {
	struct ftr_ftrace *ftrace;
	const struct ftr_ftrace_cpu *cpus;
	size_t cpu_nr;
	const char *clock;		/* (nullable: not known) "mono", "local" ... */
	struct ftr_slice kallsyms;
	uint64_t (*time_ns)(void *arg, const struct ftr_ftrace_cpu *cpu, uint64_t time);
	const char *(*instance)(void *arg, const struct ftr_ftrace_cpu *cpu);
	void *arg;
	void (*free)(void *arg);	/* of all of it */
};

struct ftr_ftrace_pages {
	struct ftr_ftrace *ftrace;	/* (borrowed) */
	const struct ftr_ftrace_owner *owner;
	void *arg;			/* of the owner's functions */
	FTR_VEC(struct ftr_ftrace_cpu) cpus;	/* (owned) by number */
};

void ftr_ftrace_pages_fini(struct ftr_ftrace_pages *pages);	/* zeroed is fine */

/* ---- pages_walk.c ---- */

/*
 * Look at every event once: damage is warned about, trace->first_ns is the first event's time, and
 * where is_indexed the tasks get to know their pages.  0 or -ENOMEM.
 */
int ftr_ftrace_pages_walk(struct ftr_ftrace_pages *pages);

/* A walk goes from @from to @to of the CPU's data. */
void ftr_ftrace_cpu_pass(const struct ftr_ftrace_cpu *cpu, size_t from, size_t to);

/* ---- pages_source.c ---- */

/*
 * The kernel's events of one task on all CPUs, or of all tasks (@task is NULL), by time.  NULL: out
 * of memory.
 */
struct ftr_source *ftr_ftrace_source(struct ftr_ftrace_pages *pages, struct ftr_ftrace_task *task);

#endif /* FTR_FORMAT_FTRACE_PAGES_H */

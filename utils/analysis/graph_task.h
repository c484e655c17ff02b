/* SPDX-License-Identifier: MIT */
/*
 * Which task started which: the tree of a trace's tasks as data, threads below their process,
 * processes below the one that forked them; how long they lived, what they executed, how they
 * ended.
 *
 * What they executed and how they ended is taken from their system calls (functions named
 * sys_execve and sys_exit, with named arguments, in whatever format), else from the sessions of the
 * trace and its end.
 */
#ifndef FTR_ANALYSIS_GRAPH_TASK_H
#define FTR_ANALYSIS_GRAPH_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/trace/sink.h"

struct ftr_task;

#define FTR_TASK_NONE UINT32_MAX

/* A program that was executed, or that was to be. */
struct ftr_task_image {
	const char *command;	/* "gcc -c a.c", quoted where a shell would need it */
	const char *error;	/* NULL, or why it failed: "ENOENT" */
};

/* Nodes are named by their tasks' ids. */
struct ftr_task_node {
	const struct ftr_task *task;	/* (borrowed) */
	uint32_t parent;	/* or FTR_TASK_NONE: a root */
	uint32_t first_child;	/* or FTR_TASK_NONE */
	uint32_t last_child;
	uint32_t next;		/* sibling or further root, or FTR_TASK_NONE */
	uint64_t total_ns; /* from its start to its exit, or from its first call to the end of its
			      last */
	uint64_t self_ns;	/* of that: not scheduled out */
	const char *exit;	/* "0", "SIGKILL"; NULL = not known */
	FTR_VEC(struct ftr_task_image) images;	/* by time */
};

struct ftr_task_tree {
	FTR_VEC(struct ftr_task_node) nodes;	/* by task->id */
	uint32_t first_root;	/* or FTR_TASK_NONE: no task */
	bool has_syscalls;	/* commands and exits are from system calls */
};

/*
 * A sink that makes the tree; the tasks of the stream may come one after the other.  NULL = out of
 * memory.
 */
struct ftr_sink *ftr_task_tree_new(struct ftr_err *err);
/* After the pump; valid as long as the sink and the trace. */
const struct ftr_task_tree *ftr_task_tree_get(const struct ftr_sink *sink);

#endif /* FTR_ANALYSIS_GRAPH_TASK_H */

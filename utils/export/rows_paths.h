/* SPDX-License-Identifier: MIT */
/*
 * What the calls of each line of callers sum up to, for each minute (doc/rows.md, table paths): the
 * nodes of ftr graph.  A path is known by a number that is made of the names in it, and is the same
 * on all machines; parts of a trace, added, are the whole.  All numbers fit into 63 bits: many
 * readers know no unsigned ones.
 */
#ifndef FTR_EXPORT_ROWS_PATHS_H
#define FTR_EXPORT_ROWS_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/analysis/graph.h"
#include "utils/base/hashmap.h"
#include "utils/base/vec.h"

struct ftr_func;

/* More are written before the minute is over: they add up. */
#define ROWS_PATHS_MAX 65536u

struct rows_program {
	const char *name;	/* (borrowed) */
	const char *build_id;	/* (borrowed) "": not known */
	uint64_t path;
};

/* An open call. */
struct rows_frame {
	const struct ftr_func *func;
	uint64_t path;
	uint64_t start_ns;
};

struct rows_path {
	uint64_t path, parent;	/* an outermost call's parent is its program */
	struct rows_program program;
	const struct ftr_func *func;
	uint32_t depth;
	uint64_t calls;		/* that ended; 0: it is here for its callees */
	uint64_t total_ns, self_ns;
	uint64_t first_ns;	/* the first one began, of those that were open or ended */
	struct ftr_graph_span total_span, self_span;	/* INT64_MAX, 0: of none */
};

/* All zero = empty. */
struct rows_paths {
	uint64_t minute_ns;
	struct ftr_hashmap by_path;
	FTR_VEC(struct rows_path *) all;	/* (owned) a caller before its callees */
};

struct rows_program rows_program_of(const char *name, const char *build_id);
/* What @name is called by is known by @parent. */
uint64_t rows_path_below(uint64_t parent, const char *name);

/*
 * Of the innermost of @nr open calls, the outermost first; its callers are there, too.  NULL = out
 * of memory.
 */
struct rows_path *rows_paths_get(struct rows_paths *paths, const struct rows_program *program,
				 const struct rows_frame *frames, size_t nr);
/* A call that ended.  @is_inherited: it is its parent's, whose fork the task comes from. */
void rows_path_count(struct rows_path *path, uint64_t total_ns, uint64_t self_ns,
		     bool is_inherited);
/* Empty it, for the minute that begins at @minute_ns. */
void rows_paths_restart(struct rows_paths *paths, uint64_t minute_ns);
void rows_paths_fini(struct rows_paths *paths);

#endif /* FTR_EXPORT_ROWS_PATHS_H */

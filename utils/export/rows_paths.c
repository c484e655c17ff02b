/* SPDX-License-Identifier: MIT */
/* What the calls of each line of callers sum up to. */
#include "utils/export/rows_paths.h"

#include <stdlib.h>

#define HASH_START  UINT64_C(0xcbf29ce484222325)	/* FNV-1a */
#define HASH_FACTOR UINT64_C(0x100000001b3)

uint64_t rows_path_below(uint64_t parent, const char *name)
{
	uint64_t hash = parent;

	do {
		hash ^= (uint8_t)*name;
		hash *= HASH_FACTOR;
	} while (*name++ != '\0');
	return hash & INT64_MAX;
}

struct rows_program rows_program_of(const char *name, const char *build_id)
{
	return (struct rows_program){ name, build_id, rows_path_below(HASH_START, name) };
}

static struct rows_path *path_add(struct rows_paths *paths, const struct rows_program *program,
				  const struct rows_frame *frames, size_t nr)
{
	const struct rows_frame *frame = &frames[nr - 1];
	struct rows_path *path = calloc(1, sizeof(*path));

	if (path == NULL || ftr_vec_push(&paths->all, path) < 0) {
		free(path);
		return NULL;
	}
	*path = (struct rows_path){
		.path = frame->path, .parent = nr > 1 ? frames[nr - 2].path : program->path,
		.program = *program, .func = frame->func, .depth = (uint32_t)(nr - 1),
		.first_ns = frame->start_ns, .total_span = { .min_ns = INT64_MAX },
		.self_span = { .min_ns = INT64_MAX },
	};
	return ftr_hashmap_set(&paths->by_path, path->path, path) < 0 ? NULL : path;
}

/* Where one is there, its callers are. */
static size_t nr_there(const struct rows_paths *paths, const struct rows_frame *frames, size_t nr)
{
	while (nr > 0 && ftr_hashmap_find(&paths->by_path, frames[nr - 1].path) == NULL)
		nr--;
	return nr;
}

/* No caller begins after what it calls, not even where its first call is still open. */
static void note_begins(struct rows_paths *paths, const struct rows_frame *frames, size_t nr)
{
	for (; nr > 0; nr--) {
		struct rows_path *path = ftr_hashmap_find(&paths->by_path, frames[nr - 1].path);

		if (path != NULL && frames[nr - 1].start_ns < path->first_ns)
			path->first_ns = frames[nr - 1].start_ns;
	}
}

struct rows_path *rows_paths_get(struct rows_paths *paths, const struct rows_program *program,
				 const struct rows_frame *frames, size_t nr)
{
	struct rows_path *path = ftr_hashmap_find(&paths->by_path, frames[nr - 1].path);
	size_t there;

	if (path != NULL && path->first_ns <= frames[nr - 1].start_ns)
		return path;
	there = nr_there(paths, frames, nr);
	note_begins(paths, frames, there);
	while (there < nr) {
		path = path_add(paths, program, frames, ++there);
		if (path == NULL)
			return NULL;
	}
	return path;
}

void rows_path_count(struct rows_path *path, uint64_t total_ns, uint64_t self_ns,
		     bool is_inherited)
{
	path->total_ns += total_ns;
	path->self_ns += self_ns;
	if (is_inherited)
		return;
	path->calls++;
	ftr_graph_span_add(&path->total_span, total_ns);
	ftr_graph_span_add(&path->self_span, self_ns);
}

void rows_paths_restart(struct rows_paths *paths, uint64_t minute_ns)
{
	rows_paths_fini(paths);
	paths->minute_ns = minute_ns;
}

void rows_paths_fini(struct rows_paths *paths)
{
	for (size_t i = 0; i < paths->all.nr; i++)
		free(paths->all.v[i]);
	ftr_vec_fini(&paths->all);
	ftr_hashmap_fini(&paths->by_path);
}

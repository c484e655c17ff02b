/* SPDX-License-Identifier: MIT */
/* build: lists of files, the tree of processes. */
#include "utils/view/build.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "utils/analysis/build.h"
#include "utils/base/ostream.h"
#include "utils/base/text.h"
#include "utils/trace/syscall.h"

#define PROCESS_DEPTH_MAX 200

static int compare_files(const void *a, const void *b)
{
	const struct ftr_build_file *left = *(const struct ftr_build_file *const *)a;
	const struct ftr_build_file *right = *(const struct ftr_build_file *const *)b;

	return strcmp(left->path, right->path);
}

/* On one line, whatever stands in its arguments. */
static void put_command(struct ftr_ostream *out, const struct ftr_syscall *image)
{
	for (size_t i = 0; i < image->exec.argc; i++) {
		struct ftr_slice word = image->exec.argv[i];

		ftr_ostream_putc(out, ' ');
		for (size_t j = 0; j < word.len; j++) {
			if (word.s[j] == '\n')
				ftr_ostream_puts(out, "\\n");
			else
				ftr_ostream_putc(out, word.s[j]);
		}
	}
}

static void put_makers(struct ftr_ostream *out, const struct ftr_build *build,
		       const struct ftr_build_file *file)
{
	for (size_t i = 0; i < file->writers.nr; i++) {
		const struct ftr_build_process *process = &build->processes.v[file->writers.v[i]];

		ftr_ostream_printf(out, "%s%d", i == 0 ? "\t" : "; ", process->pid);
		if (process->image != NULL)
			put_command(out, process->image);
	}
}

static void put_file(struct ftr_ostream *out, const struct ftr_build *build,
		     const struct ftr_build_file *file, bool has_makers)
{
	if (has_makers)
		ftr_ostream_printf(out, "%c%c%c ", file->readers.nr > 0 ? 'r' : '-',
				   file->writers.nr > 0 ? 'w' : '-', file->is_run ? 'x' : '-');
	ftr_ostream_puts(out, file->path);
	if (has_makers)
		put_makers(out, build, file);
	ftr_ostream_putc(out, '\n');
}

/* Those with a byte in @seen (NULL: all), by path. */
static void put_files(struct ftr_ostream *out, const struct ftr_build *build, const uint8_t *seen,
		      bool has_makers)
{
	FTR_VEC(const struct ftr_build_file *) chosen = { 0 };

	for (size_t i = 0; i < build->files.nr; i++) {
		const struct ftr_build_file *file = &build->files.v[i];

		if ((seen == NULL || seen[i]) && !file->is_temporary &&
		    (seen == NULL || file->readers.nr + file->writers.nr > 0) &&
		    ftr_vec_push(&chosen, file) < 0)
			break;
	}
	if (chosen.nr > 0)
		qsort(chosen.v, chosen.nr, sizeof(*chosen.v), compare_files);
	for (size_t i = 0; i < chosen.nr; i++)
		put_file(out, build, chosen.v[i], has_makers);
	ftr_vec_fini(&chosen);
}

static void put_process(struct ftr_ostream *out, const struct ftr_build_process *process,
			unsigned depth)
{
	char duration[FTR_DURATION_CHARS + 1] = "         ?";

	if (process->end_ns >= process->start_ns)
		*ftr_fmt_duration(duration, process->end_ns - process->start_ns) = '\0';
	ftr_ostream_printf(out, "%s %4d %5zu %5zu  %*s%d", duration, process->status,
			   process->reads.nr, process->writes.nr,
			   (int)(depth < 100 ? depth * 2 : 200), "", process->pid);
	if (process->has_own_image)
		put_command(out, process->image);
	ftr_ostream_putc(out, '\n');
}

/* Parents come before their children in the list. */
static void put_tree(struct ftr_ostream *out, const struct ftr_build *build, uint32_t root,
		     unsigned depth)
{
	put_process(out, &build->processes.v[root], depth);
	for (uint32_t i = root + 1; depth < PROCESS_DEPTH_MAX && i < build->processes.nr; i++) {
		if (build->processes.v[i].parent == root)
			put_tree(out, build, i, depth + 1);
	}
}

void ftr_build_print_processes(const struct ftr_build *build, struct ftr_ostream *out)
{
	ftr_ostream_puts(out, "# DURATION STAT  READ WROTE  PROCESS\n");
	for (uint32_t i = 0; i < build->processes.nr; i++) {
		if (build->processes.v[i].parent == i)
			put_tree(out, build, i, 0);
	}
}

typedef int walk_fn(const struct ftr_build *build, const struct ftr_build_file *file,
		    uint8_t *seen);

static int print_closure(const struct ftr_build *build, const char *path, walk_fn *walk,
			 struct ftr_ostream *out, struct ftr_err *err)
{
	char real[PATH_MAX];
	const struct ftr_build_file *file = ftr_build_find(build,
							   realpath(path, real) ? real : path);
	uint8_t *seen;

	if (file == NULL)
		return ftr_err_set(err, ENOENT, "%s: not used by the build; ftr build --files "
				   "lists those that were", path);
	seen = calloc(build->files.nr, 1);
	if (seen == NULL || walk(build, file, seen) < 0) {
		free(seen);
		return ftr_err_set(err, ENOMEM, "out of memory");
	}
	put_files(out, build, seen, false);
	free(seen);
	return 0;
}

void ftr_build_print_files(const struct ftr_build *build, struct ftr_ostream *out)
{
	put_files(out, build, NULL, true);
}

int ftr_build_print_inputs(const struct ftr_build *build, const char *path,
			   struct ftr_ostream *out, struct ftr_err *err)
{
	return print_closure(build, path, ftr_build_inputs, out, err);
}

int ftr_build_print_outputs(const struct ftr_build *build, const char *path,
			    struct ftr_ostream *out, struct ftr_err *err)
{
	return print_closure(build, path, ftr_build_outputs, out, err);
}

static int compare_names(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

int ftr_build_print_unused(const struct ftr_build *build, const char *dir, const char *data,
			   struct ftr_ostream *out, struct ftr_err *err)
{
	char real[PATH_MAX], own[PATH_MAX];
	char *roots[2] = { real, NULL };
	FTSENT *entry;
	FTS *tree;

	if (realpath(dir, real) == NULL ||
	    (tree = fts_open(roots, FTS_PHYSICAL, compare_names)) == NULL)
		return ftr_err_set(err, errno, "%s: %s", dir, strerror(errno));
	if (realpath(data, own) == NULL)
		own[0] = '\0';
	while ((entry = fts_read(tree)) != NULL) {
		if (entry->fts_info == FTS_D &&
		    (strcmp(entry->fts_name, ".git") == 0 || strcmp(entry->fts_path, own) == 0))
			fts_set(tree, entry, FTS_SKIP);
		else if (entry->fts_info == FTS_F && ftr_build_find(build, entry->fts_path) == NULL)
			ftr_ostream_printf(out, "%s\n", entry->fts_path);
	}
	fts_close(tree);
	return 0;
}


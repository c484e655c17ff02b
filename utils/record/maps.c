/* SPDX-License-Identifier: MIT */
/* The modules of a process, from /proc/PID/maps. */
#include "utils/record/maps.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/text.h"
#include "utils/record/emulated.h"

#define DELETED " (deleted)"

struct line {
	uint64_t start, end;
	char prot[5];
	const char *path;
	size_t path_len;
};

/* "START-END PROT OFFSET DEV INODE   PATH"; the path may hold blanks. */
static bool line_parse(struct line *line, const char *s, size_t len)
{
	struct ftr_slice rest = ftr_slice_make(s, len), end, start, prot, skipped;

	if (!ftr_slice_split(&rest, ' ', &end) || !ftr_slice_split(&end, '-', &start) ||
	    !ftr_slice_split(&rest, ' ', &prot) || prot.len >= sizeof(line->prot))
		return false;
	for (int i = 0; i < 3; i++) {
		if (!ftr_slice_split(&rest, ' ', &skipped))
			return false;
	}
	if (ftr_parse_u64(start, 16, &line->start) < 0 || ftr_parse_u64(end, 16, &line->end) < 0)
		return false;
	memset(line->prot, 0, sizeof(line->prot));
	memcpy(line->prot, prot.s, prot.len);
	while (rest.len > 0 && *rest.s == ' ')
		rest = ftr_slice_make(rest.s + 1, rest.len - 1);
	line->path = rest.s;
	line->path_len = rest.len;
	return line->start < line->end;
}

static bool path_is_wanted(const struct line *line)
{
	if (line->path_len == 7 && memcmp(line->path, "[stack]", 7) == 0)
		return true;
	return line->path_len > 0 && line->path[0] == '/';
}

static size_t path_trim(const struct line *line)
{
	size_t cut = strlen(DELETED);

	if (line->path_len > cut &&
	    memcmp(line->path + line->path_len - cut, DELETED, cut) == 0)
		return line->path_len - cut;
	return line->path_len;
}

static struct ftr_maps_range *range_find(struct ftr_maps *maps, const char *path, size_t len)
{
	size_t i;

	for (i = maps->ranges.nr; i-- > 0;) {
		struct ftr_maps_range *range = &maps->ranges.v[i];

		if (strncmp(range->path, path, len) == 0 && range->path[len] == '\0')
			return range;
	}
	return NULL;
}

static int range_add(struct ftr_maps *maps, const struct line *line)
{
	size_t len = path_trim(line);
	struct ftr_maps_range *range = range_find(maps, line->path, len);
	struct ftr_maps_range fresh = { .start = line->start, .end = line->end };

	if (range != NULL) {
		range->end = line->end;
		if (strchr(range->prot, 'x') == NULL && strchr(line->prot, 'x') != NULL)
			memcpy(range->prot, line->prot, sizeof(range->prot));
		return 0;
	}
	fresh.path = strndup(line->path, len);
	if (fresh.path == NULL)
		return -ENOMEM;
	memcpy(fresh.prot, line->prot, sizeof(fresh.prot));
	if (ftr_vec_push(&maps->ranges, fresh) < 0) {
		free(fresh.path);
		return -ENOMEM;
	}
	return 0;
}

/* Data files have no functions. */
static void drop_data_files(struct ftr_maps *maps)
{
	size_t kept = 0, i;

	for (i = 0; i < maps->ranges.nr; i++) {
		struct ftr_maps_range *range = &maps->ranges.v[i];

		if (range->path[0] == '/' && strchr(range->prot, 'x') == NULL)
			free(range->path);
		else
			maps->ranges.v[kept++] = *range;
	}
	maps->ranges.nr = kept;
}

static int all_parse(struct ftr_maps *maps, const char *text, size_t len)
{
	const char *end = text + len;
	struct line line;
	int ret = 0;

	memset(maps, 0, sizeof(*maps));
	while (text < end && ret == 0) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline != NULL ? newline : end;

		if (line_parse(&line, text, (size_t)(stop - text)) && path_is_wanted(&line))
			ret = range_add(maps, &line);
		text = stop + 1;
	}
	if (ret < 0)
		ftr_maps_fini(maps);
	return ret;
}

int ftr_maps_parse(struct ftr_maps *maps, const char *text, size_t len)
{
	int ret = all_parse(maps, text, len);

	if (ret == 0)
		drop_data_files(maps);
	return ret;
}

/* The kernel takes an emulated program's code for data, and its own is the emulator's. */
static void mark_emulated(struct ftr_maps *maps, int32_t pid)
{
	char link[64], emulator[PATH_MAX];
	size_t kept = 0, i;
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	len = readlink(link, emulator, sizeof(emulator) - 1);
	emulator[len > 0 ? len : 0] = '\0';

	for (i = 0; i < maps->ranges.nr; i++) {
		struct ftr_maps_range *range = &maps->ranges.v[i];
		bool is_file = range->path[0] == '/';

		if (is_file && !ftr_is_emulated_file(range->path, emulator)) {
			free(range->path);
			continue;
		}
		if (is_file)
			range->prot[2] = 'x';
		maps->ranges.v[kept++] = *range;
	}
	maps->ranges.nr = kept;
}

int ftr_maps_load(struct ftr_maps *maps, int32_t pid, struct ftr_err *err)
{
	char name[64], *text = NULL;
	size_t cap = 0, len = 0, n;
	FILE *file;
	int ret = 0;

	memset(maps, 0, sizeof(*maps));
	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	file = fopen(name, "re");
	if (file == NULL)
		return ftr_err_set(err, errno, "%s: %s", name, strerror(errno));
	do {
		if (cap - len < 4096) {
			char *grown = realloc(text, cap = cap * 2 + 16384);

			if (grown == NULL) {
				ret = ftr_err_set(err, ENOMEM, "%s: out of memory", name);
				goto out;
			}
			text = grown;
		}
		n = fread(text + len, 1, cap - len, file);
		len += n;
	} while (n > 0);
	ret = all_parse(maps, text, len);
	maps->is_emulated = ret == 0 && ftr_process_is_emulated(pid);
	if (maps->is_emulated)
		mark_emulated(maps, pid);
	if (ret == 0)
		drop_data_files(maps);
out:
	free(text);
	fclose(file);
	return ret;
}

void ftr_maps_rebase(struct ftr_maps *maps, uint64_t runtime)
{
	uint64_t shift = 0;
	size_t i;

	for (i = 0; i < maps->ranges.nr; i++) {
		const char *name = strrchr(maps->ranges.v[i].path, '/');

		if (name != NULL && strcmp(name, "/libmcount.so") == 0)
			shift = maps->ranges.v[i].start - runtime;
	}
	for (i = 0; i < maps->ranges.nr; i++) {
		if (maps->ranges.v[i].path[0] == '/') {
			maps->ranges.v[i].start -= shift;
			maps->ranges.v[i].end -= shift;
		}
	}
}

void ftr_maps_fini(struct ftr_maps *maps)
{
	size_t i;

	for (i = 0; i < maps->ranges.nr; i++)
		free(maps->ranges.v[i].path);
	ftr_vec_fini(&maps->ranges);
}

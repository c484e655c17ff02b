/* SPDX-License-Identifier: MIT */
/* DT_NEEDED, followed breadth first, as the dynamic linker does. */
#include "utils/object/needed.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/object/elf_file.h"

#define USUAL_DIRS \
	"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib/aarch64-linux-gnu:" \
	"/usr/lib/aarch64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib"
#define ORIGIN "$ORIGIN"
#define ORIGIN_BRACED "${ORIGIN}"

/* What one file says. */
struct dynamic {
	const char *rpath, *runpath;	/* (nullable, in the file's strings) */
	const Elf_Data *strings, *entries;
};

static bool dynamic_find(const struct ftr_elf_file *file, struct dynamic *dynamic)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = ftr_elf_section_find(file, SHT_DYNAMIC, NULL, &shdr);
	GElf_Dyn dyn;

	*dynamic = (struct dynamic){ 0 };
	if (scn == NULL)
		return false;
	dynamic->entries = ftr_elf_section_data(scn, &shdr);
	dynamic->strings = ftr_elf_section_strings(file, &shdr);
	if (dynamic->entries == NULL || dynamic->strings == NULL)
		return false;
	for (int i = 0; gelf_getdyn((Elf_Data *)dynamic->entries, i, &dyn) != NULL; i++) {
		if (dyn.d_tag == DT_RPATH)
			dynamic->rpath = ftr_elf_string(dynamic->strings, dyn.d_un.d_val);
		if (dyn.d_tag == DT_RUNPATH)
			dynamic->runpath = ftr_elf_string(dynamic->strings, dyn.d_un.d_val);
	}
	return true;
}

/* DIR/NAME, where DIR may begin with that of @by; false: too long, or no file. */
static bool is_in(char path[PATH_MAX], const char *dir, size_t len, const char *by,
		  const char *name)
{
	const char *slash = strrchr(by, '/');
	size_t own = 0;
	int made;

	if (strncmp(dir, ORIGIN, strlen(ORIGIN)) == 0)
		own = strlen(ORIGIN);
	else if (strncmp(dir, ORIGIN_BRACED, strlen(ORIGIN_BRACED)) == 0)
		own = strlen(ORIGIN_BRACED);
	if (own > len || len == 0)
		return false;
	if (own > 0)
		made = snprintf(path, PATH_MAX, "%.*s%.*s/%s",
				slash != NULL ? (int)(slash - by) : 1,
				slash != NULL ? by : ".", (int)(len - own), dir + own, name);
	else
		made = snprintf(path, PATH_MAX, "%.*s/%s", (int)len, dir, name);
	return made > 0 && made < PATH_MAX && access(path, R_OK) == 0;
}

static bool search(char path[PATH_MAX], const char *dirs, const char *by, const char *name)
{
	while (dirs != NULL && *dirs != '\0') {
		size_t len = strcspn(dirs, ":");

		if (is_in(path, dirs, len, by, name))
			return true;
		dirs += len + (dirs[len] == ':');
	}
	return false;
}

static bool is_listed(const struct ftr_needed *needed, const char *path)
{
	for (size_t i = 0; i < needed->paths.nr; i++) {
		if (strcmp(needed->paths.v[i], path) == 0)
			return true;
	}
	return false;
}

static int add(struct ftr_needed *needed, const char *path)
{
	char *copy;

	if (is_listed(needed, path))
		return 0;
	copy = strdup(path);
	if (copy == NULL || ftr_vec_push(&needed->paths, copy) < 0) {
		free(copy);
		return -ENOMEM;
	}
	return 0;
}

static int needed_one(struct ftr_needed *needed, const struct dynamic *dynamic, const char *by,
		      const char *dirs, const char *name)
{
	char path[PATH_MAX];

	if (strchr(name, '/') != NULL)
		return access(name, R_OK) == 0 ? add(needed, name) : 0;
	if ((dynamic->runpath == NULL && search(path, dynamic->rpath, by, name)) ||
	    search(path, dirs, by, name) || search(path, dynamic->runpath, by, name) ||
	    search(path, USUAL_DIRS, by, name))
		return add(needed, path);
	return 0;
}

static int needed_by(struct ftr_needed *needed, const char *by, const char *dirs)
{
	struct dynamic dynamic;
	struct ftr_elf_file file;
	GElf_Dyn dyn;
	int ret = 0;

	if (ftr_elf_file_open(&file, by, NULL) == 0 && dynamic_find(&file, &dynamic)) {
		for (int i = 0; ret == 0 &&
				gelf_getdyn((Elf_Data *)dynamic.entries, i, &dyn) != NULL; i++) {
			const char *name = dyn.d_tag == DT_NEEDED ?
				ftr_elf_string(dynamic.strings, dyn.d_un.d_val) : NULL;

			if (name != NULL)
				ret = needed_one(needed, &dynamic, by, dirs, name);
		}
	}
	ftr_elf_file_close(&file);
	return ret;
}

int ftr_needed_load(struct ftr_needed *needed, const char *path, const char *dirs)
{
	int ret = needed_by(needed, path, dirs);

	for (size_t i = 0; ret == 0 && i < needed->paths.nr; i++) {
		/* The list may move while it grows. */
		char *by = strdup(needed->paths.v[i]);

		ret = by == NULL ? -ENOMEM : needed_by(needed, by, dirs);
		free(by);
	}
	return ret;
}

void ftr_needed_fini(struct ftr_needed *needed)
{
	for (size_t i = 0; i < needed->paths.nr; i++)
		free(needed->paths.v[i]);
	ftr_vec_fini(&needed->paths);
}

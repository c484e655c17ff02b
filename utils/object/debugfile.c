/* SPDX-License-Identifier: MIT */
/* Finding separate debug files. */
#include "utils/object/debugfile.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define DEBUG_ROOT "/usr/lib/debug"

/* CRC-32 of the whole file, the polynomial of Ethernet and zip. */
static uint32_t file_crc(const struct ftr_elf_file *file)
{
	size_t len = 0;
	const char *bytes = elf_rawfile(file->elf, &len);

	return (uint32_t)crc32_z(0, (const Bytef *)bytes, bytes != NULL ? len : 0);
}

/* @crc NULL: only the build-id may vouch for the file. */
static bool is_debug_of(const struct ftr_elf_file *debug, const struct ftr_elf_file *file,
			const GElf_Word *crc)
{
	if (debug->ehdr.e_machine != file->ehdr.e_machine)
		return false;
	if (file->build_id[0] != '\0' && debug->build_id[0] != '\0')
		return strcmp(file->build_id, debug->build_id) == 0;
	return crc != NULL && file_crc(debug) == *crc;
}

static int open_matching(struct ftr_elf_file *debug, const struct ftr_elf_file *file,
			 const char *path, const GElf_Word *crc)
{
	if (ftr_elf_file_open(debug, path, NULL) < 0)
		return -ENOENT;
	if (is_debug_of(debug, file, crc))
		return 0;
	ftr_elf_file_close(debug);
	return -ENOENT;
}

static int open_by_build_id(struct ftr_elf_file *debug, const struct ftr_elf_file *file)
{
	char path[sizeof(DEBUG_ROOT "/.build-id/xx/.debug") + FTR_BUILD_ID_CHARS];

	if (strlen(file->build_id) < 4)
		return -ENOENT;
	snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%.2s/%s.debug", file->build_id,
		 file->build_id + 2);
	return open_matching(debug, file, path, NULL);
}

static int open_by_link(struct ftr_elf_file *debug, const struct ftr_elf_file *file,
			const char *path)
{
	static const struct { const char *root, *sub; } places[] = {
		{ "", "" }, { "", "/.debug" }, { DEBUG_ROOT, "" },
	};
	GElf_Word crc;
	const char *link = dwelf_elf_gnu_debuglink(file->elf, &crc);
	char dir[PATH_MAX];
	int ret = -ENOENT;

	if (link == NULL || link[0] == '\0' || strchr(link, '/') != NULL)
		return -ENOENT;
	if (realpath(path, dir) == NULL)
		return -ENOENT;
	*strrchr(dir, '/') = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && ret < 0; i++) {
		char *candidate;

		if (asprintf(&candidate, "%s%s%s/%s", places[i].root, dir, places[i].sub, link) < 0)
			return -ENOENT;
		ret = open_matching(debug, file, candidate, &crc);
		free(candidate);
	}
	return ret;
}

int ftr_debugfile_open(struct ftr_elf_file *debug, const struct ftr_elf_file *file,
		       const char *path)
{
	if (open_by_build_id(debug, file) == 0)
		return 0;
	return open_by_link(debug, file, path);
}

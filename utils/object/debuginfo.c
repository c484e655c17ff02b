/* SPDX-License-Identifier: MIT */
/* Source lines through libdwfl. */
#include "utils/object/debuginfo.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/object/debugfile.h"
#include "utils/object/elf_file.h"

struct ftr_debuginfo {
	struct ftr_elf_file file;
	char *path;		/* (owned) */
	Dwfl *dwfl;		/* (owned, nullable: not asked yet) */
	Dwfl_Module *module;	/* (nullable: nothing to be found) */
};

/* Not libdwfl's own search, which would ask debuginfod servers. */
static int find_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			  const char *file_name, const char *link, GElf_Word crc, char **found)
{
	const struct ftr_debuginfo *info = *user;
	struct ftr_elf_file debug;
	int fd;

	if (ftr_debugfile_open(&debug, &info->file, info->path) < 0)
		return -1;
	fd = dup(debug.fd);
	ftr_elf_file_close(&debug);
	return fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static void module_open(struct ftr_debuginfo *info)
{
	void **user;

	info->dwfl = dwfl_begin(&callbacks);
	if (info->dwfl == NULL)
		return;
	dwfl_report_begin(info->dwfl);
	info->module = dwfl_report_elf(info->dwfl, info->path, info->path, -1, 0, true);
	dwfl_report_end(info->dwfl, NULL, NULL);
	if (info->module == NULL)
		return;
	dwfl_module_info(info->module, &user, NULL, NULL, NULL, NULL, NULL, NULL);
	*user = info;
}

int ftr_debuginfo_open(struct ftr_debuginfo **out, const char *path, struct ftr_err *err)
{
	struct ftr_debuginfo *info = calloc(1, sizeof(*info));
	int ret;

	if (info == NULL)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", path);
	ret = ftr_elf_file_open(&info->file, path, err);
	if (ret < 0)
		goto out;
	info->path = strdup(path);
	if (info->path == NULL) {
		ret = ftr_err_set(err, ENOMEM, "%s: out of memory", path);
		goto out;
	}
	*out = info;
	info = NULL;
out:
	ftr_debuginfo_close(info);
	return ret;
}

void ftr_debuginfo_close(struct ftr_debuginfo *info)
{
	if (info == NULL)
		return;
	if (info->dwfl != NULL)
		dwfl_end(info->dwfl);
	ftr_elf_file_close(&info->file);
	free(info->path);
	free(info);
}

bool ftr_debuginfo_find(struct ftr_debuginfo *info, uint64_t addr, const char **file, unsigned *line)
{
	Dwfl_Line *entry;
	const char *name;
	int number;

	if (info->dwfl == NULL)
		module_open(info);
	if (info->module == NULL)
		return false;
	entry = dwfl_module_getsrc(info->module, addr + info->file.base);
	if (entry == NULL)
		return false;
	name = dwfl_lineinfo(entry, NULL, &number, NULL, NULL, NULL);
	if (name == NULL || number <= 0)
		return false;
	*file = name;
	*line = (unsigned)number;
	return true;
}

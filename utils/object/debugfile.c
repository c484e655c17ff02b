/* SPDX-License-Identifier: MIT */
/* What was stripped from a file: in another, or compressed in it. */
#include "utils/object/debugfile.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
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

/* ---- .gnu_debugdata, which libdwfl unpacks ---- */

static int no_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			const char *file_name, const char *link, GElf_Word crc, char **found)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = no_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static int add_module(struct ftr_symtab_build *build, Dwfl_Module *module, uint64_t base)
{
	int nr = dwfl_module_getsymtab(module);

	for (int i = 1; i < nr; i++) {
		GElf_Addr addr;
		GElf_Sym sym;
		GElf_Word section;
		const char *name = dwfl_module_getsym_info(module, i, &sym, &addr, &section, NULL,
							   NULL);
		int ret;

		if (name == NULL)
			continue;
		sym.st_value = addr;
		ret = ftr_symtab_build_add_sym(build, base, &sym, name);
		if (ret < 0)
			return ret;
	}
	return 0;
}

int ftr_minidebug_load(struct ftr_symtab_build *build, const struct ftr_elf_file *file,
		       const char *path)
{
	Dwfl_Module *module;
	GElf_Shdr shdr;
	Dwfl *dwfl;
	int ret = 0;

	if (ftr_elf_section_find(file, SHT_PROGBITS, ".gnu_debugdata", &shdr) == NULL)
		return 0;
	dwfl = dwfl_begin(&callbacks);
	if (dwfl == NULL)
		return 0;
	dwfl_report_begin(dwfl);
	module = dwfl_report_elf(dwfl, path, path, -1, 0, true); /* addresses as in the file */
	dwfl_report_end(dwfl, NULL, NULL);
	if (module != NULL)
		ret = add_module(build, module, file->base);
	dwfl_end(dwfl);
	return ret;
}

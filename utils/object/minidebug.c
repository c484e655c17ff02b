/* SPDX-License-Identifier: MIT */
/* Symbols of .gnu_debugdata through libdwfl, which knows how to unpack it. */
#include "utils/object/minidebug.h"

#include <elfutils/libdwfl.h>

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

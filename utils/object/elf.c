/* SPDX-License-Identifier: MIT */
/* What ftr asks of an ELF file besides its symbols. */
#include "utils/object/elf.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "utils/object/elf_file.h"
#include "utils/object/patchable.h"

static const struct hook_symbol {
	const char *name;
	unsigned hook;
} hook_symbols[] = {
	{ "mcount",			FTR_ELF_HOOK_MCOUNT },
	{ "_mcount",			FTR_ELF_HOOK_MCOUNT },
	{ "__fentry__",			FTR_ELF_HOOK_FENTRY },
	{ "__cyg_profile_func_enter",	FTR_ELF_HOOK_CYGPROF },
};

static unsigned hook_of(const char *name)
{
	for (size_t i = 0; i < sizeof(hook_symbols) / sizeof(hook_symbols[0]); i++) {
		if (strcmp(hook_symbols[i].name, name) == 0)
			return hook_symbols[i].hook;
	}
	return 0;
}

static unsigned hooks_find(const struct ftr_elf_file *file)
{
	struct ftr_elf_dynamic symbols;
	unsigned hooks = 0;
	const char *name;
	GElf_Sym sym;

	ftr_elf_dynamic_init(&symbols, file);
	while ((name = ftr_elf_dynamic_next(&symbols, &sym)) != NULL)
		hooks |= sym.st_shndx == SHN_UNDEF ? hook_of(name) : 0;
	return hooks;
}

static bool has_segment(const struct ftr_elf_file *file, uint32_t type)
{
	GElf_Phdr phdr;
	size_t nr = 0;

	if (elf_getphdrnum(file->elf, &nr) < 0)
		return false;
	for (size_t i = 0; i < nr && gelf_getphdr(file->elf, (int)i, &phdr) != NULL; i++) {
		if (phdr.p_type == type)
			return true;
	}
	return false;
}

int ftr_elf_info_load(struct ftr_elf_info *info, const char *path, struct ftr_err *err)
{
	struct ftr_elf_file file;
	GElf_Shdr shdr;
	int ret = ftr_elf_file_open(&file, path, err);

	*info = (struct ftr_elf_info){ 0 };
	if (ret < 0)
		return ret;
	info->elf_class = file.ehdr.e_ident[EI_CLASS];
	info->elf_data = file.ehdr.e_ident[EI_DATA];
	info->machine = file.ehdr.e_machine;
	info->type = file.ehdr.e_type;
	info->has_interp = has_segment(&file, PT_INTERP);
	info->has_symtab = ftr_elf_section_find(&file, SHT_SYMTAB, NULL, &shdr) != NULL;
	info->hooks = hooks_find(&file) | ftr_patchable_kinds(&file);
	memcpy(info->build_id, file.build_id, sizeof(info->build_id));
	ftr_elf_file_close(&file);
	return 0;
}

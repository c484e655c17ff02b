/* SPDX-License-Identifier: MIT */
/* Symbols of an ELF file, or of the file that holds its separated symbols. */
#include <errno.h>
#include <string.h>

#include "utils/object/debugfile.h"
#include "utils/object/elf_file.h"
#include "utils/object/plt.h"
#include "utils/object/symtab.h"
#include "utils/object/symtab_build.h"

/* As nm(1), by binding; 0 = not a kind of symbol we keep. */
static char symbol_type(const GElf_Sym *sym)
{
	static const char code_letters[16] = {
		[STB_LOCAL] = 't', [STB_GLOBAL] = 'T', [STB_WEAK] = 'w', [STB_GNU_UNIQUE] = 'u',
	};
	static const char data_letters[16] = {
		[STB_LOCAL] = 'd', [STB_GLOBAL] = 'D', [STB_WEAK] = 'v', [STB_GNU_UNIQUE] = 'u',
	};

	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return code_letters[GELF_ST_BIND(sym->st_info)];
	case STT_OBJECT:
		return data_letters[GELF_ST_BIND(sym->st_info)];
	default:
		return 0;
	}
}

/* Without its version ("memcpy@@GLIBC_2.14"), and nothing that would break a line of text. */
static size_t name_len(const char *name)
{
	return (unsigned char)name[0] <= ' ' ? 0 : 1 + strcspn(name + 1, "@\t\n\r");
}

int ftr_symtab_build_add_sym(struct ftr_symtab_build *build, uint64_t base, const GElf_Sym *sym,
			     const char *name)
{
	struct ftr_symbol symbol = { .name = name, .type = symbol_type(sym) };

	if (symbol.type == 0 || name == NULL || name_len(name) == 0 || sym->st_value < base ||
	    sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS)
		return 0;
	if (sym->st_size == 0 &&
	    GELF_ST_TYPE(sym->st_info) == STT_OBJECT) /* a mark of the linker */
		return 0;
	symbol.addr = sym->st_value - base;
	symbol.size = sym->st_size > UINT32_MAX ? UINT32_MAX : (uint32_t)sym->st_size;
	return ftr_symtab_build_add(build, symbol, name_len(name));
}

/* In a section that is in memory; "__evoke_link_warning_gets" is not. */
static bool is_mapped(const struct ftr_elf_file *file, const GElf_Sym *sym)
{
	GElf_Shdr shdr;
	Elf_Scn *scn;

	if (sym->st_shndx >= SHN_LORESERVE)
		return true;
	scn = elf_getscn(file->elf, sym->st_shndx);
	return scn != NULL && gelf_getshdr(scn, &shdr) != NULL && (shdr.sh_flags & SHF_ALLOC) != 0;
}

/* 0, also when there is no such section, or -ENOMEM. */
static int add_section(struct ftr_symtab_build *build, const struct ftr_elf_file *file,
		       uint64_t base, uint32_t type)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = ftr_elf_section_find(file, type, NULL, &shdr);
	Elf_Data *symbols = ftr_elf_section_data(scn, &shdr);
	Elf_Data *strings;
	GElf_Sym sym;

	if (symbols == NULL)
		return 0;
	strings = ftr_elf_section_strings(file, &shdr);
	if (strings == NULL)
		return 0;
	for (int i = 1; gelf_getsym(symbols, i, &sym) != NULL; i++) {
		int ret;

		if (symbol_type(&sym) == 0 || !is_mapped(file, &sym))
			continue;
		ret = ftr_symtab_build_add_sym(build, base, &sym,
					       ftr_elf_string(strings, sym.st_name));
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int add_separate_file(struct ftr_symtab_build *build, const struct ftr_elf_file *file,
			     const char *path)
{
	struct ftr_elf_file debug;
	int ret = ftr_debugfile_open(&debug, file, path);

	if (ret < 0)
		return 0;
	ret = add_section(build, &debug, file->base, SHT_SYMTAB);
	ftr_elf_file_close(&debug);
	return ret;
}

static int add_all(struct ftr_symtab_build *build, const struct ftr_elf_file *file,
		   const char *path)
{
	int ret = add_section(build, file, file->base, SHT_SYMTAB);

	if (ret == 0 && build->symbols.nr == 0)
		ret = add_separate_file(build, file, path);
	if (ret == 0 && build->symbols.nr == 0) {
		ret = add_section(build, file, file->base, SHT_DYNSYM);
		if (ret == 0)
			ret = ftr_minidebug_load(build, file, path);
	}
	return ret < 0 ? ret : ftr_plt_add_symbols(build, file);
}

int ftr_symtab_load_elf(struct ftr_symtab *tab, const char *path, struct ftr_err *err)
{
	struct ftr_symtab_build build = { .tab = tab };
	struct ftr_elf_file file;
	int ret = ftr_elf_file_open(&file, path, err);

	if (ret < 0)
		return ret;
	ret = add_all(&build, &file, path);
	if (ret == 0)
		ret = ftr_symtab_build_finish(&build);
	tab->path = ftr_arena_strdup(&tab->arena, path);
	if (file.build_id[0] != '\0')
		tab->build_id = ftr_arena_strdup(&tab->arena, file.build_id);
	if (ret < 0 || tab->path == NULL)
		ret = ftr_err_set(err, ENOMEM, "%s: out of memory", path);
	else if (tab->nr == 0)
		ret = ftr_err_set(err, ENODATA, "%s: no symbols: stripped, and no separate debug "
				  "file found", path);
	ftr_symtab_build_fini(&build);
	ftr_elf_file_close(&file);
	return ret;
}

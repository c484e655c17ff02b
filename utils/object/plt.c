/* SPDX-License-Identifier: MIT */
/*
 * PLT slots by what they do, not by where linkers use to put them: a slot holds "jmp *GOT(%rip)", and the
 * relocation of that GOT entry names the function.
 */
#include "utils/object/plt.h"

#include <errno.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/base/hashmap.h"

#define JMP_BYTES 6		/* ff 25 and a displacement of four bytes */

static const struct plt_section {
	const char *name;
	unsigned slot_bytes;	/* where the section header does not say */
} plt_sections[] = {
	{ ".plt",     16 },
	{ ".plt.sec", 16 },
	{ ".plt.bnd", 16 },
	{ ".plt.got",  8 },
};

/* Symbol and string tables that a relocation section refers to. */
static bool linked_tables(const struct ftr_elf_file *file, const GElf_Shdr *rela, Elf_Data **symbols,
			  Elf_Data **strings)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_getscn(file->elf, rela->sh_link);

	if (scn == NULL || gelf_getshdr(scn, &shdr) == NULL || shdr.sh_type != SHT_DYNSYM)
		return false;
	*symbols = ftr_elf_section_data(scn, &shdr);
	scn = elf_getscn(file->elf, shdr.sh_link);
	if (scn == NULL || gelf_getshdr(scn, &shdr) == NULL)
		return false;
	*strings = ftr_elf_section_data(scn, &shdr);
	return *symbols != NULL && *strings != NULL;
}

static int got_add_section(struct ftr_hashmap *got, const struct ftr_elf_file *file, Elf_Scn *scn,
			   const GElf_Shdr *shdr)
{
	Elf_Data *relas = ftr_elf_section_data(scn, shdr);
	Elf_Data *symbols;
	Elf_Data *strings;
	GElf_Rela rela;

	if (relas == NULL || !linked_tables(file, shdr, &symbols, &strings))
		return 0;
	for (int i = 0; gelf_getrela(relas, i, &rela) != NULL; i++) {
		unsigned type = (unsigned)GELF_R_TYPE(rela.r_info);
		const char *name;
		GElf_Sym sym;

		if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
			continue;
		if (gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &sym) == NULL)
			continue;
		name = ftr_elf_string(strings, sym.st_name);
		if (name != NULL && name[0] != '\0' &&
		    ftr_hashmap_set(got, rela.r_offset, (void *)(uintptr_t)name) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* GOT entry -> name, from every dynamic relocation. */
static int got_load(struct ftr_hashmap *got, const struct ftr_elf_file *file)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	int ret = 0;

	while (ret == 0 && (scn = elf_nextscn(file->elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &shdr) != NULL && shdr.sh_type == SHT_RELA)
			ret = got_add_section(got, file, scn, &shdr);
	}
	return ret;
}

static int slots_add(struct ftr_symtab_build *build, const struct ftr_elf_file *file,
		     const struct ftr_hashmap *got, const GElf_Shdr *shdr, const Elf_Data *code,
		     unsigned slot_bytes)
{
	const uint8_t *bytes = code->d_buf;

	for (size_t i = 0; i + JMP_BYTES <= code->d_size; i++) {
		struct ftr_symbol symbol = { .size = slot_bytes, .type = 'P' };

		if (bytes[i] != 0xff || bytes[i + 1] != 0x25)
			continue;
		symbol.name = ftr_hashmap_find(got, shdr->sh_addr + i + JMP_BYTES +
						    (uint64_t)(int32_t)ftr_get_u32(bytes + i + 2, false));
		if (symbol.name == NULL)
			continue;
		symbol.addr = shdr->sh_addr + i / slot_bytes * slot_bytes - file->base;
		if (ftr_symtab_build_add(build, symbol, strlen(symbol.name)) < 0)
			return -ENOMEM;
		i += JMP_BYTES - 1;
	}
	return 0;
}

static const struct plt_section *plt_section_find(const char *name)
{
	for (size_t i = 0; i < sizeof(plt_sections) / sizeof(plt_sections[0]); i++) {
		if (strcmp(plt_sections[i].name, name) == 0)
			return &plt_sections[i];
	}
	return NULL;
}

int ftr_plt_load(struct ftr_symtab_build *build, const struct ftr_elf_file *file)
{
	struct ftr_hashmap got;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	int ret;

	if (file->ehdr.e_machine != EM_X86_64)
		return 0;
	ftr_hashmap_init(&got);
	ret = got_load(&got, file);
	while (ret == 0 && (scn = elf_nextscn(file->elf, scn)) != NULL) {
		const struct plt_section *section = NULL;
		Elf_Data *code;
		unsigned slot_bytes;

		if (gelf_getshdr(scn, &shdr) != NULL && shdr.sh_type == SHT_PROGBITS)
			section = plt_section_find(ftr_elf_section_name(file, &shdr));
		code = section == NULL ? NULL : ftr_elf_section_data(scn, &shdr);
		if (code == NULL)
			continue;
		slot_bytes = shdr.sh_entsize == 8 || shdr.sh_entsize == 16 ?
			     (unsigned)shdr.sh_entsize : section->slot_bytes;
		ret = slots_add(build, file, &got, &shdr, code, slot_bytes);
	}
	ftr_hashmap_fini(&got);
	return ret;
}

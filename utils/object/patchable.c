/* SPDX-License-Identifier: MIT */
/* Functions with room for a call at their entry.  Sections are read by name. */
#include "utils/object/patchable.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "utils/base/bytes.h"
#include "utils/object/elf.h"

/* XRay: struct of 32 bytes; from version 2 on addresses are relative to where they stand. */
#define XRAY_BYTES 32
#define XRAY_KIND 16
#define XRAY_VERSION 18
#define XRAY_VERSION_RELATIVE 2
#define XRAY_ENTRY 0
#define XRAY_ENTRY_ARGS 3

static const struct list {
	const char *name;
	unsigned hook;
	unsigned entry_bytes;		/* 0 = an address's, whose size is the file's */
	bool may_follow_prologue;
} lists[] = {
	{ "__patchable_function_entries", FTR_ELF_HOOK_PATCHABLE, 0, false },
	{ "__mcount_loc", FTR_ELF_HOOK_MCOUNT_LOC, 0, true },
	{ "xray_instr_map", FTR_ELF_HOOK_XRAY, XRAY_BYTES, false },
};

#define LISTS (sizeof(lists) / sizeof(lists[0]))

/* What is looked at while entries are found. */
struct search {
	const struct ftr_elf_file *file;
	const struct ftr_arch_patch *arch;
	const struct ftr_symtab *symbols;
	GElf_Shdr code_shdr;		/* of the code section of the last entry */
	Elf_Data *code;
	struct ftr_patchables *found;
};

static unsigned address_bytes(const struct ftr_elf_file *file)
{
	return file->ehdr.e_ident[EI_CLASS] == ELFCLASS32 ? sizeof(uint32_t) : sizeof(uint64_t);
}

static unsigned entry_bytes(const struct ftr_elf_file *file, const struct list *list)
{
	return list->entry_bytes != 0 ? list->entry_bytes : address_bytes(file);
}

static const struct list *list_find(const struct ftr_elf_file *file, const GElf_Shdr *shdr)
{
	const char *name = ftr_elf_section_name(file, shdr);

	for (size_t i = 0; i < LISTS; i++) {
		if (strcmp(name, lists[i].name) == 0 &&
		    (lists[i].entry_bytes == 0 || address_bytes(file) == sizeof(uint64_t)))
			return &lists[i];
	}
	return NULL;
}

unsigned ftr_patchable_kinds(const struct ftr_elf_file *file)
{
	Elf_Scn *scn = NULL;
	unsigned kinds = 0;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(file->elf, scn)) != NULL) {
		const struct list *list;

		if (gelf_getshdr(scn, &shdr) == NULL || (shdr.sh_flags & SHF_ALLOC) == 0)
			continue;
		list = list_find(file, &shdr);
		if (list != NULL && shdr.sh_size >= entry_bytes(file, list))
			kinds |= list->hook;
	}
	return kinds;
}

/*
 * Relocations say what the loader puts there; what the file holds need not be the same, unless they
 * are of the kind that it holds the addends of (SHT_REL).
 */
static void relocate(const struct search *search, const GElf_Shdr *list, uint8_t *bytes)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	GElf_Rela rela;

	while ((scn = elf_nextscn(search->file->elf, scn)) != NULL) {
		Elf_Data *relas;

		if (gelf_getshdr(scn, &shdr) == NULL || shdr.sh_type != SHT_RELA ||
		    (shdr.sh_flags & SHF_ALLOC) == 0)
			continue;
		relas = ftr_elf_section_data(scn, &shdr);
		for (int i = 0; relas != NULL && gelf_getrela(relas, i, &rela) != NULL; i++) {
			uint64_t at = rela.r_offset - list->sh_addr;

			if (GELF_R_TYPE(rela.r_info) == search->arch->reloc_relative &&
			    at < list->sh_size && list->sh_size - at >= sizeof(uint64_t))
				memcpy(bytes + at, &rela.r_addend, sizeof(rela.r_addend));
		}
	}
}

static uint32_t bytes_of(uint64_t size)
{
	return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

/* Code from @addr on, @size bytes of it; NULL = there is none in the file. */
static const uint8_t *code_at(struct search *search, uint64_t addr, uint64_t *size)
{
	Elf_Scn *scn = NULL;

	if (search->code == NULL || addr - search->code_shdr.sh_addr >= search->code->d_size) {
		search->code = NULL;
		while ((scn = elf_nextscn(search->file->elf, scn)) != NULL) {
			GElf_Shdr *shdr = &search->code_shdr;

			if (gelf_getshdr(scn, shdr) != NULL && shdr->sh_type == SHT_PROGBITS &&
			    (shdr->sh_flags & SHF_EXECINSTR) != 0 &&
			    addr - shdr->sh_addr < shdr->sh_size)
				break;
		}
		if (scn != NULL)
			search->code = ftr_elf_section_data(scn, &search->code_shdr);
	}
	if (search->code == NULL || addr - search->code_shdr.sh_addr >= search->code->d_size)
		return NULL;
	*size = search->code->d_size - (addr - search->code_shdr.sh_addr);
	return (const uint8_t *)search->code->d_buf + (addr - search->code_shdr.sh_addr);
}

static const struct ftr_symbol *symbol_at(const struct search *search, uint64_t addr)
{
	return search->symbols == NULL ? NULL :
	       ftr_symtab_find(search->symbols, addr - search->file->base);
}

/*
 * -fpatchable-function-entry=N,M with M: the first M bytes are before the function, and the list
 * names those.  Its symbol tells.
 */
static uint64_t entry_skip_padding(struct search *search, uint64_t addr)
{
	uint64_t size = 0, at = 0;
	const uint8_t *code = code_at(search, addr, &size);
	const struct ftr_symbol *symbol;
	unsigned nop;

	while (code != NULL &&
	       (nop = search->arch->nop_bytes(code + at, bytes_of(size - at))) != 0) {
		at += nop;
		symbol = symbol_at(search, addr + at);
		if (symbol == NULL || symbol->addr + search->file->base != addr + at)
			continue;
		symbol = symbol_at(search, addr);
		if (symbol != NULL && symbol->addr + search->file->base + symbol->size > addr)
			return addr;		/* it is in a function: the next one follows */
		return addr + at + search->arch->landing_bytes(code + at, bytes_of(size - at));
	}
	return addr;
}

/* -mrecord-mcount: where does the room lie in its function? */
static enum ftr_patchable_state mcount_state(struct search *search, uint64_t addr)
{
	const struct ftr_symbol *symbol = symbol_at(search, addr);
	const uint8_t *code;
	uint64_t start, size;

	if (symbol == NULL)
		return FTR_PATCHABLE_UNKNOWN;
	start = symbol->addr + search->file->base;
	code = code_at(search, start, &size);
	if (code == NULL || size < addr - start)
		return FTR_PATCHABLE_UNKNOWN;
	return search->arch->is_entry(code, bytes_of(addr - start)) ? FTR_PATCHABLE_ENTRY :
								  FTR_PATCHABLE_PROLOGUE;
}

static int entry_add(struct search *search, const struct list *list, uint64_t addr)
{
	struct ftr_patchable one = { .addr = addr, .state = FTR_PATCHABLE_ENTRY };
	const uint8_t *code;
	uint64_t size;

	if (list->hook == FTR_ELF_HOOK_PATCHABLE)
		one.addr = entry_skip_padding(search, addr);
	code = code_at(search, one.addr, &size);
	if (code == NULL)
		return 0;		/* of a function that the linker left out */
	one.bytes = (uint8_t)search->arch->room(code, bytes_of(size));
	if (one.bytes == 0 && list->may_follow_prologue)
		return 0;		/* it calls the hook */
	if (one.bytes == 0)
		one.state = FTR_PATCHABLE_SHORT;
	else if (list->may_follow_prologue)
		one.state = (uint8_t)mcount_state(search, one.addr);
	return ftr_vec_push(&search->found->sites, one);
}

/* The address that the entry at @entry, which will lie at @at, names; 0 = no function's start. */
static uint64_t entry_address(const struct search *search, const struct list *list,
			      const uint8_t *entry, uint64_t at)
{
	uint64_t addr = address_bytes(search->file) == sizeof(uint32_t) ?
				ftr_get_u32((const char *)entry, false) :
				ftr_get_u64((const char *)entry, false);

	if (list->hook != FTR_ELF_HOOK_XRAY)
		return addr;
	if (entry[XRAY_KIND] != XRAY_ENTRY && entry[XRAY_KIND] != XRAY_ENTRY_ARGS)
		return 0;
	return entry[XRAY_VERSION] >= XRAY_VERSION_RELATIVE ? addr + at : addr;
}

static int list_read(struct search *search, const struct list *list, Elf_Scn *scn,
		     const GElf_Shdr *shdr)
{
	Elf_Data *data = ftr_elf_section_data(scn, shdr);
	uint8_t *bytes = data != NULL && data->d_size == shdr->sh_size ? malloc(data->d_size) :
									 NULL;
	unsigned step = entry_bytes(search->file, list);
	int ret = 0;

	if (data == NULL || data->d_size != shdr->sh_size)
		return 0;
	if (bytes == NULL)
		return -ENOMEM;
	memcpy(bytes, data->d_buf, data->d_size);
	relocate(search, shdr, bytes);
	for (size_t i = 0; ret == 0 && i + step <= data->d_size; i += step) {
		uint64_t addr = entry_address(search, list, bytes + i, shdr->sh_addr + i);

		if (addr != 0)
			ret = entry_add(search, list, addr);
	}
	free(bytes);
	return ret;
}

static int by_address(const void *a, const void *b)
{
	const struct ftr_patchable *left = a, *right = b;

	return left->addr < right->addr ? -1 : left->addr > right->addr;
}

/* Sorted, and each place once: lists may name one more than once. */
static void sites_settle(struct ftr_patchables *found)
{
	size_t nr = 0;

	if (found->sites.nr == 0)
		return;
	qsort(found->sites.v, found->sites.nr, sizeof(found->sites.v[0]), by_address);
	for (size_t i = 0; i < found->sites.nr; i++) {
		const struct ftr_patchable *last = nr > 0 ? &found->sites.v[nr - 1] : NULL;

		if (last == NULL ||
		    found->sites.v[i].addr >= last->addr + (last->bytes != 0 ? last->bytes : 1))
			found->sites.v[nr++] = found->sites.v[i];
	}
	found->sites.nr = nr;
}

int ftr_patchables_load(struct ftr_patchables *patchables, const struct ftr_elf_file *file,
			const struct ftr_symtab *symbols)
{
	const struct ftr_arch *arch = ftr_arch_find(file->ehdr.e_machine,
						    file->ehdr.e_ident[EI_CLASS]);
	struct search search = { .file = file, .symbols = symbols, .found = patchables };
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	int ret = 0;

	*patchables = (struct ftr_patchables){ 0 };
	if (arch == NULL || arch->patch == NULL)
		return 0;
	search.arch = arch->patch;
	while (ret == 0 && (scn = elf_nextscn(file->elf, scn)) != NULL) {
		const struct list *list = gelf_getshdr(scn, &shdr) != NULL &&
					  (shdr.sh_flags & SHF_ALLOC) != 0 ?
					  list_find(file, &shdr) : NULL;

		if (list != NULL)
			ret = list_read(&search, list, scn, &shdr);
	}
	sites_settle(patchables);
	if (ret < 0)
		ftr_patchables_fini(patchables);
	return ret;
}

void ftr_patchables_fini(struct ftr_patchables *patchables)
{
	ftr_vec_fini(&patchables->sites);
}

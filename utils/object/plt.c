/* SPDX-License-Identifier: MIT */
/*
 * Ways out of a module by what they do, not by where linkers use to put them: an instruction holds
 * "jmp *GOT(%rip)" or "call *GOT(%rip)", and the relocation of that GOT entry names the function.
 */
#include "utils/object/plt.h"

#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "utils/base/arena.h"
#include "utils/base/bytes.h"
#include "utils/base/hashmap.h"

static const struct plt_section {
	const char *name;
	unsigned slot_bytes;	/* where the section header has no size */
} plt_sections[] = {
	{ ".plt",     16 },
	{ ".plt.sec", 16 },
	{ ".plt.bnd", 16 },
	{ ".plt.got",  8 },
};

/* Symbol and string tables that a relocation section refers to. */
static bool linked_tables(const struct ftr_elf_file *file, const GElf_Shdr *rela,
			  Elf_Data **symbols, Elf_Data **strings)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_getscn(file->elf, rela->sh_link);

	if (scn == NULL || gelf_getshdr(scn, &shdr) == NULL || shdr.sh_type != SHT_DYNSYM)
		return false;
	*symbols = ftr_elf_section_data(scn, &shdr);
	*strings = ftr_elf_section_strings(file, &shdr);
	return *symbols != NULL && *strings != NULL;
}

/* A GOT entry, from its relocation. */
struct got_entry {
	struct ftr_plt_entry plt;
	bool has_plt;			/* a PLT slot jumps through it */
	bool is_called;			/* code calls through it */
	bool is_lazy;
};

struct got {
	struct ftr_hashmap by_addr;	/* -> struct got_entry, in the arena */
	uint64_t low, high;		/* first and last address in it */
	struct ftr_arena arena;
	const struct ftr_arch *arch;
	const struct ftr_elf_file *file;
	Elf_Data *versyms;		/* (nullable) */
};

/* The name of version @ndx that this module needs of others; "" = none. */
static const char *version_name(const struct ftr_elf_file *file, unsigned ndx)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = ftr_elf_section_find(file, SHT_GNU_verneed, NULL, &shdr);
	Elf_Data *data = scn != NULL ? ftr_elf_section_data(scn, &shdr) : NULL;
	Elf_Data *strings;
	GElf_Verneed need;
	GElf_Vernaux aux;
	int offset = 0, aux_offset;

	if (data == NULL)
		return "";
	strings = ftr_elf_section_strings(file, &shdr);
	while (strings != NULL && gelf_getverneed(data, offset, &need) != NULL) {
		aux_offset = offset + (int)need.vn_aux;
		for (int i = 0; i < need.vn_cnt && gelf_getvernaux(data, aux_offset, &aux); i++) {
			const char *name = ftr_elf_string(strings, aux.vna_name);

			if (aux.vna_other == ndx && name != NULL)
				return name;
			aux_offset += (int)aux.vna_next;
		}
		if (need.vn_next == 0)
			break;
		offset += (int)need.vn_next;
	}
	return "";
}

static const char *symbol_version(const struct got *got, int symbol)
{
	GElf_Versym ndx;

	if (got->versyms == NULL || gelf_getversym(got->versyms, symbol, &ndx) == NULL)
		return "";
	ndx &= 0x7fff;			/* the bit above means "hidden" */
	return ndx < 2 ? "" : version_name(got->file, ndx);
}

static size_t word_bytes(const struct ftr_elf_file *file)
{
	return file->ehdr.e_ident[EI_CLASS] == ELFCLASS32 ? sizeof(uint32_t) : sizeof(uint64_t);
}

/* The word at an address of the file, 0 where it has none. */
static uint64_t file_word(const struct ftr_elf_file *file, uint64_t addr)
{
	Elf_Scn *scn = NULL;
	const char *at;
	Elf_Data *data;
	size_t bytes = word_bytes(file);
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(file->elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &shdr) == NULL || shdr.sh_type != SHT_PROGBITS ||
		    (shdr.sh_flags & SHF_ALLOC) == 0 || addr < shdr.sh_addr ||
		    addr - shdr.sh_addr + bytes > shdr.sh_size)
			continue;
		data = ftr_elf_section_data(scn, &shdr);
		if (data == NULL || addr - shdr.sh_addr + bytes > data->d_size)
			return 0;
		at = (const char *)data->d_buf + (addr - shdr.sh_addr);
		return bytes == sizeof(uint32_t) ? ftr_get_u32(at, false) : ftr_get_u64(at, false);
	}
	return 0;
}

static int got_add(struct got *got, const GElf_Rela *rela, const char *name)
{
	bool is_lazy = GELF_R_TYPE(rela->r_info) == got->arch->reloc_lazy;
	struct got_entry *entry = ftr_arena_alloc(&got->arena, sizeof(*entry));

	if (entry == NULL)
		return -ENOMEM;
	entry->is_lazy = is_lazy;
	entry->plt = (struct ftr_plt_entry){
		.plt = rela->r_offset, .got = rela->r_offset, .size = word_bytes(got->file),
		.unbound = is_lazy ? file_word(got->file, rela->r_offset) : 0,
		.name = name,
		.version = symbol_version(got, (int)GELF_R_SYM(rela->r_info)),
	};
	if (rela->r_offset < got->low)
		got->low = rela->r_offset;
	if (rela->r_offset > got->high)
		got->high = rela->r_offset;
	return ftr_hashmap_set(&got->by_addr, rela->r_offset, entry);
}

/* Relocation @i of either kind; false: there are no more. */
static bool rela_get(Elf_Data *relas, const GElf_Shdr *shdr, int i, GElf_Rela *rela)
{
	GElf_Rel rel;

	if (shdr->sh_type == SHT_RELA)
		return gelf_getrela(relas, i, rela) != NULL;
	if (gelf_getrel(relas, i, &rel) == NULL)
		return false;
	*rela = (GElf_Rela){ .r_offset = rel.r_offset, .r_info = rel.r_info };
	return true;
}

static int got_add_section(struct got *got, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *relas = ftr_elf_section_data(scn, shdr);
	Elf_Data *symbols;
	Elf_Data *strings;
	GElf_Rela rela;

	if (relas == NULL || !linked_tables(got->file, shdr, &symbols, &strings))
		return 0;
	for (int i = 0; rela_get(relas, shdr, i, &rela); i++) {
		unsigned type = (unsigned)GELF_R_TYPE(rela.r_info);
		const char *name;
		GElf_Sym sym;

		if (type != got->arch->reloc_lazy && type != got->arch->reloc_bound)
			continue;
		if (gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &sym) == NULL ||
		    GELF_ST_TYPE(sym.st_info) == STT_OBJECT)
			continue;
		name = ftr_elf_string(strings, sym.st_name);
		if (name != NULL && name[0] != '\0' && got_add(got, &rela, name) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Every GOT entry that a dynamic relocation fills with a function. */
static int got_load(struct got *got)
{
	Elf_Scn *scn = ftr_elf_section_find(got->file, SHT_GNU_versym, NULL, &(GElf_Shdr){ 0 });
	GElf_Shdr shdr;
	int ret = 0;

	if (scn != NULL && gelf_getshdr(scn, &shdr) != NULL)
		got->versyms = ftr_elf_section_data(scn, &shdr);
	scn = NULL;
	while (ret == 0 && (scn = elf_nextscn(got->file->elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &shdr) != NULL &&
		    (shdr.sh_type == SHT_RELA || shdr.sh_type == SHT_REL))
			ret = got_add_section(got, scn, &shdr);
	}
	return ret;
}

/* The next instruction at *pos or behind that uses an entry, or NULL. */
static struct got_entry *next_use(const struct got *got, const struct ftr_code *code, size_t *pos,
				  struct ftr_got_use *use)
{
	struct got_entry *entry;

	while (got->arch->next_got_use(code, got->low, got->high, pos, use)) {
		entry = ftr_hashmap_find(&got->by_addr, use->entry);
		if (entry != NULL)
			return entry;
	}
	return NULL;
}

static void plt_section_read(struct got *got, const struct ftr_code *code, unsigned slot_bytes)
{
	struct got_entry *entry;
	struct ftr_got_use use;
	size_t pos = 0;

	while ((entry = next_use(got, code, &pos, &use)) != NULL) {
		if (!use.is_jump)
			continue;
		entry->plt.plt = code->addr + (use.is_slot ? use.at :
							     use.at / slot_bytes * slot_bytes);
		entry->plt.size = use.is_slot ? use.bytes : slot_bytes;
		entry->has_plt = true;
		pos = use.at + use.bytes;
	}
}

/*
 * Code outside the PLT calls by call *GOT and jmp *GOT; whatever else has the entry as its operand
 * (mov, cmp, push, movq to a vector register) reads the function's address.
 */
static void use_note(struct got_entry *entry, const struct ftr_got_use *use)
{
	if (use->is_call || use->is_jump)
		entry->is_called = true;
	else
		entry->plt.is_shared = true;
}

/* Where uses are found by following registers, those of lazy entries are the PLT's alone. */
static void use_take(void *arg, const struct ftr_code *code, const struct ftr_got_use *use)
{
	const struct got *got = arg;
	struct got_entry *entry = ftr_hashmap_find(&got->by_addr, use->entry);

	if (entry != NULL && !entry->is_lazy)
		use_note(entry, use);
}

static int text_section_read(struct got *got, const struct ftr_code *code)
{
	struct got_entry *entry;
	struct ftr_got_use use;
	size_t pos = 0;

	if (got->by_addr.nr == 0)
		return 0;
	if (got->arch->got_uses != NULL)
		return got->arch->got_uses(code, got->low, got->high, use_take, got);
	while ((entry = next_use(got, code, &pos, &use)) != NULL)
		use_note(entry, &use);
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

/* What DT_PLTGOT says. */
static uint64_t got_address(const struct ftr_elf_file *file)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = ftr_elf_section_find(file, SHT_DYNAMIC, NULL, &shdr);
	Elf_Data *data = scn != NULL ? ftr_elf_section_data(scn, &shdr) : NULL;
	GElf_Dyn dyn;

	for (int i = 0; data != NULL && gelf_getdyn(data, i, &dyn) != NULL; i++) {
		if (dyn.d_tag == DT_PLTGOT)
			return dyn.d_un.d_ptr;
	}
	return 0;
}

static int sections_read(struct got *got)
{
	uint64_t address = got_address(got->file);
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	int ret = 0;

	while (ret == 0 && (scn = elf_nextscn(got->file->elf, scn)) != NULL) {
		const struct plt_section *section;
		struct ftr_code code;
		Elf_Data *data;

		if (gelf_getshdr(scn, &shdr) == NULL || shdr.sh_type != SHT_PROGBITS ||
		    (shdr.sh_flags & SHF_EXECINSTR) == 0)
			continue;
		data = ftr_elf_section_data(scn, &shdr);
		section = plt_section_find(ftr_elf_section_name(got->file, &shdr));
		if (data == NULL)
			continue;
		code = (struct ftr_code){ data->d_buf, data->d_size, shdr.sh_addr, address,
					  section != NULL };
		if (section == NULL)
			ret = text_section_read(got, &code);
		else
			plt_section_read(got, &code,
					 shdr.sh_entsize == 8 || shdr.sh_entsize == 16 ?
					 (unsigned)shdr.sh_entsize : section->slot_bytes);
	}
	return ret;
}

int ftr_plt_load(struct ftr_plt *plt, const struct ftr_elf_file *file)
{
	struct got got = { .file = file, .low = UINT64_MAX };
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;
	int ret;

	*plt = (struct ftr_plt){ 0 };
	got.arch = ftr_arch_find(file->ehdr.e_machine, file->ehdr.e_ident[EI_CLASS]);
	if (got.arch == NULL || got.arch->next_got_use == NULL)
		return 0;
	ftr_hashmap_init(&got.by_addr);
	ftr_arena_init(&got.arena);
	ret = got_load(&got);
	if (ret == 0)
		ret = sections_read(&got);
	while (ret == 0 && (slot = ftr_hashmap_next(&got.by_addr, &pos)) != NULL) {
		const struct got_entry *entry = slot->value;

		if (entry->has_plt || entry->is_called)
			ret = ftr_vec_push(&plt->entries, entry->plt);
	}
	ftr_arena_fini(&got.arena);
	ftr_hashmap_fini(&got.by_addr);
	if (ret < 0)
		ftr_plt_fini(plt);
	return ret;
}

void ftr_plt_fini(struct ftr_plt *plt)
{
	ftr_vec_fini(&plt->entries);
}

int ftr_plt_add_symbols(struct ftr_symtab_build *build, const struct ftr_elf_file *file)
{
	struct ftr_plt plt;
	int ret = ftr_plt_load(&plt, file);

	for (size_t i = 0; ret == 0 && i < plt.entries.nr; i++) {
		const struct ftr_plt_entry *entry = &plt.entries.v[i];
		struct ftr_symbol symbol = {
			.addr = entry->plt - file->base, .size = entry->size,
			.type = 'P', .name = entry->name,
		};

		ret = ftr_symtab_build_add(build, symbol, strlen(symbol.name));
	}
	ftr_plt_fini(&plt);
	return ret;
}

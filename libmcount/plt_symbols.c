/* SPDX-License-Identifier: MIT */
/*
 * Symbol lookup in one module (ELF gABI "Hash Table", the GNU hash table, symbol versioning). dlsym
 * does that, too, but allocates when it finds nothing, and at the start we must not call the
 * program's malloc yet.
 */
#include "libmcount/plt_symbols.h"

#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#define BLOOM_NUMBERS (sizeof(ElfW(Addr)) / sizeof(uint32_t))	/* in a word of the bloom filter */
#define VERSION_HIDDEN 0x8000

struct tables {
	const struct link_map *map;
	const ElfW(Sym) *symbols;
	const char *strings;
	const uint32_t *gnu_hash;	/* NULL = none */
	const uint32_t *sysv_hash;	/* NULL = none */
	const uint16_t *versions;	/* NULL = none */
	const char *verdefs;		/* NULL = none */
};

/* The dynamic linker has made the addresses absolute where it could write. */
static const void *table_at(const struct link_map *map, const ElfW(Dyn) *dyn)
{
	return (const void *)(dyn->d_un.d_ptr < map->l_addr ? map->l_addr + dyn->d_un.d_ptr :
							      dyn->d_un.d_ptr);
}

static void tables_find(struct tables *tables, const struct link_map *map)
{
	const ElfW(Dyn) *dyn;

	*tables = (struct tables){ .map = map };
	for (dyn = map->l_ld; dyn != NULL && dyn->d_tag != DT_NULL; dyn++) {
		const void *at = table_at(map, dyn);

		switch (dyn->d_tag) {
		case DT_SYMTAB:
			tables->symbols = at;
			break;
		case DT_STRTAB:
			tables->strings = at;
			break;
		case DT_GNU_HASH:
			tables->gnu_hash = at;
			break;
		case DT_HASH:
			tables->sysv_hash = at;
			break;
		case DT_VERSYM:
			tables->versions = at;
			break;
		case DT_VERDEF:
			tables->verdefs = at;
			break;
		}
	}
}

static bool is_version(const struct tables *tables, uint16_t index, const char *version)
{
	const char *at = tables->verdefs;

	while (at != NULL) {
		const ElfW(Verdef) *def = (const ElfW(Verdef) *)at;
		const ElfW(Verdaux) *aux = (const ElfW(Verdaux) *)(at + def->vd_aux);

		if (def->vd_ndx == index)
			return strcmp(tables->strings + aux->vda_name, version) == 0;
		at = def->vd_next != 0 ? at + def->vd_next : NULL;
	}
	return false;
}

static bool is_match(const struct tables *tables, uint32_t i, const char *name, const char *version)
{
	const ElfW(Sym) *symbol = &tables->symbols[i];
	uint16_t index;

	if (symbol->st_value == 0 || ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
	    strcmp(tables->strings + symbol->st_name, name) != 0)
		return false;
	if (tables->versions == NULL)
		return *version == 0;
	index = tables->versions[i];
	if (*version == 0)
		return (index & VERSION_HIDDEN) == 0;
	return is_version(tables, index & ~VERSION_HIDDEN, version);
}

/* [ bucket nr, first symbol, bloom words, shift ][ bloom words ][ buckets ][ chains ] */
static uint32_t gnu_find(const struct tables *tables, const char *name, const char *version)
{
	const uint32_t *hash = tables->gnu_hash;
	const uint32_t *buckets = hash + 4 + BLOOM_NUMBERS * hash[2], *chains = buckets + hash[0];
	uint32_t h = 5381, i;
	const char *p;

	for (p = name; *p != 0; p++)
		h = h * 33 + (unsigned char)*p;
	if (hash[0] == 0)
		return 0;
	i = buckets[h % hash[0]];
	if (i < hash[1])
		return 0;
	for (;; i++) {
		uint32_t chain = chains[i - hash[1]];

		if ((chain | 1) == (h | 1) && is_match(tables, i, name, version))
			return i;
		if ((chain & 1) != 0)
			return 0;
	}
}

/* [ bucket nr, chain nr ][ buckets ][ chains ] */
static uint32_t sysv_find(const struct tables *tables, const char *name, const char *version)
{
	const uint32_t *hash = tables->sysv_hash, *chains = hash + 2 + hash[0];
	uint32_t h = 0, i;
	const char *p;

	for (p = name; *p != 0; p++) {
		h = (h << 4) + (unsigned char)*p;
		h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
	}
	for (i = hash[0] != 0 ? hash[2 + h % hash[0]] : 0; i != 0; i = chains[i]) {
		if (is_match(tables, i, name, version))
			return i;
	}
	return 0;
}

static const ElfW(Sym) *symbol_find(const struct link_map *map, const char *name,
				    const char *version)
{
	struct tables tables;
	uint32_t i = 0;

	tables_find(&tables, map);
	if (tables.symbols == NULL || tables.strings == NULL)
		return NULL;
	if (tables.gnu_hash != NULL)
		i = gnu_find(&tables, name, version);
	else if (tables.sysv_hash != NULL)
		i = sysv_find(&tables, name, version);
	return i != 0 ? &tables.symbols[i] : NULL;
}

const void *ftr_symbols_find(const struct link_map *map, const char *name, const char *version)
{
	const ElfW(Sym) *symbol = symbol_find(map, name, version);

	return symbol != NULL ? (const char *)map->l_addr + symbol->st_value : NULL;
}

static bool is_function(const ElfW(Sym) *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF &&
	       (type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC);
}

/* The kernel's module has a link map, but no program finds its symbols by their names. */
static bool is_vdso(const struct link_map *map)
{
	return map->l_addr != 0 && map->l_addr == getauxval(AT_SYSINFO_EHDR);
}

void *ftr_symbols_function(const struct link_map *map, const char *name)
{
	const ElfW(Sym) *symbol = NULL;
	uintptr_t addr;

	for (; map != NULL; map = map->l_next) {
		symbol = is_vdso(map) ? NULL : symbol_find(map, name, "");
		if (symbol != NULL && is_function(symbol))
			break;
	}
	if (map == NULL)
		return NULL;
	addr = map->l_addr + symbol->st_value;
	if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
		return ((void *(*)(void))addr)();
	return (void *)addr;
}

bool ftr_symbols_any(const struct link_map *map, const char *name, const char *version)
{
	for (; map != NULL; map = map->l_next) {
		if (ftr_symbols_find(map, name, version) != NULL)
			return true;
	}
	return false;
}

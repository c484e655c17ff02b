/* SPDX-License-Identifier: MIT */
/*
 * Source lines and signatures through libdwfl.  The functions of a unit are indexed when
 * the first of its addresses is asked for: searching its tree for each would be quadratic.
 */
#include "utils/object/debuginfo.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/callconv.h"
#include "utils/base/arena.h"
#include "utils/base/hashmap.h"
#include "utils/object/debugfile.h"
#include "utils/object/dwarf_enum.h"
#include "utils/object/dwarf_type.h"
#include "utils/object/elf_file.h"

#define FOLLOWED_BYTES 8	/* of pointers, where what they lead to is told */

struct declaration {
	const char *file;	/* (nullable) */
	unsigned line;
	Dwarf_Die die;
	bool has_signature;	/* it was asked for */
	const struct ftr_signature *signature;	/* (nullable: unknown) */
};

struct ftr_debuginfo {
	struct ftr_elf_file file;
	char *path;		/* (owned) */
	Dwfl *dwfl;		/* (owned, nullable: not asked yet) */
	Dwfl_Module *module;	/* (nullable: nothing to be found) */
	struct ftr_hashmap units;	/* indexed compilation units, by offset */
	bool has_all_units;
	struct ftr_hashmap functions;	/* address -> struct declaration */
	struct ftr_arena arena;
	struct ftr_dwarf_types types;
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
	ftr_hashmap_init(&info->units);
	ftr_hashmap_init(&info->functions);
	ftr_hashmap_init(&info->types.enums);
	ftr_arena_init(&info->arena);
	info->types.arena = &info->arena;
	ret = ftr_elf_file_open(&info->file, path, err);
	if (ret < 0)
		goto out;
	info->types.callconv = ftr_elf_file_callconv(&info->file);
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
	ftr_hashmap_fini(&info->units);
	ftr_hashmap_fini(&info->functions);
	ftr_hashmap_fini(&info->types.enums);
	ftr_arena_fini(&info->arena);
	free(info->path);
	free(info);
}

struct unit_walk {
	struct ftr_debuginfo *info;
	Dwarf_Addr bias;	/* of the DWARF's addresses */
};

/* libdw before 0.190 takes file 0, since DWARF 5 the unit's own, for none. */
static const char *declaring_file(Dwarf_Die *function)
{
	const char *name = dwarf_decl_file(function);
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word index;
	Dwarf_Die unit;
	size_t nr;

	if (name != NULL)
		return name;
	if (dwarf_formudata(dwarf_attr_integrate(function, DW_AT_decl_file, &attr), &index) != 0 ||
	    index != 0 || dwarf_diecu(function, &unit, NULL, NULL) == NULL ||
	    dwarf_getsrcfiles(&unit, &files, &nr) != 0)
		return NULL;
	return dwarf_filesrc(files, 0, NULL, NULL);
}

/* A function whose cold part lies elsewhere has ranges: the first is where it begins. */
static bool entry_of(Dwarf_Die *function, Dwarf_Addr *addr)
{
	Dwarf_Addr base, end;

	return dwarf_entrypc(function, addr) == 0 ||
	       dwarf_ranges(function, 0, &base, addr, &end) > 0;
}

static int index_function(Dwarf_Die *function, void *arg)
{
	const struct unit_walk *walk = arg;
	struct ftr_debuginfo *info = walk->info;
	struct declaration *declaration;
	const char *file = declaring_file(function);
	Dwarf_Addr addr;
	int line;

	if (!entry_of(function, &addr))
		return DWARF_CB_OK;
	declaration = ftr_arena_alloc(&info->arena, sizeof(*declaration));
	if (declaration == NULL)
		return DWARF_CB_ABORT;
	*declaration = (struct declaration){ .die = *function };
	if (file != NULL && dwarf_decl_line(function, &line) == 0 && line > 0) {
		declaration->file = file;
		declaration->line = (unsigned)line;
	}
	if (ftr_hashmap_set(&info->functions, addr + walk->bias, declaration) < 0)
		return DWARF_CB_ABORT;
	return DWARF_CB_OK;
}

static void index_unit(struct unit_walk *walk, Dwarf_Die *unit)
{
	struct ftr_debuginfo *info = walk->info;
	Dwarf_Off offset = dwarf_dieoffset(unit);

	if (ftr_hashmap_find(&info->units, offset) == NULL &&
	    ftr_hashmap_set(&info->units, offset, info) == 0)
		dwarf_getfuncs(unit, index_function, walk, 0);
}

/* clang writes no table of address ranges: then all units are looked through, once. */
static void index_unit_of(struct ftr_debuginfo *info, uint64_t addr)
{
	struct unit_walk walk = { .info = info };
	Dwarf_Die *unit = dwfl_module_addrdie(info->module, addr, &walk.bias);

	if (unit != NULL) {
		index_unit(&walk, unit);
		return;
	}
	if (info->has_all_units)
		return;
	info->has_all_units = true;
	while ((unit = dwfl_module_nextcu(info->module, unit, &walk.bias)) != NULL)
		index_unit(&walk, unit);
}

static bool find_in_line_table(struct ftr_debuginfo *info, uint64_t addr, const char **file,
			       unsigned *line)
{
	Dwfl_Line *entry = dwfl_module_getsrc(info->module, addr);
	const char *name;
	int number;

	if (entry == NULL)
		return false;
	name = dwfl_lineinfo(entry, NULL, &number, NULL, NULL, NULL);
	if (name == NULL || number <= 0)
		return false;
	*file = name;
	*line = (unsigned)number;
	return true;
}

static struct declaration *declaration_at(struct ftr_debuginfo *info, uint64_t addr)
{
	struct declaration *declaration = ftr_hashmap_find(&info->functions, addr);

	if (declaration != NULL)
		return declaration;
	index_unit_of(info, addr);
	return ftr_hashmap_find(&info->functions, addr);
}

/* Where the code at @addr goes on behind the room for a call (arch/ISA/patch.h), if it has any. */
static uint64_t behind_room(const struct ftr_debuginfo *info, uint64_t addr)
{
	const struct ftr_arch *arch = ftr_arch_find(info->file.ehdr.e_machine,
						    info->file.ehdr.e_ident[EI_CLASS]);
	Elf_Data *data = NULL;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	uint64_t at;
	unsigned step = 1;

	while (arch != NULL && arch->patch != NULL && data == NULL &&
	       (scn = elf_nextscn(info->file.elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &shdr) != NULL && (shdr.sh_flags & SHF_EXECINSTR) != 0 &&
		    addr - shdr.sh_addr < shdr.sh_size)
			data = ftr_elf_section_data(scn, &shdr);
	}
	if (data == NULL)
		return addr;
	for (at = addr - shdr.sh_addr; step != 0 && at < data->d_size; at += step) {
		const uint8_t *code = (const uint8_t *)data->d_buf + at;
		uint32_t left = data->d_size - at < UINT32_MAX ? (uint32_t)(data->d_size - at) :
								 UINT32_MAX;

		step = arch->patch->landing_bytes(code, left);
		if (step == 0)
			step = arch->patch->nop_bytes(code, left);
	}
	return shdr.sh_addr + at;
}

/* gcc on 64-bit Arm has functions begin behind that room. */
static struct declaration *declaration_find(struct ftr_debuginfo *info, uint64_t addr)
{
	struct declaration *declaration = declaration_at(info, addr);
	uint64_t behind = declaration == NULL ? behind_room(info, addr) : addr;

	return behind != addr ? declaration_at(info, behind) : declaration;
}

static bool is_open(struct ftr_debuginfo *info)
{
	if (info->dwfl == NULL)
		module_open(info);
	return info->module != NULL;
}

bool ftr_debuginfo_find(struct ftr_debuginfo *info, uint64_t addr, const char **file,
			unsigned *line)
{
	const struct declaration *declaration;

	if (!is_open(info))
		return false;
	addr += info->file.base;
	declaration = declaration_find(info, addr);
	if (declaration == NULL || declaration->file == NULL)
		return find_in_line_table(info, addr, file, line);
	*file = declaration->file;
	*line = declaration->line;
	return true;
}

void ftr_debuginfo_follow(struct ftr_debuginfo *info, unsigned depth)
{
	if (info->types.callconv == NULL || info->types.callconv->word_bytes == FOLLOWED_BYTES)
		info->types.depth = depth;
}

const struct ftr_signature *ftr_debuginfo_signature(struct ftr_debuginfo *info, uint64_t addr)
{
	struct declaration *declaration;

	if (info->types.callconv == NULL || !is_open(info))
		return NULL;
	declaration = declaration_find(info, addr + info->file.base);
	if (declaration == NULL)
		return NULL;
	if (!declaration->has_signature)
		declaration->signature = ftr_dwarf_signature(&info->types, &declaration->die);
	declaration->has_signature = true;
	return declaration->signature;
}

const struct ftr_enum_type *ftr_debuginfo_enum(struct ftr_debuginfo *info, const char *name,
					       struct ftr_closest *closest)
{
	Dwarf_Die *unit = NULL, type;
	Dwarf_Addr bias;

	if (!is_open(info))
		return NULL;
	while ((unit = dwfl_module_nextcu(info->module, unit, &bias)) != NULL) {
		if (ftr_dwarf_enum_find(unit, name, closest, &type))
			return ftr_dwarf_type_read(&info->types, &type, name).values;
	}
	return NULL;
}

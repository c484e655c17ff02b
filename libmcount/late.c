/* SPDX-License-Identifier: MIT */
/* See late.h. */
#include "libmcount/late.h"

#include <elf.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/late.h"
#include "libmcount/plt_bind.h"
#include "libmcount/plt_symbols.h"
#include "libmcount/probe.h"
#include "libmcount/real.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

#define FTR_LATE(name)
#define FTR_LATE_ONLY(name) \
	extern const char ftr_late_##name[] __attribute__((visibility("hidden")));
#include "libmcount/late.def"
#undef FTR_LATE
#undef FTR_LATE_ONLY

static const struct late {
	const char *name;
	const char *ours;		/* NULL: ours is what we export by that name */
} names[] = {
#define FTR_LATE(name) { #name, NULL },
#define FTR_LATE_ONLY(name) { #name, ftr_late_##name },
#include "libmcount/late.def"
#undef FTR_LATE
#undef FTR_LATE_ONLY
};

#define NAMES (sizeof(names) / sizeof(names[0]))

/* What is looked for, and where. */
struct range {
	uintptr_t low, high;
};

struct hooking {
	uintptr_t only;			/* the lowest address of a library; 0 = all of them */
	struct range own, libc;
	uintptr_t ours[NAMES];
	uintptr_t bound[NAMES];		/* where it leads whoever binds it now */
};

/* A module's relocations, and what they name. */
struct tables {
	struct ftr_loaded loaded;
	struct range range;
	const ElfW(Sym) *symbols;
	const char *strings;
	const ElfW(Rela) *rela[2];	/* all, of the procedure linkage table */
	size_t nr[2];
};

bool ftr_late_note(uintptr_t *slot, uintptr_t new)
{
	uint32_t nr = ftr_state.late_nr;

	if (nr == FTR_LATE_SLOTS_MAX)
		return false;
	ftr_state.late[nr] = (struct ftr_late_slot){ slot, *slot, new, false };
	ftr_state.late_nr = nr + 1;
	return true;
}

/* The dynamic linker has made these absolute where it could write. */
static uintptr_t absolute(const struct tables *tables, uintptr_t value)
{
	return value < tables->loaded.base ? value + tables->loaded.base : value;
}

static void tables_read(struct tables *tables)
{
	const ElfW(Dyn) *dyn = tables->loaded.dynamic;

	for (; dyn != NULL && dyn->d_tag != DT_NULL; dyn++) {
		if (dyn->d_tag == DT_SYMTAB)
			tables->symbols = (const ElfW(Sym) *)absolute(tables, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_STRTAB)
			tables->strings = (const char *)absolute(tables, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_RELA)
			tables->rela[0] = (const ElfW(Rela) *)absolute(tables, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_RELASZ)
			tables->nr[0] = dyn->d_un.d_val / sizeof(ElfW(Rela));
		else if (dyn->d_tag == DT_JMPREL)
			tables->rela[1] = (const ElfW(Rela) *)absolute(tables, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_PLTRELSZ)
			tables->nr[1] = dyn->d_un.d_val / sizeof(ElfW(Rela));
	}
}

static bool is_inside(const struct range *range, uintptr_t addr)
{
	return addr - range->low < range->high - range->low;
}

static void range_read(struct range *range, const struct dl_phdr_info *info)
{
	int i;

	*range = (struct range){ .low = UINTPTR_MAX };
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + phdr->p_vaddr;

		if (phdr->p_type != PT_LOAD)
			continue;
		range->low = start < range->low ? start : range->low;
		if (start + phdr->p_memsz > range->high)
			range->high = start + phdr->p_memsz;
	}
	if (range->low > range->high)
		range->low = range->high;
}

/* What libmcount.so itself is bound to is libc's. */
static int ranges_find(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct hooking *hooking = arg;
	struct range range;

	range_read(&range, info);
	if (is_inside(&range, (uintptr_t)&ftr_state))
		hooking->own = range;
	else if (is_inside(&range, (uintptr_t)dl_iterate_phdr))
		hooking->libc = range;
	return 0;
}

static size_t name_find(const char *name)
{
	size_t i = 0;

	while (i < NAMES && strcmp(names[i].name, name) != 0)
		i++;
	return i;
}

/*
 * Only where libc's own is called, or will be once it is bound: somebody else's stays.  A thread
 * that binds the slot just now writes over ours: then it is as if the slot had not been found.
 */
static void slot_hook(const struct hooking *hooking, const struct tables *tables,
		      uintptr_t *slot, size_t name)
{
	uintptr_t value = __atomic_load_n(slot, __ATOMIC_RELAXED);

	if (hooking->ours[name] == 0 || value == hooking->ours[name])
		return;
	if (is_inside(&tables->range, value))
		value = hooking->bound[name];	/* not bound yet: it leads to the linkage table */
	if (!is_inside(&hooking->libc, value))
		return;
	if (ftr_late_note(slot, hooking->ours[name]))
		__atomic_store_n(slot, hooking->ours[name], __ATOMIC_RELEASE);
}

static void table_hook(const struct hooking *hooking, const struct tables *tables, unsigned which)
{
	const ElfW(Rela) *rela = tables->rela[which];
	size_t i;

	for (i = 0; rela != NULL && i < tables->nr[which]; i++) {
		const ElfW(Sym) *symbol = &tables->symbols[ELF64_R_SYM(rela[i].r_info)];
		size_t name;

		if (!ftr_arch_is_slot(ELF64_R_TYPE(rela[i].r_info)) ||
		    symbol->st_shndx != SHN_UNDEF)
			continue;
		name = name_find(tables->strings + symbol->st_name);
		if (name < NAMES)
			slot_hook(hooking, tables,
				  (uintptr_t *)(tables->loaded.base + rela[i].r_offset), name);
	}
}

/* Inside dl_iterate_phdr: another of the dynamic linker's locks must not be taken. */
static int module_hook(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct hooking *hooking = arg;
	struct tables tables = { .loaded.base = 0 };

	range_read(&tables.range, info);
	if (tables.range.low == hooking->own.low || tables.range.low == hooking->libc.low ||
	    (hooking->only != 0 && tables.range.low != hooking->only))
		return 0;
	ftr_loaded_read(&tables.loaded, info);
	tables_read(&tables);
	if (tables.symbols == NULL || tables.strings == NULL ||
	    !ftr_loaded_open(&tables.loaded))
		return 0;
	table_hook(hooking, &tables, 0);
	table_hook(hooking, &tables, 1);
	ftr_loaded_close(&tables.loaded);
	return 0;
}

static bool log_make(void)
{
	long mem;

	if (ftr_state.late != NULL)
		return true;
	mem = ftr_sys_map(0, FTR_LATE_SLOTS_MAX * sizeof(struct ftr_late_slot),
		       PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ftr_sys_map_failed(mem))
		return false;
	ftr_state.late = (struct ftr_late_slot *)mem;
	return true;
}

static bool hook(uintptr_t only)
{
	const struct link_map *own = ftr_plt_map_of(&ftr_state);
	struct hooking hooking = { .only = only };
	size_t i;

	dl_iterate_phdr(ranges_find, &hooking);
	if (own == NULL || hooking.libc.high == 0 || !log_make())
		return false;
	for (i = 0; i < NAMES; i++) {
		const struct late *late = &names[i];

		hooking.ours[i] = (uintptr_t)(late->ours != NULL ? late->ours :
					      ftr_symbols_find(own, late->name, ""));
		hooking.bound[i] = (uintptr_t)ftr_symbols_function(ftr_real_first(own),
								   late->name);
	}
	dl_iterate_phdr(module_hook, &hooking);
	return true;
}

bool ftr_late_hook(void)
{
	return hook(0);
}

void ftr_late_hook_library(uintptr_t low)
{
	hook(low);
}

static bool has_hooked(const struct range *range)
{
	uint32_t i = 0;

	while (i < ftr_state.late_nr && !is_inside(range, (uintptr_t)ftr_state.late[i].slot))
		i++;
	return i < ftr_state.late_nr;
}

/*
 * Can the slot be written, were the module's read-only part not?  A library that came to lie where
 * another one was may have its code there.
 */
static bool is_data(const struct dl_phdr_info *info, const uintptr_t *slot)
{
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];

		if (phdr->p_type == PT_LOAD && (phdr->p_flags & PF_W) != 0 &&
		    (uintptr_t)slot - (info->dlpi_addr + phdr->p_vaddr) <
			    phdr->p_memsz - sizeof(*slot))
			return true;
	}
	return false;
}

/* A futex's operation on @addr that changes nothing tells, without a fault. */
static bool is_writable(uintptr_t addr)
{
	uint32_t own = 0;
	long ret = ftr_sys6(SYS_futex, &own, FUTEX_WAKE_OP_PRIVATE, 0, 0, addr,
			    FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0));

	return ret >= 0;
}

/* What it is relocated with is not read-only then yet, and must not become so. */
static bool is_being_loaded(const struct ftr_loaded *module)
{
	return module->relro < module->relro_end && is_writable(module->relro);
}

/* A library that another thread is loading where another one was has nothing of ours. */
static int module_unhook(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct ftr_loaded loaded = { .base = 0 };
	struct range range;
	uint32_t i;

	range_read(&range, info);
	if (!has_hooked(&range))
		return 0;
	ftr_loaded_read(&loaded, info);
	if (is_being_loaded(&loaded) || !ftr_loaded_open(&loaded))
		return 0;
	for (i = ftr_state.late_nr; i-- > 0;) {	/* the last one of a slot first */
		const struct ftr_late_slot *late = &ftr_state.late[i];
		uintptr_t expected = late->new;

		if (is_inside(&range, (uintptr_t)late->slot) && is_data(info, late->slot))
			__atomic_compare_exchange_n(late->slot, &expected, late->old, false,
						    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	}
	ftr_loaded_close(&loaded);
	return 0;
}

/* Is there a slot of ours that has to be put back before this one, and holds what this one put? */
static bool is_below_ours(uint32_t at)
{
	const struct ftr_late_slot *late = ftr_state.late;
	uint32_t i;

	for (i = at + 1; i < ftr_state.late_nr; i++) {
		if (late[i].slot == late[at].slot && late[i].is_kept &&
		    late[i].old == late[at].new)
			return true;
	}
	return false;
}

/* Of the module: what is ours stays. */
static int module_keep(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct range range;
	uint32_t i;

	range_read(&range, info);
	for (i = ftr_state.late_nr; i-- > 0;) {
		struct ftr_late_slot *late = &ftr_state.late[i];

		if (is_inside(&range, (uintptr_t)late->slot) && is_data(info, late->slot))
			late->is_kept = __atomic_load_n(late->slot, __ATOMIC_RELAXED) ==
						late->new ||
					is_below_ours(i);
	}
	return 0;
}

void ftr_late_forget(void)
{
	uint32_t i, kept = 0;

	for (i = 0; i < ftr_state.late_nr; i++)
		ftr_state.late[i].is_kept = false;
	dl_iterate_phdr(module_keep, NULL);
	for (i = 0; i < ftr_state.late_nr; i++) {
		if (ftr_state.late[i].is_kept)
			ftr_state.late[kept++] = ftr_state.late[i];
	}
	ftr_state.late_nr = kept;
}

void ftr_late_unhook(void)
{
	dl_iterate_phdr(module_unhook, NULL);
	ftr_state.late_nr = 0;
}

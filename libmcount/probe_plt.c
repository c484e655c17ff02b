/* SPDX-License-Identifier: MIT */
/*
 * Library calls: each entry of a global offset table that leads to another module is replaced by a stub of
 * ours, which records the call, replaces the return address and goes on to the true target.
 *
 * What the dynamic linker has not bound yet is bound here, by the rules it would use itself, before
 * any other thread exists: left to lazy binding, the linker would write over our stub later on.
 */
#include "libmcount/probe_plt.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libmcount/hook.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"
#include "utils/proto/plt.h"

#define PLT_STUB_NR 8192	/* arch/ISA/plt.S */
#define PLT_STUB_BYTES 16
#define PAGE_MASK (~4095ul)

extern const char ftr_plt_stubs[] FTR_HIDDEN;
uintptr_t ftr_plt_enter(uint64_t n, uintptr_t *slot) FTR_HIDDEN;

/* A module of the table, and which part of it must be made writable for a moment. */
struct module {
	const struct ftr_plt_table *table;
	const char *path;
	uintptr_t base;
	uintptr_t relro, relro_end;
	bool is_found;
};

uintptr_t ftr_plt_enter(uint64_t n, uintptr_t *slot)
{
	const struct ftr_plt_call *call = &ftr_state.plt_calls[n];

	if (unlikely(call->is_point))
		ftr_point(slot, call->addr);
	else
		ftr_enter(slot, call->addr);
	return call->target;
}

static const char *string_at(const struct ftr_plt_table *table, uint32_t offset)
{
	return (const char *)table + table->strings_offset + offset;
}

static const struct ftr_plt_slot *slot_at(const struct ftr_plt_table *table, uint32_t i)
{
	return (const struct ftr_plt_slot *)(table + 1) + i;
}

static int module_match(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct module *module = arg;
	int i;

	if (strcmp(info->dlpi_name, module->path) != 0)
		return 0;
	module->is_found = true;
	module->base = info->dlpi_addr;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uintptr_t start = module->base + phdr->p_vaddr;

		if (phdr->p_type == PT_GNU_RELRO) {
			module->relro = start & PAGE_MASK;
			module->relro_end = (start + phdr->p_memsz) & PAGE_MASK;
		}
	}
	return 1;
}

static bool is_same_module(const void *a, const void *b)
{
	Dl_info a_info, b_info;

	return dladdr(a, &a_info) != 0 && dladdr(b, &b_info) != 0 &&
	       a_info.dli_fbase == b_info.dli_fbase;
}

/*
 * What the dynamic linker would bind to: the first module that defines the name, and of that the wanted
 * version, or the name without any (an allocator that is preloaded, say).  dlvsym alone passes over
 * names without a version, dlsym alone takes the newest version.
 */
static void *lookup(void *scope, const char *name, const char *version)
{
	void *first = dlsym(scope, name), *versioned = NULL;

	if (*version != 0)
		versioned = dlvsym(scope, name, version);
	if (first == NULL || (*version != 0 && versioned == NULL))
		dlerror();	/* the program shall not find our failure */
	if (versioned == NULL || first == NULL)
		return first != NULL ? first : versioned;
	return is_same_module(first, versioned) ? versioned : first;
}

/* Where the call goes, or 0: to be left alone. */
static uintptr_t target_find(const struct module *module, const struct ftr_plt_slot *slot,
			     uintptr_t bound)
{
	const char *name = string_at(module->table, slot->name);
	const char *version = string_at(module->table, slot->version);
	uintptr_t target;

	if (slot->unbound == 0 || bound != module->base + slot->unbound)
		return bound;
	target = (uintptr_t)lookup(RTLD_DEFAULT, name, version);
	if (target == module->base + slot->plt)	/* a non-PIE program's canonical address */
		target = (uintptr_t)lookup(RTLD_NEXT, name, version);
	return target;
}

static void slot_hook(const struct module *module, const struct ftr_plt_slot *slot, uint32_t n)
{
	uintptr_t *got = (uintptr_t *)(module->base + slot->got);
	uintptr_t target = target_find(module, slot, *got);

	if (target == 0)
		return;
	ftr_state.plt_calls[n] = (struct ftr_plt_call){
		.target = target,
		.addr = module->base + slot->plt,
		.is_point = (slot->flags & FTR_PLT_RETURN_UNTOUCHED) != 0,
	};
	__atomic_store_n(got, (uintptr_t)ftr_plt_stubs + (uint64_t)n * PLT_STUB_BYTES,
			 __ATOMIC_RELEASE);
}

static bool relro_open(const struct module *module)
{
	return module->relro >= module->relro_end ||
	       ftr_sys3(SYS_mprotect, module->relro, module->relro_end - module->relro,
			PROT_READ | PROT_WRITE) == 0;
}

static void relro_close(const struct module *module)
{
	if (module->relro < module->relro_end)
		ftr_sys3(SYS_mprotect, module->relro, module->relro_end - module->relro, PROT_READ);
}

/* Hook the run of slots from @first that belong to one module; returns the end of the run. */
static uint32_t module_hook(const struct ftr_plt_table *table, uint32_t first, uint32_t end)
{
	const struct ftr_plt_slot *slot = slot_at(table, first);
	struct module module = { .table = table, .path = string_at(table, slot->module) };
	uint32_t stop = first, i;

	while (stop < end && slot_at(table, stop)->module == slot->module)
		stop++;
	dl_iterate_phdr(module_match, &module);
	if (module.is_found && relro_open(&module)) {
		for (i = first; i < stop; i++)
			slot_hook(&module, slot_at(table, i), i);
		relro_close(&module);
	}
	return stop;
}

static const struct ftr_plt_table *table_map(int fd)
{
	long bytes = ftr_sys3(SYS_lseek, fd, 0, SEEK_END);
	const struct ftr_plt_table *table;
	long mem;

	if (bytes < (long)sizeof(*table))
		return NULL;
	mem = ftr_sys6(SYS_mmap, 0, bytes, PROT_READ, MAP_SHARED, fd, 0);
	table = (const struct ftr_plt_table *)mem;
	if (ftr_sys_map_failed(mem) || table->magic != FTR_PLT_MAGIC)
		return NULL;
	return table;
}

static bool calls_new(uint32_t nr)
{
	long mem = ftr_sys6(SYS_mmap, 0, (nr + 1) * sizeof(struct ftr_plt_call),
			    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (ftr_sys_map_failed(mem))
		return false;
	ftr_state.plt_calls = (struct ftr_plt_call *)mem;
	return true;
}

void ftr_plt_start(int table_fd)
{
	const struct ftr_plt_table *table = table_map(table_fd);
	uint32_t i = 0, nr;

	ftr_sys_close_own(table_fd);
	if (table == NULL)
		return;
	nr = table->slot_nr < PLT_STUB_NR ? table->slot_nr : PLT_STUB_NR;
	if (calls_new(nr)) {
		while (i < nr)
			i = module_hook(table, i, nr);
	}
	ftr_sys2(SYS_munmap, table, table->total_bytes);
}

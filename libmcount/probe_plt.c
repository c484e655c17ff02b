/* SPDX-License-Identifier: MIT */
/*
 * Library calls: each entry of a global offset table that leads to another module is replaced by a
 * stub of ours, which records the call, replaces the return address and goes on to the true target.
 *
 * What the dynamic linker has not bound yet is bound here, by the rules it would use itself, before
 * any other thread can call: left to lazy binding, the linker would write over our stub later on.
 */
#include "libmcount/probe_plt.h"

#include <sys/mman.h>
#include <unistd.h>

#include "libmcount/channel.h"
#include "libmcount/hook.h"
#include "libmcount/plt_bind.h"
#include "libmcount/plt_nest.h"
#include "libmcount/plt_stubs.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"
#include "utils/proto/plt.h"

#define PAGE_MASK (~4095ul)

__attribute__((noinline, cold))
void ftr_plt_enter_special(const struct ftr_plt_call *call, uintptr_t *slot)
{
	if ((call->flags & FTR_PLT_AFTER_MONSTARTUP) != 0) {
		if (!atomic_exchange(&ftr_state.after_monstartup, false))
			ftr_enter_known(slot, call->addr);
		return;
	}
	if ((call->flags & FTR_PLT_LOOK_FIRST) != 0)
		ftr_plt_nest_look();
	ftr_point(slot, call->addr);
}

static const char *string_at(const struct ftr_plt_table *table, uint32_t offset)
{
	return (const char *)table + table->strings_offset + offset;
}

static const struct ftr_plt_slot *slot_at(const struct ftr_plt_table *table, uint32_t i)
{
	return (const struct ftr_plt_slot *)(table + 1) + i;
}

static void dynamic_read(struct ftr_plt_module *module, const ElfW(Dyn) *dyn)
{
	for (; dyn->d_tag != DT_NULL; dyn++) {
		if (dyn->d_tag == DT_SYMBOLIC ||
		    (dyn->d_tag == DT_FLAGS && (dyn->d_un.d_val & DF_SYMBOLIC) != 0))
			module->is_symbolic = true;
	}
}

void ftr_plt_module_read(struct ftr_plt_module *module, const struct dl_phdr_info *info)
{
	int i;

	module->base = info->dlpi_addr;
	module->relro = module->relro_end = 0;
	module->is_symbolic = false;
	module->dynamic = NULL;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uintptr_t start = module->base + phdr->p_vaddr;

		if (phdr->p_type == PT_GNU_RELRO) {
			module->relro = start & PAGE_MASK;
			module->relro_end = (start + phdr->p_memsz) & PAGE_MASK;
		} else if (phdr->p_type == PT_DYNAMIC) {
			module->dynamic = (const ElfW(Dyn) *)start;
			dynamic_read(module, module->dynamic);
		}
	}
}

/* Where the call goes, or 0: to be left alone. */
static uintptr_t target_find(const struct ftr_plt_module *module, const struct ftr_plt_table *table,
			     const struct ftr_plt_slot *slot, uintptr_t bound)
{
	if (slot->unbound == 0 || bound != module->base + slot->unbound)
		return bound;
	return ftr_plt_bind(module, slot->plt, string_at(table, slot->name),
			    string_at(table, slot->version));
}

static bool slot_hook(const struct ftr_plt_module *module, const struct ftr_plt_table *table,
		      const struct ftr_plt_slot *slot, uint32_t n)
{
	uintptr_t *got = (uintptr_t *)(module->base + slot->got);
	uintptr_t target = target_find(module, table, slot, *got);

	if (target == 0)
		return false;
	ftr_state.plt.calls[n].target = target;
	ftr_state.plt.calls[n].addr = module->base + slot->plt;
	ftr_state.plt.calls[n].flags = slot->flags;
	__atomic_store_n(got, ftr_plt_stub(&ftr_state.plt, n), __ATOMIC_RELEASE);
	return true;
}

static bool relro_open(const struct ftr_plt_module *module)
{
	return module->relro >= module->relro_end ||
	       ftr_sys3(SYS_mprotect, module->relro, module->relro_end - module->relro,
			PROT_READ | PROT_WRITE) == 0;
}

static void relro_close(const struct ftr_plt_module *module)
{
	if (module->relro < module->relro_end)
		ftr_sys3(SYS_mprotect, module->relro, module->relro_end - module->relro, PROT_READ);
}

static void slots_hook(const struct ftr_plt_module *module, const struct ftr_plt_table *table,
		       struct ftr_plt_hooked *hooked)
{
	uint32_t i, n = 0;

	if (hooked->nr < table->slot_nr)
		hooked->nr = ftr_plt_stubs_take(&ftr_state.plt, table->slot_nr, &hooked->first);
	hooked->got = NULL;
	if (!relro_open(module))
		return;
	for (i = 0; i < table->slot_nr && n < hooked->nr; i++) {
		if (!slot_hook(module, table, slot_at(table, i), hooked->first + n))
			continue;
		hooked->got = (uintptr_t *)(module->base + slot_at(table, i)->got);
		hooked->stub = ftr_plt_stub(&ftr_state.plt, hooked->first + n);
		n++;
	}
	relro_close(module);
	if (i < table->slot_nr)
		ftr_channel_tell(FTR_CHANNEL_SAY,
				 "makes more library calls than there are stubs, and libmcount.so "
				 "cannot be mapped for more: some calls are not recorded",
				 NULL);
}

static const struct ftr_plt_table *table_map(int fd)
{
	long bytes = ftr_sys3(SYS_lseek, fd, 0, SEEK_END);
	const struct ftr_plt_table *table = NULL;
	long mem = -1;

	if (bytes >= (long)sizeof(*table))
		mem = ftr_sys6(SYS_mmap, 0, bytes, PROT_READ, MAP_SHARED, fd, 0);
	ftr_sys_close_own(fd);
	if (!ftr_sys_map_failed(mem))
		table = (const struct ftr_plt_table *)mem;
	return table != NULL && table->magic == FTR_PLT_MAGIC ? table : NULL;
}

void ftr_plt_module_hook(const struct ftr_plt_module *module, int table_fd,
			 struct ftr_plt_hooked *hooked)
{
	const struct ftr_plt_table *table = table_map(table_fd);

	if (table == NULL)
		return;
	slots_hook(module, table, hooked);
	ftr_sys2(SYS_munmap, table, table->total_bytes);
}

static int program_match(struct dl_phdr_info *info, size_t size, void *arg)
{
	ftr_plt_module_read(arg, info);
	ftr_state.program_map = ftr_plt_map_of(info->dlpi_phdr);
	return 1;		/* the program comes first */
}

void ftr_plt_start(int table_fd, bool is_nested)
{
	const struct ftr_plt_table *table = table_map(table_fd);
	struct ftr_plt_module module = { .is_program = true, .is_lasting = true };
	struct ftr_plt_hooked hooked = { 0 };

	if (table == NULL)
		return;
	dl_iterate_phdr(program_match, &module);
	if (ftr_plt_stubs_start(&ftr_state.plt, is_nested ? FTR_PLT_STUB_MAX : table->slot_nr)) {
		slots_hook(&module, table, &hooked);
		ftr_state.program_call_nr = hooked.nr;
	}
	ftr_sys2(SYS_munmap, table, table->total_bytes);
}

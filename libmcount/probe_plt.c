/* SPDX-License-Identifier: MIT */
/*
 * Library calls: each entry of a global offset table that leads to another module is replaced by a
 * stub of ours, which records the call, replaces the return address and goes on to the true target.
 *
 * What the dynamic linker has not bound yet is bound here, by the rules it would use itself, before
 * any other thread can call: left to lazy binding, the linker would write over our stub later on.
 */
#include "libmcount/probe_plt.h"

#include "libmcount/channel.h"
#include "libmcount/hook.h"
#include "libmcount/invariant.h"
#include "libmcount/jump_sites.h"
#include "libmcount/late.h"
#include "libmcount/leave.h"
#include "libmcount/libraries.h"
#include "libmcount/plt_bind.h"
#include "libmcount/plt_stubs.h"
#include "libmcount/probe.h"
#include "libmcount/sections.h"
#include "libmcount/stacks.h"
#include "libmcount/state.h"
#include "utils/proto/plt.h"

extern const struct ftr_probe ftr_probe_plt FTR_HIDDEN;

__attribute__((noinline, cold))
void ftr_plt_enter_special(const struct ftr_plt_call *call, uintptr_t *slot)
{
	if ((call->flags & FTR_PLT_AFTER_MONSTARTUP) != 0) {
		if (!atomic_exchange(&ftr_state.after_monstartup, false))
			ftr_enter_known(slot, call->addr);
		return;
	}
	if ((call->flags & FTR_PLT_SWITCH) != 0)
		ftr_stacks_expect();
	if ((call->flags & FTR_PLT_LANDED) != 0)
		ftr_frames_landed(slot, *slot);
	if (call->flags == FTR_PLT_SWITCH || call->flags == FTR_PLT_LANDED) {
		ftr_enter_known(slot, call->addr);
		return;
	}
	if ((call->flags & FTR_PLT_LONGJMP) != 0) {
		ftr_enter_known(slot, call->addr);
		ftr_self.jumping = ftr_self.top - 1;
		return;
	}
	if ((call->flags & FTR_PLT_SETJMP) != 0)
		ftr_jump_site_note(*slot, call->addr);
	if ((call->flags & FTR_PLT_LOOK_FIRST) != 0)
		ftr_libraries_look();
	if ((call->flags & FTR_PLT_WRAPPED) != 0 && ftr_self.estimate_end == NULL)
		ftr_frame_open(slot, call->addr, FTR_FRAME_CYGPROF);
	else
		ftr_point(slot, call->addr);
}

/* The library-call table of a module, inside its section. */
struct table {
	const struct ftr_plt_slot *slots;
	uint32_t slot_nr;
	const char *strings;
	uint32_t string_bytes;
};

/* False when there is none, or its section is damaged. */
static bool table_find(struct table *table, const struct ftr_sections *sections)
{
	uint32_t bytes;
	const struct ftr_plt_table *head = ftr_sections_find(sections, FTR_SECTION_LIBCALLS,
							     &bytes);

	if (head == NULL || bytes <= sizeof(*head) || head->strings_offset >= bytes ||
	    head->strings_offset < sizeof(*head) ||
	    head->slot_nr > (head->strings_offset - sizeof(*head)) / sizeof(*table->slots))
		return false;
	table->slots = (const struct ftr_plt_slot *)(head + 1);
	table->slot_nr = head->slot_nr;
	table->strings = (const char *)head + head->strings_offset;
	table->string_bytes = bytes - head->strings_offset;
	return table->strings[table->string_bytes - 1] == '\0';
}

static const char *string_at(const struct table *table, uint32_t offset)
{
	return offset < table->string_bytes ? table->strings + offset : "";
}

/* Where the call goes, or 0: to be left alone. */
static uintptr_t target_find(const struct ftr_loaded *module, const struct table *table,
			     const struct ftr_plt_slot *slot, uintptr_t bound)
{
	if (slot->unbound == 0 || bound != module->base + slot->unbound)
		return bound;
	return ftr_plt_bind(module, slot->plt, string_at(table, slot->name),
			    string_at(table, slot->version));
}

static bool slot_hook(const struct ftr_loaded *module, const struct table *table,
		      const struct ftr_plt_slot *slot, uint32_t n)
{
	uintptr_t *got = (uintptr_t *)(uintptr_t)(module->base + slot->got);
	uintptr_t target = target_find(module, table, slot, *got), stub;

	if (target == 0)
		return false;
	stub = ftr_plt_stub(&ftr_state.plt, n);
	if (stub == 0 || (ftr_state.late != NULL && !ftr_late_note(got, stub)))
		return false;
	ftr_state.plt.calls[n].target = target;
	ftr_state.plt.calls[n].addr = module->base + slot->plt;
	ftr_state.plt.calls[n].flags = slot->flags;
	__atomic_store_n(got, stub, __ATOMIC_RELEASE);
	return true;
}

static void slots_hook(const struct ftr_loaded *module, const struct table *table,
		       struct ftr_plt_hooked *hooked)
{
	uint32_t i, n = 0;

	if (hooked->nr < table->slot_nr)
		hooked->nr = ftr_plt_stubs_take(&ftr_state.plt, table->slot_nr, &hooked->first);
	hooked->got = NULL;
	if (!ftr_loaded_open(module))
		return;
	for (i = 0; i < table->slot_nr && n < hooked->nr; i++) {
		if (!slot_hook(module, table, &table->slots[i], hooked->first + n))
			continue;
		hooked->got = (uintptr_t *)(uintptr_t)(module->base + table->slots[i].got);
		hooked->stub = ftr_plt_stub(&ftr_state.plt, hooked->first + n);
		n++;
	}
	ftr_loaded_close(module);
	if (i < table->slot_nr)
		ftr_channel_warn("makes more library calls than ftr has stubs for, and libmcount.so "
				 "cannot be remapped; some calls are not recorded");
}

static int program_match(struct dl_phdr_info *info, size_t size, void *arg)
{
	*(const void **)arg = info->dlpi_phdr;
	return 1;		/* the program comes first */
}

/* Its map is looked up outside: the dynamic linker takes its locks in the other order. */
static void program_find(void)
{
	const void *inside = NULL;

	dl_iterate_phdr(program_match, &inside);
	ftr_state.program_map = ftr_plt_map_of(inside);
}

/* Room for all libraries, or for the image's calls alone. */
static void plt_start(const struct ftr_sections *sections)
{
	uint32_t flags = ftr_sections_switch(sections, ftr_probe_plt.name);
	struct table table = { 0 };

	if (!table_find(&table, sections) && (flags & FTR_SWITCH_LIBRARIES) == 0)
		return;
	program_find();
	ftr_plt_stubs_start(&ftr_state.plt, (flags & FTR_SWITCH_LIBRARIES) != 0 ? FTR_PLT_STUB_MAX :
										  table.slot_nr);
}

static void plt_module(const struct ftr_loaded *module, const struct ftr_sections *sections)
{
	struct table table;

	if (ftr_state.plt.calls == NULL || !table_find(&table, sections) ||
	    !FTR_INVARIANT(module->hooked != NULL))
		return;
	slots_hook(module, &table, module->hooked);
	if (module->is_program)
		ftr_state.program_call_nr = module->hooked->nr;
}

const struct ftr_probe ftr_probe_plt = {
	.name = "plt",
	.start = plt_start,
	.module = plt_module,
};

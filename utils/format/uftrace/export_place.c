/* SPDX-License-Identifier: MIT */
/*
 * Any trace as a uftrace directory: functions that the trace has at an address.  They keep it: the
 * modules lie where they lay in each image, and symbols have their sizes.
 */
#include <errno.h>
#include <stdlib.h>

#include "utils/base/text.h"
#include "utils/format/uftrace/export.h"
#include "utils/object/symtab.h"

#define PLACED_NONE UINT32_MAX		/* in placed: it cannot be */
#define MODULE_BITS 40			/* of an address, above which its module stands in a key */
#define NEAR_BYTES  64			/* a call's place in a function of unknown size */
#define END_BYTES   4096		/* of such a function that is the last one */

/* Where the module lies in the image from its start on; 0 = nowhere. */
static uint64_t base_of(const struct ftr_session *session, const struct ftr_module *module)
{
	const struct ftr_mapping *mapping = ftr_session_find_module(session, module, 0);

	return mapping == NULL || mapping->is_overlay || mapping->since_ns != 0 ? 0 :
										  mapping->start;
}

bool ufx_module_is_placed(const struct ufx *x, const struct ftr_module *module)
{
	for (size_t i = 0; module != NULL && !module->is_absolute && i < x->trace->sessions.nr; i++)
		if (base_of(x->trace->sessions.v[i], module) != 0)
			return true;
	return false;
}

static int placed_add(struct ufx *x, const struct ftr_func *func)
{
	uint64_t key = (func->module->id + UINT64_C(1)) << MODULE_BITS ^ func->addr;
	struct ufx_func added = { .func = func, .addr = func->addr, .bytes = func->size,
				  .is_placed = true };

	/* A table of symbols has one name for an address. */
	x->placed.v[func->id] = PLACED_NONE;
	if (ftr_hashmap_find(&x->placed_addrs, key) != NULL)
		return 0;
	if (ftr_hashmap_set(&x->placed_addrs, key, x) < 0 ||
	    ufx_module_get(x, func->module, true, &added.module) < 0 ||
	    ftr_vec_push(&x->funcs, added) < 0)
		return -ENOMEM;
	x->modules.v[added.module].func_nr++;
	x->has_places |= func->src_file != NULL;
	x->placed.v[func->id] = (uint32_t)x->funcs.nr;
	return ftr_hashmap_find(&x->by_name, func->name_id) != NULL ? 0 :
	       ftr_hashmap_set(&x->by_name, func->name_id, (void *)(uintptr_t)func);
}

int64_t ufx_placed_get(struct ufx *x, const struct ftr_event *ev, const struct ftr_func *func)
{
	const struct ftr_session *session = ftr_task_session_at(ev->task, ev->time_ns);

	if (func->module == NULL || func->module->is_absolute || func->module->is_kernel ||
	    func->symbol_type == '?' || session == NULL)
		return -ENOENT;
	if (ftr_vec_reach(&x->placed, func->id) < 0)
		return ufx_no_memory(x);
	if (x->placed.v[func->id] == PLACED_NONE)
		return -ENOENT;
	if (x->placed.v[func->id] == 0) {
		if (!ufx_module_is_placed(x, func->module))
			x->placed.v[func->id] = PLACED_NONE;
		else if (placed_add(x, func) < 0)
			return ufx_no_memory(x);
		if (x->placed.v[func->id] == PLACED_NONE)
			return -ENOENT;
	}
	return ufx_func_base(x, x->placed.v[func->id] - 1, session) == 0 ?
		       -ENOENT : (int64_t)x->placed.v[func->id] - 1;
}

uint64_t ufx_func_base(struct ufx *x, uint32_t index, const struct ftr_session *session)
{
	struct ufx_func *func = &x->funcs.v[index];

	if (func->session != session) {
		func->session = session;
		func->base = session == NULL ? 0 : base_of(session, func->func->module);
	}
	return func->base;
}

/* Is the place, relative to the module, one in the function? */
static bool is_inside(const struct ftr_func *func, uint64_t place)
{
	const struct ftr_symbol *symbol;

	if (func->size != 0)
		return place - func->addr < func->size;
	if (place - func->addr >= NEAR_BYTES || func->module->symtab == NULL)
		return false;
	symbol = ftr_symtab_find(func->module->symtab, place);
	return symbol != NULL && symbol->addr == func->addr;
}

uint64_t ufx_call_addr(struct ufx *x, const struct ftr_event *ev, uint32_t index)
{
	const struct ufx_func *func = &x->funcs.v[index];
	uint64_t base;

	if (!func->is_placed)
		return func->addr;
	base = ufx_func_base(x, index, ftr_task_session_at(ev->task, ev->time_ns));
	return base + (is_inside(func->func, ev->call.addr - base) ? ev->call.addr - base :
								     func->addr);
}

/* What is behind @addr: the module's next symbol, else a mark. */
static struct ftr_symbol symbol_behind(const struct ftr_module *module, uint64_t addr)
{
	const struct ftr_symtab *symtab = module->symtab;

	for (size_t i = symtab == NULL ? 0 : symtab->nr; i-- > 0;) {
		if (symtab->symbols[i].addr <= addr && i + 1 < symtab->nr)
			return symtab->symbols[i + 1];
		if (symtab->symbols[i].addr <= addr)
			break;
	}
	return (struct ftr_symbol){ .addr = addr + END_BYTES, .type = '?', .name = "__sym_end" };
}

size_t ufx_placed_sort(const struct ufx_module *module, struct ftr_symbol *symbols, size_t nr)
{
	if (nr == 0)
		return 0;
	qsort(symbols, nr, sizeof(*symbols), ftr_symbol_compare);
	if (symbols[nr - 1].size != 0)
		return nr;
	symbols[nr] = symbol_behind(module->module, symbols[nr - 1].addr);
	return nr + 1;
}

bool ufx_placed_map(const struct ftr_session *session, const struct ufx_module *module,
		    struct ftr_uftrace_map *map)
{
	const struct ftr_mapping *mapping;

	if (session == NULL || base_of(session, module->module) == 0)
		return false;
	mapping = ftr_session_find_module(session, module->module, 0);
	*map = (struct ftr_uftrace_map){ mapping->start, mapping->end, "r-xp", module->path,
					 module->build_id };
	return true;
}

/* SPDX-License-Identifier: MIT */
/* Functions: by address, by symbol, by name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/object/symtab.h"
#include "utils/trace/library.h"
#include "utils/trace/trace.h"

/* A damaged file can hold any number of addresses: beyond so many they all are "<unknown>". */
#define UNKNOWN_MAX FTR_BIT(20)
#define ADDR_BITS 48
#define NO_NAME "<no name>"	/* a damaged file can have empty ones */

static struct ftr_func *func_new(struct ftr_trace *trace, const struct ftr_str *name)
{
	struct ftr_func *func;

	if (name == NULL || ftr_vec_reserve(&trace->funcs, trace->funcs.nr + 1) < 0)
		return NULL;
	func = ftr_arena_alloc(&trace->arena, sizeof(*func));
	if (func == NULL)
		return NULL;
	func->name = name->s;
	func->mangled = name->s;
	func->name_id = name->id;
	func->name_len = name->len > UINT16_MAX ? UINT16_MAX : (uint16_t)name->len;
	func->symbol_type = '?';
	func->id = (uint32_t)trace->funcs.nr;
	trace->funcs.v[trace->funcs.nr++] = func;
	return func;
}

struct ftr_func *ftr_trace_func_by_name(struct ftr_trace *trace, const struct ftr_module *module,
					const char *name, size_t len)
{
	const struct ftr_str *str;
	struct ftr_func *func;
	uint64_t key;

	if (len == 0) {
		name = NO_NAME;
		len = strlen(NO_NAME);
	}
	str = ftr_strpool_get(&trace->names, name, len);
	if (str == NULL)
		return NULL;
	key = ftr_u64_of(module == NULL ? 0 : module->id + 1, str->id);
	func = ftr_hashmap_find(&trace->func_by_key, key);
	if (func != NULL)
		return func;
	func = func_new(trace, str);
	if (func == NULL || ftr_hashmap_set(&trace->func_by_key, key, func) < 0)
		return NULL;
	func->module = module;
	return func;
}

static const struct ftr_str *display_name(struct ftr_trace *trace, const char *mangled)
{
	char *text = ftr_demangle(mangled, trace->demangle);
	const struct ftr_str *name = NULL;

	if (text != NULL && text[0] == '\0')
		name = ftr_strpool_get(&trace->names, NO_NAME, strlen(NO_NAME));
	else if (text != NULL)
		name = ftr_strpool_get(&trace->names, text, strlen(text));
	free(text);
	return name;
}

struct ftr_func *ftr_trace_func_by_symbol(struct ftr_trace *trace, const struct ftr_module *module,
					  const struct ftr_symbol *symbol)
{
	uint64_t key = (uint64_t)(uintptr_t)symbol;
	struct ftr_func *func = ftr_hashmap_find(&trace->func_by_symbol, key);

	if (func != NULL)
		return func;
	func = func_new(trace, display_name(trace, symbol->name));
	if (func == NULL || ftr_hashmap_set(&trace->func_by_symbol, key, func) < 0)
		return NULL;
	func->mangled = symbol->name;
	func->module = module;
	func->addr = symbol->addr;
	func->size = symbol->size;
	func->symbol_type = symbol->type;
	if (trace->loader != NULL && trace->loader->func_init != NULL)
		trace->loader->func_init(trace, func);
	return func;
}

static struct ftr_func *func_unknown(struct ftr_trace *trace, struct ftr_module *module,
				     uint64_t addr)
{
	char name[24] = "<unknown>";
	struct ftr_func *func;

	if (trace->unknown_nr < UNKNOWN_MAX)
		snprintf(name, sizeof(name), "<%llx>", (unsigned long long)addr);
	func = ftr_trace_func_by_name(trace, module, name, strlen(name));
	if (func != NULL && func->symbol_type == '?' && func->addr == 0) {
		trace->unknown_nr++;
		func->addr = addr;
	}
	return func;
}

/* An overlay counts where it has a symbol. */
static struct ftr_mapping *mapping_at(const struct ftr_session *session, uint64_t time_ns,
				      uint64_t addr)
{
	struct ftr_mapping *mapping = ftr_session_find(session, time_ns, addr);

	if (mapping == NULL || !mapping->is_overlay || mapping->module->symtab == NULL ||
	    ftr_symtab_find(mapping->module->symtab, addr) != NULL)
		return mapping;
	return ftr_session_find_file(session, time_ns, addr);
}

/*
 * The module mapped at an address, its symbols loaded, and the address as they count; NULL = none.
 */
static struct ftr_module *module_at(struct ftr_trace *trace, const struct ftr_session *session,
				    uint64_t time_ns, uint64_t addr, uint64_t *symbol_addr)
{
	struct ftr_mapping *mapping;
	struct ftr_module *module;

	while ((mapping = mapping_at(session, time_ns, addr)) != NULL) {
		ftr_trace_module_load(trace, mapping->module);
		if (!mapping->is_open)
			break;
		ftr_session_bound(session, mapping);
	}
	if (mapping == NULL)
		return NULL;
	module = mapping->module;
	*symbol_addr = module->is_absolute ? addr : addr - mapping->start;
	return module;
}

/* "getpid@libc.so.6" */
static void func_name_library(struct ftr_trace *trace, struct ftr_session *session,
			      struct ftr_func *func)
{
	const struct ftr_module *library = ftr_library_find(trace, session, func->mangled);
	const struct ftr_str *name = NULL;
	char *text;

	if (library == NULL || asprintf(&text, "%s@%s", func->name, library->name) < 0)
		return;
	name = ftr_strpool_get(&trace->names, text, strlen(text));
	free(text);
	if (name == NULL)
		return;
	func->name = name->s;
	func->name_id = name->id;
	func->name_len = name->len > UINT16_MAX ? UINT16_MAX : (uint16_t)name->len;
}

static const struct ftr_func *resolve_slow(struct ftr_trace *trace, struct ftr_session *session,
					   uint64_t time_ns, uint64_t addr)
{
	const struct ftr_symbol *symbol = NULL;
	uint64_t symbol_addr = 0;
	struct ftr_module *module = module_at(trace, session, time_ns, addr, &symbol_addr);
	size_t known_nr = trace->funcs.nr;
	struct ftr_func *func;

	if (module != NULL && module->symtab != NULL)
		symbol = ftr_symtab_find(module->symtab, symbol_addr);
	if (symbol == NULL)
		return func_unknown(trace, module, addr);
	func = ftr_trace_func_by_symbol(trace, module, symbol);
	if (trace->shows_library && symbol->type == 'P' && trace->funcs.nr > known_nr)
		func_name_library(trace, session, func);
	return func;
}

const struct ftr_func *ftr_trace_find(struct ftr_trace *trace, struct ftr_session *session,
				      uint64_t time_ns, uint64_t addr, uint64_t *offset)
{
	const struct ftr_symbol *symbol = NULL;
	uint64_t symbol_addr = 0;
	struct ftr_module *module;

	if (session == NULL)
		return NULL;
	module = module_at(trace, session, time_ns, addr, &symbol_addr);
	if (module != NULL && module->symtab != NULL)
		symbol = ftr_symtab_find(module->symtab, symbol_addr);
	if (symbol == NULL)
		return NULL;
	*offset = symbol_addr - symbol->addr;
	return ftr_trace_func_by_symbol(trace, module, symbol);
}

const struct ftr_func *ftr_trace_resolve(struct ftr_trace *trace, struct ftr_session *session,
					 uint64_t time_ns, uint64_t addr)
{
	const struct ftr_func *func;
	uint64_t next_ns;
	uint64_t key;

	if (session == NULL)
		return func_unknown(trace, NULL, addr);
	/* More than 65535 changes of one map share the last epoch's entries. */
	key = ftr_session_epoch(session, time_ns, &next_ns);
	key = (key > UINT16_MAX ? UINT16_MAX : key) << ADDR_BITS | addr;
	func = ftr_hashmap_find(&session->cache, key);
	if (func != NULL)
		return func;
	func = resolve_slow(trace, session, time_ns, addr);
	if (func == NULL || ftr_hashmap_set(&session->cache, key, (void *)(uintptr_t)func) < 0)
		return NULL;
	return func;
}

const struct ftr_func *ftr_trace_resolve_module(struct ftr_trace *trace, struct ftr_module *module,
						uint64_t addr, char symbol_type)
{
	const struct ftr_symbol *symbol = NULL;
	struct ftr_func *func;

	ftr_trace_module_load(trace, module);
	if (module->symtab != NULL)
		symbol = ftr_symtab_find(module->symtab, addr);
	func = symbol != NULL ? ftr_trace_func_by_symbol(trace, module, symbol)
			      : func_unknown(trace, module, addr);
	if (func != NULL)
		func->symbol_type = symbol_type;
	return func;
}

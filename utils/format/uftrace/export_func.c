/* SPDX-License-Identifier: MIT */
/* Any trace as a uftrace directory: functions, their addresses, symbols and layouts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/uftrace/export.h"
#include "utils/object/symtab.h"

#define UNKNOWN_PATH "/unknown"		/* of functions of no module */
#define STACK_END   UINT64_C(0x7ffffffff000)	/* where the trace does not say */
#define STACK_BYTES UINT64_C(0x21000)

static uint64_t module_base(uint32_t module)
{
	return (module + 1) * UFX_SPAN;
}

/* Maps name absolute paths only. */
static const char *module_path(struct ufx *x, const struct ftr_module *module)
{
	struct ftr_strbuf text;
	const char *path;

	if (module == NULL || module->path[0] == '\0')
		return UNKNOWN_PATH;
	if (module->path[0] == '/')
		return module->path;
	ftr_strbuf_init(&text);
	ftr_strbuf_printf(&text, "/%s", module->path);
	path = ftr_arena_strdup(&x->arena, ftr_strbuf_str(&text));
	ftr_strbuf_fini(&text);
	return path;
}

/* Index of a module; modules beyond the last span share it. */
int ufx_module_get(struct ufx *x, const struct ftr_module *module, bool is_placed, uint32_t *index)
{
	uint64_t key = module == NULL ? 0 : module->id + UINT64_C(1);
	uintptr_t known = (uintptr_t)ftr_hashmap_find(&x->module_index, key);
	struct ufx_module added = { .build_id = module == NULL ? NULL : module->build_id,
				    .module = module, .is_placed = is_placed };

	if (known != 0) {
		*index = (uint32_t)known - 1;
		return 0;
	}
	if (x->modules.nr == UFX_MODULES_MAX) {
		*index = UFX_MODULES_MAX - 1;
		return 0;
	}
	added.path = module_path(x, module);
	*index = (uint32_t)x->modules.nr;
	if (added.path == NULL || ftr_vec_push(&x->modules, added) < 0 ||
	    ftr_hashmap_set(&x->module_index, key, (void *)((uintptr_t)*index + 1)) < 0)
		return -ENOMEM;
	return 0;
}

/* The kernel's functions keep their addresses, which are those of no module of the directory. */
static int func_place(struct ufx *x, struct ufx_func *added)
{
	const struct ftr_module *of;
	struct ufx_module *module;

	if (ftr_func_is_kernel(added->func)) {
		added->module = UFX_KERNEL;
		x->kernel_cut_nr += added->func->src_file != NULL;
		return ufx_kernel_addr(x, added->func, &added->addr);
	}
	of = ufx_module_is_placed(x, added->func->module) ? NULL : added->func->module;
	if (ufx_module_get(x, of, false, &added->module) < 0)
		return -ENOMEM;
	module = &x->modules.v[added->module];
	added->addr = module_base(added->module) + UFX_STEP + module->next;
	module->next += added->bytes;
	module->func_nr++;
	x->has_places |= added->func->src_file != NULL;
	return 0;
}

int64_t ufx_func_add(struct ufx *x, const struct ftr_func *func, uint64_t bytes)
{
	struct ufx_func added = { .func = func };

	if (bytes < UFX_STEP)
		bytes = UFX_STEP;
	if (ftr_vec_reach(&x->first, func->id) < 0)
		goto fail;
	added.bytes = (uint32_t)ftr_align_up(bytes < UFX_BYTES_MAX ? bytes : UFX_BYTES_MAX,
					     UFX_STEP);
	added.next = x->first.v[func->id];
	if (func_place(x, &added) < 0 || ftr_vec_push(&x->funcs, added) < 0)
		goto fail;
	x->first.v[func->id] = (uint32_t)x->funcs.nr;
	if (ftr_hashmap_find(&x->by_name, func->name_id) == NULL &&
	    ftr_hashmap_set(&x->by_name, func->name_id, (void *)(uintptr_t)func) < 0)
		goto fail;
	return (int64_t)x->funcs.nr - 1;
fail:
	ufx_no_memory(x);
	return -1;
}

int64_t ufx_func_get(struct ufx *x, const struct ftr_func *func, uint64_t bytes)
{
	if (__builtin_expect(func->id < x->first.nr && x->first.v[func->id] != 0, 1))
		return (int64_t)x->first.v[func->id] - 1;
	return ufx_func_add(x, func, bytes);
}

int ufx_write_map(struct ufx *x, const char *sid, const struct ftr_session *session)
{
	struct ftr_uftrace_map *maps = calloc(x->modules.nr + 1, sizeof(*maps));
	uint64_t stack_end = session == NULL ? 0 : session->stack_end;
	size_t nr = 0;
	int ret;

	if (maps == NULL)
		return ufx_no_memory(x);
	for (size_t i = 0; i < x->modules.nr; i++) {
		uint64_t base = module_base((uint32_t)i);
		uint64_t bytes = ftr_align_up(x->modules.v[i].next + UFX_STEP, 0x1000);

		if (x->modules.v[i].is_placed)
			nr += ufx_placed_map(session, &x->modules.v[i], &maps[nr]);
		else
			maps[nr++] = (struct ftr_uftrace_map){ base, base + bytes, "r-xp",
							       x->modules.v[i].path,
							       x->modules.v[i].build_id };
	}
	if (stack_end < STACK_BYTES)
		stack_end = STACK_END;
	maps[nr++] = (struct ftr_uftrace_map){ stack_end - STACK_BYTES, stack_end, "rw-p",
					       "[stack]", NULL };
	ret = ftr_uftrace_dir_map(x->dir, sid, maps, nr, x->base.err);
	free(maps);
	return ret;
}

/* Names are lines of a file. */
const char *ufx_symbol_name(struct ufx *x, const struct ftr_func *func)
{
	const char *name = func->mangled != NULL && func->mangled[0] != '\0' ? func->mangled :
									       func->name;
	char *copy;

	if (strpbrk(name, "\n\t") == NULL)
		return name;
	copy = ftr_arena_strdup(&x->arena, name);
	for (char *p = copy; p != NULL && (p = strpbrk(p, "\n\t")) != NULL;)
		*p = '?';
	return copy == NULL ? "?" : copy;
}

static char symbol_type(const struct ftr_func *func)
{
	return func->symbol_type == '\0' || func->symbol_type == '?' ? 'T' : func->symbol_type;
}

static uint64_t symbol_addr(const struct ufx_func *func)
{
	return func->is_placed ? func->addr : func->addr - module_base(func->module);
}

static int module_symbols(struct ufx *x, uint32_t module, struct ftr_symbol *symbols)
{
	struct ftr_symtab tab = { .symbols = symbols, .path = x->modules.v[module].path,
				  .build_id = x->modules.v[module].build_id };

	for (size_t i = 0; i < x->funcs.nr; i++) {
		const struct ufx_func *func = &x->funcs.v[i];

		if (func->module != module)
			continue;
		symbols[tab.nr++] = (struct ftr_symbol){
			.addr = symbol_addr(func), .size = func->bytes,
			.type = symbol_type(func->func), .name = ufx_symbol_name(x, func->func),
		};
	}
	if (x->modules.v[module].is_placed)
		tab.nr = ufx_placed_sort(&x->modules.v[module], symbols, tab.nr);
	return ftr_uftrace_dir_symbols(x->dir, &tab, x->base.err);
}

/* "E: enum color {RED=0,BLUE=1}", "#T: pair {x:0:i16}" of every type that an argument is of. */
static void put_types(struct ufx *x, struct ftr_strbuf *text)
{
	for (size_t i = 0; i < x->types.all.nr; i++) {
		const struct ftr_type_name *type = x->types.all.v[i];

		if (type->values != NULL)
			ftr_strbuf_printf(text, "E: enum %s {%s}\n", type->name, type->words);
		else if (type->words[0] != '\0')
			ftr_strbuf_printf(text, "#T: %s %s\n", type->name, type->words);
	}
}

static void put_func(struct ftr_strbuf *text, const struct ufx_func *func, const char *name,
		     uint64_t addr)
{
	static const char letters[2] = { 'A', 'R' };

	if (func->layouts[0] == NULL && func->layouts[1] == NULL && func->func->src_file == NULL)
		return;
	ftr_strbuf_printf(text, "F: %llx %s\n", (unsigned long long)addr, name);
	if (func->func->src_file != NULL)
		ftr_strbuf_printf(text, "L: %u %s\n", func->func->src_line, func->func->src_file);
	for (int i = 0; i < 2; i++) {
		if (func->layouts[i] == NULL)
			continue;
		ftr_strbuf_printf(text, "%c: @", letters[i]);
		ufx_layout_text(func->layouts[i], i == 1, text);
		ftr_strbuf_putc(text, '\n');
	}
}

/* NAME.dbg: layouts and places of a module's functions. */
static int module_debug(struct ufx *x, uint32_t module)
{
	const struct ufx_module *m = &x->modules.v[module];
	struct ftr_strbuf text;
	char name[256];
	size_t head;
	int ret = 0;

	ftr_strbuf_init(&text);
	ftr_strbuf_printf(&text, "# path name: %s\n", m->path);
	if (m->build_id != NULL && m->build_id[0] != '\0')
		ftr_strbuf_printf(&text, "# build-id: %s\n", m->build_id);
	put_types(x, &text);
	head = text.len;
	for (size_t i = 0; i < x->funcs.nr; i++) {
		const struct ufx_func *func = &x->funcs.v[i];

		if (func->module == module)
			put_func(&text, func, ufx_symbol_name(x, func->func), symbol_addr(func));
	}
	snprintf(name, sizeof(name), "%.200s.dbg", strrchr(m->path, '/') + 1);
	if (text.failed)
		ret = ufx_no_memory(x);
	else if (text.len > head)
		ret = ufx_file_append(x, name, text.s, text.len);
	ftr_strbuf_fini(&text);
	return ret;
}

int ufx_write_modules(struct ufx *x)
{
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < x->modules.nr; i++) {
		struct ftr_symbol *symbols = calloc(x->modules.v[i].func_nr + 1, sizeof(*symbols));

		ret = symbols == NULL ? ufx_no_memory(x) : module_symbols(x, i, symbols);
		free(symbols);
		if (ret == 0)
			ret = module_debug(x, i);
	}
	return ret;
}
